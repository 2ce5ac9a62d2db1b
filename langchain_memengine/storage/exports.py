"""What an export reads besides records: texts by source, and archived messages."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from sqlalchemy import or_, select

from langchain_memengine.storage import chunks as chunk_rows
from langchain_memengine.storage.chunk_values import StoredChunk
from langchain_memengine.storage.conversation_schema import (
    archived_messages,
    messages,
)
from langchain_memengine.storage.database import Transaction
from langchain_memengine.storage.schema import (
    chunks,
)
from langchain_memengine.storage.statements import begins_with


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
        chunk_rows.STORED.where(
            chunks.c.store_id == tx.store_id,
            chunks.c.partition_key.in_(list(partitions)),
            or_(*(begins_with(chunks.c.source, prefix) for prefix in prefixes)),
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


def archive(tx: Transaction, owners: Collection[str]) -> list[ExportedMessage]:
    """Return the archived messages of these owners, in the order of archiving."""
    rows = tx.connection.execute(
        select(
            archived_messages.c.commit_id,
            messages.c.owner,
            messages.c.thread_id,
            messages.c.message_id,
            messages.c.body,
        )
        .join(
            messages,
            (messages.c.store_id == archived_messages.c.store_id)
            & (messages.c.key == archived_messages.c.message_key),
        )
        .where(messages.c.store_id == tx.store_id, messages.c.owner.in_(list(owners)))
        .order_by(archived_messages.c.num)
    )
    return [ExportedMessage(*row) for row in rows]
