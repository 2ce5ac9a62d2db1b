"""Which experiences are forgotten: they quote what people wanted, and what was done about it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from langchain_memengine.engine.forgotten_words import whole_messages
from langchain_memengine.storage import experiences
from langchain_memengine.storage.doomed_values import DoomedMessage, Selection
from langchain_memengine.storage.experience_values import Experience
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.text.erasing import Erasure, flat
from langchain_memengine.workspace.layout import slug


def forgotten_experiences(
    tx: Transaction,
    wanted: Selection,
    gone: Sequence[DoomedMessage],
    owners: Collection[str] | None,
    words: Erasure,
) -> list[str]:
    """Return the ids of experiences of an owner, of a conversation, or with forgotten words.

    Args:
        tx: A view of the database.
        wanted: What is to be forgotten.
        gone: Messages that are: an experience may repeat one.
        owners: Who is within reach, ``""`` for what is everyone's; ``None`` is everybody.
        words: What is forgotten.
    """
    said = whole_messages(gone)

    def is_told(one: Experience) -> bool:
        is_asked = flat(one.intent) in said or words.holds(one.intent)
        return is_asked or words.is_in_value(one.solution)

    owner_of = {user: slug(user) if user else "" for user in experiences.all_users(tx)}
    reach = {user for user, owner in owner_of.items() if owners is None or owner in owners}
    named = {user for user in reach if owner_of[user] == wanted.owner}
    others = sorted(reach - named)
    found = [*experiences.of_users(tx, sorted(named))]
    if wanted.thread_id:
        found += experiences.of_users(tx, others, session=wanted.thread_id)
    if said or words:
        found += filter(is_told, experiences.of_users(tx, others))
    return list(dict.fromkeys(one.id for one in found))
