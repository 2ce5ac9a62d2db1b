"""Whole chunk rows: what a search returns, and what somebody names."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime

from sqlalchemy import bindparam, select

from langchain_memengine.errors import NotFoundError
from langchain_memengine.storage.chunk_values import StoredChunk
from langchain_memengine.storage.schema import chunks
from langchain_memengine.storage.statements import HotQuery, batches
from langchain_memengine.storage.times import to_ms
from langchain_memengine.storage.transaction import Transaction

STORED = select(
    chunks.c.num,
    chunks.c.store_id,
    chunks.c.partition_key,
    chunks.c.id,
    chunks.c.source,
    chunks.c.ord,
    chunks.c.start_line,
    chunks.c.end_line,
    chunks.c.tokens,
    chunks.c.text,
    chunks.c.text_hash,
    chunks.c.heading,
    chunks.c.scope,
    chunks.c.owner,
    chunks.c.origin,
    chunks.c.trust,
    chunks.c.path,
    chunks.c.workspace_id,
    chunks.c.thread_id,
    chunks.c.commit_id,
    chunks.c.event_at,
    chunks.c.valid_from,
    chunks.c.expires_at,
    chunks.c["metadata"],
)
# By the primary key alone: with the store in the condition SQLite takes an index on that.
_BY_NUM = HotQuery(STORED.where(chunks.c.num.in_(bindparam("nums", expanding=True))))
_BY_ID = STORED.where(
    chunks.c.store_id == bindparam("store_id"),
    chunks.c.id >= bindparam("first"),
    chunks.c.id <= bindparam("last"),
    chunks.c.partition_key.in_(bindparam("partitions", expanding=True)),
).limit(2)


def by_num(tx: Transaction, nums: Sequence[int]) -> Iterator[StoredChunk]:
    """Yield the chunks with these numbers, whoever may read them and in whatever store.

    Only :func:`visible_by_num` makes hits of them.
    """
    for batch in batches(nums):
        yield from map(StoredChunk._make, _BY_NUM.rows(tx.connection, {"nums": list(batch)}))


def visible_by_num(
    tx: Transaction,
    nums: Sequence[int],
    *,
    partitions: Sequence[str],
    now: datetime,
    hidden: Collection[str] = (),
) -> dict[int, StoredChunk]:
    """Return the chunks with these numbers that exist, may be read and are valid now.

    Those of a hidden memory commit or source are left out.

    This is the last check of a search: what it does not return is no hit, whatever a derived
    index says.
    """
    visible: dict[int, StoredChunk] = {}
    now_ms = to_ms(now)
    readable = {(tx.store_id, partition) for partition in partitions}
    for stored in by_num(tx, nums):
        place = (stored.store_id, stored.partition_key)
        is_hidden = bool(hidden) and (stored.commit_id in hidden or stored.source in hidden)
        if place in readable and stored.is_valid(now_ms) and not is_hidden:
            visible[stored.num] = stored
    return visible


def by_ids(
    tx: Transaction, chunk_ids: Sequence[str], *, partitions: Sequence[str], now: datetime
) -> dict[str, StoredChunk]:
    """Return those of the chunks with these ids that may be read and are valid now."""
    now_ms = to_ms(now)
    found = {}
    for batch in batches(chunk_ids):
        rows = tx.connection.execute(
            STORED.where(
                chunks.c.store_id == tx.store_id,
                chunks.c.id.in_(batch),
                chunks.c.partition_key.in_(list(partitions)),
            )
        )
        for stored in map(StoredChunk._make, rows):
            if stored.is_valid(now_ms):
                found[stored.id] = stored
    return found


def by_id(tx: Transaction, chunk_id: str, *, partitions: Sequence[str]) -> StoredChunk:
    """Return one chunk by its id, or by the beginning of it that no other chunk has.

    Raises:
        NotFoundError: There is no such chunk in the partitions the actor may read, or several
            begin like this.
    """
    wanted = {
        "store_id": tx.store_id,
        "first": chunk_id,
        "last": f"{chunk_id}~",  # behind every hexadecimal digit
        "partitions": list(partitions),
    }
    rows = tx.connection.execute(_BY_ID, wanted).all()
    if not chunk_id or not rows:
        raise NotFoundError(
            f"There is no memory with the id {chunk_id!r}. Name a hit by its id, a text by the id "
            "it was added with, or a file by its path."
        )
    if len(rows) > 1:
        raise NotFoundError(f"Several memories have ids that begin with {chunk_id!r}. Give more.")
    return StoredChunk._make(rows[0])


def of_memory(
    tx: Transaction, sources: Sequence[str], *, path: str, partitions: Sequence[str]
) -> list[StoredChunk]:
    """Return the chunks of some sources, or else of the files with a path, in their order."""
    for meant in (chunks.c.source.in_(sources), chunks.c.path == path):
        rows = tx.connection.execute(
            STORED.where(
                chunks.c.store_id == tx.store_id,
                meant,
                chunks.c.partition_key.in_(partitions),
            ).order_by(chunks.c.source, chunks.c.ord)
        ).all()
        if rows:
            return list(map(StoredChunk._make, rows))
    return []
