"""What was removed, for those who follow the chunks: indexes, Chroma, the graph.

A tombstone is kept for :data:`KEPT`, and longer until somebody clears up. Whoever follows from
further back is told that it is not known any more, and compares what it holds with what is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import RowMapping, delete, func, insert, select

from langchain_memengine.storage.schema import chunks, tombstones
from langchain_memengine.storage.times import to_ms
from langchain_memengine.storage.transaction import Transaction

KEPT = timedelta(days=30)
"""How long followers may lag behind without comparing all that they hold."""

MAX_PRUNED = 20_000
"""Tombstones that go at once, or a few more: other writers wait meanwhile."""

_PRUNED = "tombstones_pruned_seq"


def bury(tx: Transaction, rows: Sequence[RowMapping], now: datetime) -> None:
    """Leave a tombstone for each of these chunk rows."""
    seq = tx.seq
    graves = [
        {
            "store_id": tx.store_id,
            "num": row["num"],
            "chunk_id": row["id"],
            "partition_key": row["partition_key"],
            "seq": seq,
            "at": to_ms(now),
        }
        for row in rows
    ]
    tx.connection.execute(insert(tombstones), graves)


def removed_nums(tx: Transaction, partition: str, *, after_seq: int) -> list[int] | None:
    """Return the numbers of chunks removed from a partition after ``after_seq``.

    ``None`` if that is not known any more.
    """
    if not _reaches_back(tx, after_seq):
        return None
    return list(
        tx.connection.execute(
            select(tombstones.c.num).where(
                tombstones.c.store_id == tx.store_id,
                tombstones.c.partition_key == partition,
                tombstones.c.seq > after_seq,
            )
        ).scalars()
    )


def removed_ids(tx: Transaction, *, after_seq: int) -> list[str] | None:
    """Return the ids of chunks that were removed after ``after_seq`` and are not back.

    ``None`` if that is not known any more.
    """
    if not _reaches_back(tx, after_seq):
        return None
    back = select(chunks.c.num).where(
        chunks.c.store_id == tombstones.c.store_id, chunks.c.id == tombstones.c.chunk_id
    )
    return list(
        tx.connection.execute(
            select(tombstones.c.chunk_id)
            .where(
                tombstones.c.store_id == tx.store_id,
                tombstones.c.seq > after_seq,
                ~back.exists(),
            )
            .distinct()
        ).scalars()
    )


def prune(tx: Transaction, *, now: datetime) -> int:
    """Remove the oldest tombstones, if their time is over; return how many those were."""
    of_store = tombstones.c.store_id == tx.store_id
    over = to_ms(now - KEPT)
    oldest = select(tombstones.c.at).where(of_store).order_by(tombstones.c.seq).limit(1)
    at = tx.connection.execute(oldest).scalar_one_or_none()
    if at is None or at >= over:
        return 0
    first = (
        select(tombstones.c.seq)
        .where(of_store, tombstones.c.at < over)
        .order_by(tombstones.c.seq)
        .limit(MAX_PRUNED)
        .subquery()
    )
    last: int = tx.connection.execute(select(func.max(first.c.seq))).scalar_one()
    # In the same transaction: nobody sees that some are gone and not that they may be.
    tx.set_meta(_PRUNED, str(last))
    return tx.connection.execute(
        delete(tombstones).where(of_store, tombstones.c.seq <= last)
    ).rowcount


def _reaches_back(tx: Transaction, seq: int) -> bool:
    """Return whether all removals after ``seq`` have their tombstones still."""
    return seq >= int(tx.get_meta(_PRUNED) or 0)
