"""Chunk rows: the searchable pieces of every text, with who may read them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, RowMapping, bindparam, delete, func, insert, select

from langchain_memengine.errors import NotFoundError
from langchain_memengine.storage import originals
from langchain_memengine.storage.chunk_values import (
    FilterRow,
    IndexRow,
    StoredChunk,
    partition_key,
)
from langchain_memengine.storage.database import Transaction, to_ms
from langchain_memengine.storage.schema import (
    chunks,
    tombstones,
)
from langchain_memengine.storage.statements import HotQuery, batches, is_in
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
) -> None:
    """Make these the chunks of their sources; chunks that stay the same keep their rows.

    A chunk stays when its id and everything it carries are unchanged, so the derived indexes
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
    _bury(tx, [row for chunk_id, row in old.items() if chunk_id not in kept], now)
    added = [values for chunk_id, values in wanted.items() if chunk_id not in kept]
    if added:
        seq = tx.seq
        tx.connection.execute(insert(chunks), [{**values, "seq": seq} for values in added])


def touch_hashes(tx: Transaction, text_hashes: Iterable[str]) -> None:
    """Mark the chunks with these texts as changed, so that indexes pick up new embeddings."""
    seq = tx.seq
    for batch in batches(list(text_hashes)):
        tx.connection.execute(
            chunks.update()
            .where(chunks.c.store_id == tx.store_id, chunks.c.text_hash.in_(batch))
            .values(seq=seq)
        )


def index_rows(tx: Transaction, partition: str, *, after_seq: int = 0) -> list[IndexRow]:
    """Return the chunks of a partition changed after ``after_seq``, in order of their number."""
    columns = (
        chunks.c.num,
        chunks.c.text,
        chunks.c.heading,
        chunks.c.path,
        chunks.c.text_hash,
        chunks.c.event_at,
        chunks.c.thread_id,
        chunks.c["metadata"],
    )
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


def removed_nums(tx: Transaction, partition: str, *, after_seq: int) -> list[int]:
    """Return the numbers of chunks removed from a partition after ``after_seq``."""
    return list(
        tx.connection.execute(
            select(tombstones.c.num).where(
                tombstones.c.store_id == tx.store_id,
                tombstones.c.partition_key == partition,
                tombstones.c.seq > after_seq,
            )
        ).scalars()
    )


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
    for batch in batches(nums):
        rows = _BY_NUM.rows(tx.connection, {"nums": list(batch)})
        for stored in map(StoredChunk._make, rows):
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


def _bury(tx: Transaction, rows: Sequence[RowMapping], now: datetime) -> None:
    """Delete rows and leave a tombstone for each, which the derived indexes follow."""
    if not rows:
        return
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
    for batch in batches([row["num"] for row in rows]):
        tx.connection.execute(delete(chunks).where(chunks.c.num.in_(batch)))


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
