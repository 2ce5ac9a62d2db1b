"""How often each chunk was returned. Counts never bump the change counter."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import select

from langchain_memengine.storage import dialects
from langchain_memengine.storage.schema import (
    chunk_access,
    chunks,
)
from langchain_memengine.storage.times import to_ms
from langchain_memengine.storage.transaction import Transaction


def record(tx: Transaction, accesses: Mapping[str, int], *, now: datetime) -> None:
    """Add accesses by chunk id."""
    rows = [
        {
            "store_id": tx.store_id,
            "chunk_id": chunk_id,
            "count": times,
            "last_at": to_ms(now),
            "seq": tx.access_seq,
        }
        for chunk_id, times in accesses.items()
    ]
    dialects.upsert(tx.connection, chunk_access, rows, add="count")


def counts_of_partition(
    tx: Transaction, partition: str, *, after_seq: int = 0, after_num: int = 0
) -> dict[int, int]:
    """Return counts by chunk number: of chunks above a number that changed after ``after_seq``."""
    rows = tx.connection.execute(
        select(chunks.c.num, chunk_access.c.count)
        .join(
            chunk_access,
            (chunk_access.c.store_id == chunks.c.store_id)
            & (chunk_access.c.chunk_id == chunks.c.id),
        )
        .where(
            chunks.c.store_id == tx.store_id,
            chunks.c.partition_key == partition,
            chunks.c.num > after_num,
            chunk_access.c.seq > after_seq,
        )
    )
    return dict(rows.all())
