"""What an export reads besides records: texts by source, and archived messages."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from sqlalchemy import ColumnElement, Table, select, true

from langchain_memengine.storage import kept, stored_chunks
from langchain_memengine.storage.chunk_values import StoredChunk
from langchain_memengine.storage.conversation_schema import (
    history_messages,
    messages,
    sessions,
)
from langchain_memengine.storage.experience_schema import experiences
from langchain_memengine.storage.item_schema import store_items
from langchain_memengine.storage.job_schema import jobs
from langchain_memengine.storage.messages import in_archive
from langchain_memengine.storage.schema import chunks
from langchain_memengine.storage.statements import any_of, batches, begins_with
from langchain_memengine.storage.transaction import Transaction


class ExportedMessage(NamedTuple):
    """An archived message, with the memory commit that archived it."""

    commit_id: str
    owner: str
    thread_id: str
    message_id: str
    body: str


def texts(
    tx: Transaction, partitions: Sequence[str], prefixes: Sequence[str]
) -> Iterator[tuple[str, list[StoredChunk]]]:
    """Yield (source, its chunks in order) for the sources that begin with one of the prefixes."""
    rows = tx.connection.execute(
        stored_chunks.STORED.where(
            chunks.c.store_id == tx.store_id,
            chunks.c.partition_key.in_(list(partitions)),
            any_of(begins_with(chunks.c.source, prefix) for prefix in prefixes),
        ).order_by(chunks.c.source, chunks.c.ord, chunks.c.num)
    )
    for source, found in groupby(map(StoredChunk._make, rows), key=lambda chunk: chunk.source):
        yield source, list(found)


def ids_of_source(tx: Transaction, source: str) -> set[str]:
    """Return the ids of a source's chunks."""
    return set(
        tx.connection.execute(
            select(chunks.c.id).where(chunks.c.store_id == tx.store_id, chunks.c.source == source)
        ).scalars()
    )


def words_of(tx: Transaction, sources: Collection[str]) -> list[str]:
    """Return the texts of the chunks of these sources."""
    return [
        text
        for batch in batches(sorted(sources))
        for text in tx.connection.execute(
            select(chunks.c.text).where(
                chunks.c.store_id == tx.store_id, chunks.c.source.in_(batch)
            )
        ).scalars()
    ]


def archive(tx: Transaction, owners: Collection[str]) -> list[ExportedMessage]:
    """Return the archived messages of these owners, in the order of archiving."""
    return [
        ExportedMessage(commit_id, one.owner, one.thread_id, one.message_id, one.body)
        for commit_id, one in in_archive(tx, messages.c.owner.in_(list(owners)))
    ]


def kept_elsewhere(tx: Transaction, owner: str, user: str, shared: str | None) -> dict[str, int]:
    """Return how much no export holds, by what it is.

    Args:
        tx: A view of the database.
        owner: Folder name of whom the export is for.
        user: Their id.
        shared: How the owners begin that are conversations of several users; these, and what is
            nobody's, count for an admin; ``None`` for anybody else.
    """
    kinds: dict[str, tuple[Table, ColumnElement[bool]]] = {
        "messages of chat histories": (history_messages, history_messages.c.owner == owner),
        "sessions": (sessions, sessions.c.owner == owner),
        "experiences": (experiences, experiences.c.user == user),
        "unfinished jobs": (jobs, jobs.c.owner.in_({owner, owner if shared is None else ""})
                            & jobs.c.state.in_(("ready", "running", "dead"))),
    }  # fmt: skip
    if shared is not None:
        kinds["messages of several users"] = (messages, begins_with(messages.c.owner, shared))
        kinds["items of stores"] = (store_items, true())
    return {kind: kept.count(tx, *counted) for kind, counted in kinds.items()}
