"""Messages of conversations: each stored once, for the archive and for chat histories.

An archived message is linked to the memory commit that archived it; branches that archive the same
message share it. A history's messages are linked in their order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import delete, insert, select

from langchain_memengine.storage.conversation_schema import (
    archived_messages,
    history_messages,
    messages,
)
from langchain_memengine.storage.database import Transaction, to_ms
from langchain_memengine.storage.statements import batches


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message of a conversation.

    Attributes:
        owner: Folder name of the user whose it is, ``""`` for a shared one.
        thread_id: Conversation it belongs to.
        message_id: Its id within the conversation.
        body: The message as JSON.
    """

    owner: str
    thread_id: str
    message_id: str
    body: str

    @property
    def key(self) -> str:
        """Hash of all of it: an edited message is another one with the same id."""
        parts = (self.owner, self.thread_id, self.message_id, self.body)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


class ArchivedMessage(NamedTuple):
    """A message as a memory commit archived it."""

    commit_id: str
    message_id: str
    body: str


def archive(
    tx: Transaction, commit_id: str, new: Sequence[StoredMessage], *, now: datetime
) -> None:
    """Archive messages with a memory commit, in this order; twice is once."""
    _put(tx, new, now)
    keys = list(dict.fromkeys(message.key for message in new))
    holding = archiving_commits(tx, keys)
    links = [
        {"store_id": tx.store_id, "commit_id": commit_id, "message_key": key}
        for key in keys
        if commit_id not in holding.get(key, ())
    ]
    if links:
        tx.connection.execute(insert(archived_messages), links)


def archiving_commits(tx: Transaction, keys: Sequence[str]) -> dict[str, set[str]]:
    """Return the memory commits that archived messages, by the messages' keys."""
    found: dict[str, set[str]] = {}
    for batch in batches(keys):
        rows = tx.connection.execute(
            select(archived_messages.c.message_key, archived_messages.c.commit_id).where(
                archived_messages.c.store_id == tx.store_id,
                archived_messages.c.message_key.in_(batch),
            )
        )
        for key, commit_id in rows:
            found.setdefault(key, set()).add(commit_id)
    return found


def archived(tx: Transaction, thread_id: str, owners: Collection[str]) -> list[ArchivedMessage]:
    """Return what a conversation archived, in the order of archiving, on all its branches."""
    rows = tx.connection.execute(
        select(archived_messages.c.commit_id, messages.c.message_id, messages.c.body)
        .join(
            messages,
            (messages.c.store_id == archived_messages.c.store_id)
            & (messages.c.key == archived_messages.c.message_key),
        )
        .where(
            messages.c.store_id == tx.store_id,
            messages.c.thread_id == thread_id,
            messages.c.owner.in_(list(owners)),
        )
        .order_by(archived_messages.c.num)
    )
    return [ArchivedMessage(*row) for row in rows]


def add_to_history(tx: Transaction, new: Sequence[StoredMessage], *, now: datetime) -> None:
    """Add messages of one history at its end; those whose id it has are left out."""
    if not new:
        return
    fresh = {message.message_id: message for message in reversed(new)}  # the first of an id counts
    known = set(_history_ids(tx, new[0].owner, new[0].thread_id, list(fresh)))
    added = [m for m in new if m.message_id not in known and fresh[m.message_id] is m]
    _put(tx, added, now)
    links = [
        {
            "store_id": tx.store_id,
            "owner": message.owner,
            "thread_id": message.thread_id,
            "message_id": message.message_id,
            "message_key": message.key,
        }
        for message in added
    ]
    if links:
        tx.connection.execute(insert(history_messages), links)


def history(tx: Transaction, owner: str, thread_id: str) -> list[str]:
    """Return the bodies of a history's messages, oldest first."""
    return list(
        tx.connection.execute(
            select(messages.c.body)
            .join(
                history_messages,
                (messages.c.store_id == history_messages.c.store_id)
                & (messages.c.key == history_messages.c.message_key),
            )
            .where(
                history_messages.c.store_id == tx.store_id,
                history_messages.c.owner == owner,
                history_messages.c.thread_id == thread_id,
            )
            .order_by(history_messages.c.num)
        ).scalars()
    )


def clear_history(tx: Transaction, owner: str, thread_id: str) -> None:
    """Remove a history; messages that the archive holds as well stay there."""
    mine = (
        (history_messages.c.store_id == tx.store_id)
        & (history_messages.c.owner == owner)
        & (history_messages.c.thread_id == thread_id)
    )
    keys = list(tx.connection.execute(select(history_messages.c.message_key).where(mine)).scalars())
    tx.connection.execute(delete(history_messages).where(mine))
    archived_keys = archiving_commits(tx, keys)
    unused = [key for key in keys if key not in archived_keys]
    for batch in batches(unused):
        tx.connection.execute(
            delete(messages).where(messages.c.store_id == tx.store_id, messages.c.key.in_(batch))
        )


def _put(tx: Transaction, new: Sequence[StoredMessage], now: datetime) -> None:
    by_key = {message.key: message for message in new}
    known: set[str] = set()
    for batch in batches(list(by_key)):
        known.update(
            tx.connection.execute(
                select(messages.c.key).where(
                    messages.c.store_id == tx.store_id, messages.c.key.in_(batch)
                )
            ).scalars()
        )
    rows = [
        {
            "store_id": tx.store_id,
            "key": key,
            "owner": message.owner,
            "thread_id": message.thread_id,
            "message_id": message.message_id,
            "body": message.body,
            "created_at": to_ms(now),
        }
        for key, message in by_key.items()
        if key not in known
    ]
    if rows:
        tx.connection.execute(insert(messages), rows)


def _history_ids(
    tx: Transaction, owner: str, thread_id: str, message_ids: Sequence[str]
) -> list[str]:
    return [
        found
        for batch in batches(message_ids)
        for found in tx.connection.execute(
            select(history_messages.c.message_id).where(
                history_messages.c.store_id == tx.store_id,
                history_messages.c.owner == owner,
                history_messages.c.thread_id == thread_id,
                history_messages.c.message_id.in_(batch),
            )
        ).scalars()
    ]
