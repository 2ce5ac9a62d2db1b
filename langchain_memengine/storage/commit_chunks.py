"""Which chunks memory commits brought, and which were not there at a time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import select

from langchain_memengine.storage.database import Transaction, to_ms
from langchain_memengine.storage.schema import chunks
from langchain_memengine.storage.statements import batches


def nums_of_commits(tx: Transaction, partition: str, commit_ids: Sequence[str]) -> list[int]:
    """Return the numbers of a partition's chunks that belong to these memory commits."""
    return [
        num
        for batch in batches(commit_ids)
        for num in tx.connection.execute(
            select(chunks.c.num).where(
                chunks.c.store_id == tx.store_id,
                chunks.c.commit_id.in_(batch),
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
