"""Chunks that are hidden behind others, and those that may come to be.

A chunk is hidden only while the one it is hidden behind is stored: what is left when that goes is
found again. Like a supersession, a hiding takes the next value of the counter of commits, so that
searches know when to look again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import ColumnElement, FromClause, Select, and_, bindparam, delete, select

from langchain_memengine.storage import dialects
from langchain_memengine.storage.chunk_values import StoredChunk
from langchain_memengine.storage.hiding_schema import hidden_chunks
from langchain_memengine.storage.record_values import Hiding
from langchain_memengine.storage.schema import chunks
from langchain_memengine.storage.statements import HotQuery, any_of, batches, begins_with
from langchain_memengine.storage.stored_chunks import STORED
from langchain_memengine.storage.times import from_ms, to_ms
from langchain_memengine.storage.transaction import Transaction

_OF_CHUNKS = HotQuery(
    select(hidden_chunks.c.chunk_id, hidden_chunks.c.kept_id, hidden_chunks.c.at).where(
        hidden_chunks.c.store_id == bindparam("store_id"),
        hidden_chunks.c.chunk_id.in_(bindparam("ids", expanding=True)),
    )
)


def of_chunks(tx: Transaction, ids: Sequence[str]) -> dict[str, Hiding]:
    """Return what these chunks are hidden behind, by their ids; it may be gone since."""
    found: dict[str, Hiding] = {}
    for batch in batches(ids):
        given = {"store_id": tx.store_id, "ids": list(batch)}
        rows = _OF_CHUNKS.rows(tx.connection, given)
        found.update((chunk_id, Hiding(kept_id, from_ms(at))) for chunk_id, kept_id, at in rows)
    return found


def put(tx: Transaction, hidings: Iterable[tuple[str, Hiding | None]]) -> None:
    """Hide chunks by id, or show them again where there is nothing to hide them behind."""
    new = dict(hidings)
    for batch in batches(list(new)):
        of_batch = (hidden_chunks.c.store_id == tx.store_id) & hidden_chunks.c.chunk_id.in_(batch)
        tx.connection.execute(delete(hidden_chunks).where(of_batch))
    rows = [
        {
            "store_id": tx.store_id,
            "chunk_id": chunk_id,
            "kept_id": hiding.kept_id,
            "at": to_ms(hiding.at),
        }
        for chunk_id, hiding in new.items()
        if hiding is not None
    ]
    dialects.upsert(tx.connection, hidden_chunks, rows)
    if new:
        tx.touch()
        _ = tx.commit_seq


def forget(tx: Transaction, ids: Iterable[str]) -> None:
    """Remove what is noted about chunks, hidden ones and those they are hidden behind."""
    for batch in batches(list(ids)):
        either = hidden_chunks.c.chunk_id.in_(batch) | hidden_chunks.c.kept_id.in_(batch)
        removed = tx.connection.execute(
            delete(hidden_chunks).where(hidden_chunks.c.store_id == tx.store_id, either)
        )
        if removed.rowcount:
            tx.touch()
            _ = tx.commit_seq


def standing(tx: Transaction, partition: str) -> list[tuple[int, int, int]]:
    """Return (number, number of the one it is hidden behind, when) of a partition's chunks."""
    kept = chunks.alias("kept")
    rows = tx.connection.execute(
        select(chunks.c.num, kept.c.num, hidden_chunks.c.at)
        .select_from(hidden_chunks)
        .join(chunks, _is_chunk(chunks, hidden_chunks.c.chunk_id))
        .join(kept, _is_chunk(kept, hidden_chunks.c.kept_id))
        .where(
            hidden_chunks.c.store_id == tx.store_id,
            chunks.c.partition_key == partition,
            kept.c.partition_key == partition,
        )
    )
    return [(num, kept_num, at) for num, kept_num, at in rows]


def partitions(tx: Transaction) -> list[str]:
    """Return the partitions that hold any chunk, sorted."""
    return list(
        tx.connection.execute(
            select(chunks.c.partition_key)
            .where(chunks.c.store_id == tx.store_id)
            .distinct()
            .order_by(chunks.c.partition_key)
        ).scalars()
    )


def with_ids(tx: Transaction, ids: Sequence[str]) -> dict[str, StoredChunk]:
    """Return those of these chunks that are stored, hidden or not, by id."""
    found: dict[str, StoredChunk] = {}
    for batch in batches(ids):
        of_batch = (chunks.c.store_id == tx.store_id) & chunks.c.id.in_(batch)
        rows = map(StoredChunk._make, tx.connection.execute(STORED.where(of_batch)))
        found.update((one.id, one) for one in rows)
    return found


def candidates(tx: Transaction, partition: str, prefixes: Sequence[str]) -> list[StoredChunk]:
    """Return the chunks of a partition that may be hidden, in order of their number.

    Args:
        tx: A view of the database.
        partition: Key of the partition.
        prefixes: What the sources begin with.

    Chunks that are hidden already, belong to a memory commit or are not valid for ever are left
    out: on another branch or at another time the one they are hidden behind may be hidden too.
    """
    rows = tx.connection.execute(
        STORED.where(
            chunks.c.store_id == tx.store_id,
            chunks.c.partition_key == partition,
            any_of(begins_with(chunks.c.source, one) for one in prefixes),
            chunks.c.commit_id.is_(None),
            chunks.c.valid_from.is_(None),
            chunks.c.expires_at.is_(None),
            chunks.c.id.not_in(_hidden_ids(tx)),
        ).order_by(chunks.c.num)
    )
    return [StoredChunk._make(row) for row in rows]


def _hidden_ids(tx: Transaction) -> Select[tuple[str]]:
    """Return the query for the ids of chunks that are hidden behind a chunk that is stored."""
    kept = chunks.alias("kept")
    return (
        select(hidden_chunks.c.chunk_id)
        .join(kept, _is_chunk(kept, hidden_chunks.c.kept_id))
        .where(hidden_chunks.c.store_id == tx.store_id)
    )


def _is_chunk(table: FromClause, chunk_id: ColumnElement[str]) -> ColumnElement[bool]:
    return and_(table.c.store_id == hidden_chunks.c.store_id, table.c.id == chunk_id)
