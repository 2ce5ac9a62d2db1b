"""Which chunks may have to be masked: of commits, of sources, from a time on, up to a time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, bindparam, select

from langchain_memengine.storage.schema import chunks
from langchain_memengine.storage.statements import HotQuery, batches
from langchain_memengine.storage.times import to_ms
from langchain_memengine.storage.transaction import Transaction


def nums_of_commits(tx: Transaction, partition: str, commit_ids: Sequence[str]) -> list[int]:
    """Return the numbers of a partition's chunks that belong to these memory commits."""
    return _nums(tx, partition, chunks.c.commit_id, commit_ids)


def ids_of_commits(tx: Transaction, commit_ids: Sequence[str]) -> list[str]:
    """Return the ids of the chunks that belong to these memory commits, of all partitions."""
    return [
        one
        for batch in batches(commit_ids)
        for one in tx.connection.execute(
            select(chunks.c.id).where(
                chunks.c.store_id == tx.store_id, chunks.c.commit_id.in_(batch)
            )
        ).scalars()
    ]


def nums_of_sources(tx: Transaction, partition: str, sources: Sequence[str]) -> list[int]:
    """Return the numbers of a partition's chunks of these sources."""
    return _nums(tx, partition, chunks.c.source, sources)


def _nums(
    tx: Transaction, partition: str, column: ColumnElement[Any], values: Sequence[str]
) -> list[int]:
    """Return the numbers of a partition's chunks that have one of these values."""
    return [
        num
        for batch in batches(values)
        for num in tx.connection.execute(
            select(chunks.c.num).where(
                chunks.c.store_id == tx.store_id,
                column.in_(batch),
                chunks.c.partition_key == partition,
            )
        ).scalars()
    ]


def nums_stored_after(tx: Transaction, partition: str, at: datetime) -> list[int]:
    """Return the numbers of a partition's chunks of no file or commit that were stored later."""
    return list(
        tx.connection.execute(
            select(chunks.c.num).where(
                chunks.c.store_id == tx.store_id,
                chunks.c.partition_key == partition,
                chunks.c.path == "",
                chunks.c.commit_id.is_(None),
                chunks.c.created_at > to_ms(at),
            )
        ).scalars()
    )


_LIMITED = HotQuery(
    select(chunks.c.num, chunks.c.valid_from, chunks.c.expires_at).where(
        chunks.c.store_id == bindparam("store_id"),
        chunks.c.partition_key == bindparam("partition"),
        # As the partial index has it.
        chunks.c.valid_from.is_not(None) | chunks.c.expires_at.is_not(None),
    )
)


def limited(tx: Transaction, partition: str) -> list[tuple[int, int | None, int | None]]:
    """Return (number, valid from, expires at) of the chunks that are not valid for ever."""
    values = {"store_id": tx.store_id, "partition": partition}
    return [(num, begins, ends) for num, begins, ends in _LIMITED.rows(tx.connection, values)]
