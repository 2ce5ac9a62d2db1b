"""Chunk rows: the searchable pieces of every text, with who may read them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, RowMapping, delete, func, insert, select

from langchain_memengine.storage import originals, tombstones
from langchain_memengine.storage.chunk_values import (
    FilterRow,
    IndexRow,
    partition_key,
)
from langchain_memengine.storage.schema import chunks
from langchain_memengine.storage.statements import batches, is_in
from langchain_memengine.storage.times import to_ms
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.types import (
    Chunk,
    Provenance,
    Scope,
)


def replace_sources(
    tx: Transaction,
    new: Mapping[str, Sequence[tuple[Chunk, Provenance]]],
    *,
    now: datetime,
) -> int:
    """Make these the chunks of their sources; return how many rows were removed.

    A chunk whose id and all that it carries are unchanged keeps its row, so the derived indexes
    follow only what really changed. Originals are no longer those of what is stored, and go.

    Args:
        tx: An open write transaction.
        new: The chunks of each source; none removes the source.
        now: Time of the change.
    """
    originals.forget(tx, list(new))
    old = {row["id"]: row for row in _rows_of_sources(tx, list(new))}
    wanted = {
        chunk.id: _values(tx, chunk, provenance, now)
        for pairs in new.values()
        for chunk, provenance in pairs
    }
    kept = {
        chunk_id
        for chunk_id, values in wanted.items()
        if chunk_id in old and all(old[chunk_id][name] == values[name] for name in _COMPARED)
    }
    gone = [row for chunk_id, row in old.items() if chunk_id not in kept]
    if gone:
        tombstones.bury(tx, gone, now)
        for batch in batches([row["num"] for row in gone]):
            tx.connection.execute(delete(chunks).where(chunks.c.num.in_(batch)))
    added = [values for chunk_id, values in wanted.items() if chunk_id not in kept]
    if added:
        seq = tx.seq
        tx.connection.execute(insert(chunks), [{**values, "seq": seq} for values in added])
    return len(gone)


def touch_hashes(tx: Transaction, text_hashes: Iterable[str]) -> None:
    """Mark the chunks with these texts as changed, so that indexes pick up new embeddings.

    Those that this transaction wrote are changed anyway.
    """
    seq = tx.seq
    for batch in batches(list(text_hashes)):
        tx.connection.execute(
            chunks.update()
            .where(
                chunks.c.store_id == tx.store_id,
                chunks.c.text_hash.in_(batch),
                chunks.c.seq + 0 < seq,  # no bare column: its index leads through all chunks
            )
            .values(seq=seq)
        )


def index_rows(tx: Transaction, partition: str, *, after_seq: int = 0) -> list[IndexRow]:
    """Return the chunks of a partition changed after ``after_seq``, in order of their number."""
    columns = [
        chunks.c.num,
        chunks.c.text,
        chunks.c.heading,
        chunks.c.path,
        chunks.c.text_hash,
        chunks.c.event_at,
        chunks.c.thread_id,
        chunks.c["metadata"],
        chunks.c.workspace_id,
        chunks.c.ord,
    ]
    wanted = (
        select(*columns)
        .where(*changed_in(tx, partition, after_seq=after_seq))
        .order_by(chunks.c.num)
    )
    return [IndexRow(*row) for row in tx.connection.execute(wanted)]


def changed_in(tx: Transaction, partition: str, *, after_seq: int) -> list[ColumnElement[bool]]:
    """Return what holds for the chunks of a partition changed after ``after_seq``.

    From 0 on, all of them are: told so, the database reads the partition and not the store.
    """
    of_partition = [
        chunks.c.store_id == tx.store_id,
        is_in(chunks.c.partition_key, partition, after_seq=after_seq),
    ]
    return [*of_partition, chunks.c.seq > after_seq] if after_seq else of_partition


def filter_rows(tx: Transaction, partition: str, *, from_num: int = 0) -> dict[int, FilterRow]:
    """Return what filters look at, for the chunks of a partition from a number on, by number."""
    rows = tx.connection.execute(
        select(chunks.c.num, chunks.c.path, chunks.c.source, chunks.c.scope, chunks.c["metadata"])
        .where(
            chunks.c.store_id == tx.store_id,
            chunks.c.partition_key == partition,
            chunks.c.num >= from_num,
        )
        .order_by(chunks.c.num)
    )
    return {num: FilterRow(*row) for num, *row in rows}


def scopes_of_sources(tx: Transaction, sources: Sequence[str]) -> dict[str, tuple[Scope, str]]:
    """Return (scope, owner) of those sources that have chunks."""
    found: dict[str, tuple[Scope, str]] = {}
    for batch in batches(sources):
        rows = tx.connection.execute(
            select(chunks.c.source, chunks.c.scope, chunks.c.owner)
            .where(chunks.c.store_id == tx.store_id, chunks.c.source.in_(batch))
            .distinct()
        )
        found.update({source: (scope, owner) for source, scope, owner in rows})
    return found


def nums(tx: Transaction, partition: str) -> NDArray[np.int64]:
    """Return the numbers of the chunks of a partition, ascending."""
    found = tx.connection.execute(
        select(chunks.c.num)
        .where(chunks.c.store_id == tx.store_id, chunks.c.partition_key == partition)
        .order_by(chunks.c.num)
    ).scalars()
    return np.fromiter(found, np.int64)


def count(tx: Transaction) -> int:
    """Return how many chunks the store has."""
    return tx.connection.execute(
        select(func.count()).select_from(chunks).where(chunks.c.store_id == tx.store_id)
    ).scalar_one()


def _rows_of_sources(tx: Transaction, sources: Sequence[str]) -> list[RowMapping]:
    rows: list[RowMapping] = []
    for batch in batches(sources):
        statement = select(chunks).where(
            chunks.c.store_id == tx.store_id, chunks.c.source.in_(batch)
        )
        rows.extend(tx.connection.execute(statement).mappings())
    return rows


def _values(tx: Transaction, chunk: Chunk, provenance: Provenance, now: datetime) -> dict[str, Any]:
    return {
        "store_id": tx.store_id,
        "id": chunk.id,
        "partition_key": partition_key(provenance.scope, provenance.owner),
        "workspace_id": provenance.workspace_id,
        "path": provenance.path,
        "ord": chunk.ord,
        "start_line": chunk.start_line,
        "end_line": chunk.end_line,
        "tokens": chunk.tokens,
        "heading": chunk.heading,
        "text": chunk.text,
        "text_hash": chunk.hash,
        "scope": provenance.scope,
        "owner": provenance.owner,
        "origin": provenance.origin,
        "trust": provenance.trust,
        "thread_id": provenance.thread_id,
        "commit_id": provenance.commit_id,
        "event_at": to_ms(provenance.event_at),
        "valid_from": to_ms(provenance.valid_from),
        "expires_at": to_ms(provenance.expires_at),
        "source": chunk.source,
        "metadata": json.dumps(
            dict(provenance.metadata), ensure_ascii=False, allow_nan=False, sort_keys=True
        ),
        "created_at": to_ms(now),
    }


_COMPARED = tuple(
    column.name for column in chunks.c if column.name not in {"num", "created_at", "seq"}
)
