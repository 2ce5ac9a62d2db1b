"""Messages of conversations: each stored once, for the archive and for chat histories.

An archived message is linked to the memory commit that archived it; branches that archive the same
message share it. A history's messages are linked in their order.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement, delete, insert, select

from langchain_memengine.storage import kept
from langchain_memengine.storage.conversation_schema import (
    archived_messages,
    history_messages,
    messages,
)
from langchain_memengine.storage.statements import batches
from langchain_memengine.storage.times import to_ms
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.text.digests import digest


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
        return digest(self.owner, self.thread_id, self.message_id, self.body)


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
    of_thread = messages.c.thread_id == thread_id
    return [
        ArchivedMessage(commit_id, message.message_id, message.body)
        for commit_id, message in in_archive(tx, of_thread, messages.c.owner.in_(list(owners)))
    ]


def in_archive(
    tx: Transaction, *conditions: ColumnElement[bool]
) -> list[tuple[str, StoredMessage]]:
    """Return archived messages with the commits that archived them, in the order of archiving.

    Args:
        tx: A view of the database.
        *conditions: Which messages.
    """
    columns = (messages.c.owner, messages.c.thread_id, messages.c.message_id, messages.c.body)
    of_store = messages.c.store_id == tx.store_id
    rows = kept.rows(tx, messages, select(messages.c.key, *columns).where(of_store, *conditions))
    found = {
        row.key: StoredMessage(row.owner, row.thread_id, row.message_id, row.body) for row in rows
    }
    links = _archivings(tx, archived_messages.c.message_key, found)
    return [(commit_id, found[key]) for commit_id, key in links]


def of_commits(tx: Transaction, commit_ids: Collection[str]) -> dict[str, list[tuple[str, str]]]:
    """Return (key, body) of the messages that memory commits archived, in order, by commit."""
    links = _archivings(tx, archived_messages.c.commit_id, commit_ids)
    bodies = _bodies(tx, list({key for _, key in links}))
    found: dict[str, list[tuple[str, str]]] = {}
    for commit_id, key in links:
        if key in bodies:
            found.setdefault(commit_id, []).append((key, bodies[key]))
    return found


def _archivings(
    tx: Transaction, column: ColumnElement[str], wanted: Collection[str]
) -> list[tuple[str, str]]:
    """Return (commit, key) of archived messages of which a column has these values, in order."""
    archived = archived_messages.c
    links = [
        link
        for batch in batches(sorted(wanted))
        for link in tx.connection.execute(
            select(archived.num, archived.commit_id, archived.message_key).where(
                archived.store_id == tx.store_id, column.in_(batch)
            )
        )
    ]
    return [(commit_id, key) for _, commit_id, key in sorted(links)]


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
    mine = _is_of_history(tx, owner, thread_id)
    in_order = select(history_messages.c.message_key).where(mine).order_by(history_messages.c.num)
    keys = list(tx.connection.execute(in_order).scalars())
    bodies = _bodies(tx, keys)
    return [bodies[key] for key in keys if key in bodies]


def clear_history(tx: Transaction, owner: str, thread_id: str) -> None:
    """Remove a history; messages that the archive holds as well stay there."""
    mine = _is_of_history(tx, owner, thread_id)
    keys = list(tx.connection.execute(select(history_messages.c.message_key).where(mine)).scalars())
    tx.connection.execute(delete(history_messages).where(mine))
    archived_keys = archiving_commits(tx, keys)
    kept.remove(tx, messages, [key for key in keys if key not in archived_keys])


def _bodies(tx: Transaction, keys: Sequence[str]) -> dict[str, str]:
    bodies: dict[str, str] = {}
    for batch in batches(keys):
        of_batch = (messages.c.store_id == tx.store_id) & messages.c.key.in_(batch)
        rows = kept.rows(tx, messages, select(messages.c.key, messages.c.body).where(of_batch))
        bodies.update({row.key: row.body for row in rows})
    return bodies


def _is_of_history(tx: Transaction, owner: str, thread_id: str) -> ColumnElement[bool]:
    return (
        (history_messages.c.store_id == tx.store_id)
        & (history_messages.c.owner == owner)
        & (history_messages.c.thread_id == thread_id)
    )


def _put(tx: Transaction, new: Sequence[StoredMessage], now: datetime) -> None:
    by_key = {message.key: message for message in new}
    known: set[str] = set()
    for batch in batches(list(by_key)):
        of_batch = (messages.c.store_id == tx.store_id) & messages.c.key.in_(batch)
        known.update(
            key for (key,) in kept.rows(tx, messages, select(messages.c.key).where(of_batch))
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
    kept.put(tx, messages, rows)


def _history_ids(
    tx: Transaction, owner: str, thread_id: str, message_ids: Sequence[str]
) -> list[str]:
    return [
        found
        for batch in batches(message_ids)
        for found in tx.connection.execute(
            select(history_messages.c.message_id).where(
                _is_of_history(tx, owner, thread_id),
                history_messages.c.message_id.in_(batch),
            )
        ).scalars()
    ]
