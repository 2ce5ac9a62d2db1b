"""What forgotten messages left beside themselves: it goes with them, whoever worded it.

The memory commits that archived a message have a summary, a transcript and, of a flush, an entry in
the day's log. No search for words finds a message in a summary of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from langchain_memengine.conversation import rendering
from langchain_memengine.conversation.message_json import from_json
from langchain_memengine.conversation.source_uris import summary_source
from langchain_memengine.storage import commits
from langchain_memengine.storage import messages as message_rows
from langchain_memengine.storage.doomed_values import Doomed, DoomedMessage, Selection
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.text.uris import is_of_message
from langchain_memengine.types import Commit


def archiving_commits(tx: Transaction, found: Doomed) -> list[Commit]:
    """Return the memory commits that archived what is to go, messages or their summary."""
    archived = message_rows.archiving_commits(tx, [message.key for message in found.messages])
    named = {one.source.partition("#")[2] for one in found.chunks if is_of_message(one.source)}
    return list(commits.by_id(tx, sorted(named.union(*archived.values()))).values())


def summaries_of(made: Sequence[Commit]) -> Selection:
    """Return the commits' summaries, as far as they have any."""
    return Selection(tuple(summary_source(commit.thread_id, commit.id) for commit in made))


def transcripts_left(
    tx: Transaction, made: Sequence[Commit], gone: Sequence[DoomedMessage]
) -> dict[str, str]:
    """Return what the commits' transcripts say of all other messages, by the ends of their names.

    ``""`` where nothing is left.
    """
    keys = {message.key for message in gone}
    archived = message_rows.of_commits(tx, [commit.id for commit in made])
    texts = {}
    for commit in made:
        bodies = [body for key, body in archived.get(commit.id, ()) if key not in keys]
        left = [from_json(body) for body in bodies]
        text = rendering.transcript(commit, left, "") if left else ""
        texts[rendering.transcript_ending(commit.id)] = text
    return texts
