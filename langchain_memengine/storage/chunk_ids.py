"""From ids of chunks and texts to chunks, and back: how other tables refer to chunk rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sqlalchemy import ColumnElement, bindparam, or_, select, true

from langchain_memengine.storage import quarantines
from langchain_memengine.storage.long_lists import rows_of
from langchain_memengine.storage.schema import (
    chunks,
    tombstones,
)
from langchain_memengine.storage.statements import HotQuery, batches, without_index
from langchain_memengine.storage.transaction import Transaction

_CHUNK_ID = re.compile(r"[0-9a-f]{64}")  # a sha256

_IDS = HotQuery(
    select(chunks.c.num, chunks.c.id).where(chunks.c.num.in_(bindparam("nums", expanding=True)))
)


def _nums_of(column: ColumnElement[str]) -> HotQuery:
    return HotQuery(
        select(column, chunks.c.num).where(
            chunks.c.store_id == bindparam("store_id"),
            column.in_(bindparam("ids", expanding=True)),
            without_index(chunks.c.partition_key).in_(bindparam("partitions", expanding=True)),
        )
    )


_NUMS_OF_IDS = _nums_of(chunks.c.id)
_NUMS_OF_URIS = _nums_of(chunks.c.source)


class ReferredChunk(NamedTuple):
    """A chunk that an id refers to."""

    num: int
    id: str
    source: str
    partition_key: str
    text: str
    text_hash: str
    commit_id: str | None


class ReadableChunk(NamedTuple):
    """A chunk that can be read for the graph."""

    id: str
    partition_key: str
    text_hash: str


def ids_of(tx: Transaction, nums: Iterable[int]) -> dict[int, str]:
    """Return chunk ids by chunk number; chunks that are gone are left out."""
    found: dict[int, str] = {}
    for batch in batches(list(nums)):
        found.update(dict(_IDS.rows(tx.connection, {"nums": list(batch)})))
    return found


def nums_of(
    tx: Transaction, references: Sequence[str], *, partitions: Sequence[str]
) -> list[tuple[str, int]]:
    """Return (reference, chunk number) of chunks by their id or the URI of their text."""
    uris = [one for one in references if ":" in one]
    ids = [one for one in references if ":" not in one]
    rows = rows_of(tx, _NUMS_OF_IDS, ids, partitions=list(partitions))
    rows += rows_of(tx, _NUMS_OF_URIS, uris, partitions=list(partitions))
    return [(reference, num) for reference, num in rows]


def referred(
    tx: Transaction, references: Sequence[str], *, partitions: Sequence[str] | None
) -> list[ReferredChunk]:
    """Return the chunks with these ids, or of the texts with these URIs, in order of number.

    Args:
        tx: A view of the database.
        references: Ids and URIs; unknown ones are left out.
        partitions: Only of these; ``None`` is for work on behalf of the chunks' own readers.
    """
    found: list[ReferredChunk] = []
    for batch in batches(references):
        rows = tx.connection.execute(
            select(
                chunks.c.num,
                chunks.c.id,
                chunks.c.source,
                chunks.c.partition_key,
                chunks.c.text,
                chunks.c.text_hash,
                chunks.c.commit_id,
            ).where(
                chunks.c.store_id == tx.store_id,
                or_(chunks.c.id.in_(batch), chunks.c.source.in_(batch)),
                true() if partitions is None else chunks.c.partition_key.in_(partitions),
            )
        )
        found.extend(ReferredChunk(*row) for row in rows)
    return sorted(found)


def origins_of(tx: Transaction, ids: Sequence[str]) -> list[tuple[str, str]]:
    """Return (chunk, source) of those of these chunks that are stored."""
    columns = chunks.c.id, chunks.c.source
    found: list[tuple[str, str]] = []
    for batch in batches(ids):
        of_batch = (chunks.c.store_id == tx.store_id) & chunks.c.id.in_(batch)
        found += [tuple(row) for row in tx.connection.execute(select(*columns).where(of_batch))]
    return found


def not_stored(tx: Transaction, ids: Iterable[str]) -> list[str]:
    """Return those of these ids that look like the id of a chunk, and of which there is none."""
    wanted = sorted(one for one in ids if _CHUNK_ID.fullmatch(one))
    stored = {chunk for chunk, _ in origins_of(tx, wanted)}
    return [one for one in wanted if one not in stored]


def set_aside(tx: Transaction) -> frozenset[str]:
    """Return the ids of all chunks, and the URIs of all texts, that are quarantined."""
    sources = quarantines.hidden_sources(tx)
    found = set(sources)
    for batch in batches(sorted(sources)):
        of_sources = (chunks.c.store_id == tx.store_id) & chunks.c.source.in_(batch)
        found.update(tx.connection.execute(select(chunks.c.id).where(of_sources)).scalars())
    return frozenset(found)


def removed_since(tx: Transaction, seq: int) -> list[str]:
    """Return the ids of chunks that were removed after ``seq`` and are not back."""
    back = select(chunks.c.num).where(
        chunks.c.store_id == tombstones.c.store_id, chunks.c.id == tombstones.c.chunk_id
    )
    return list(
        tx.connection.execute(
            select(tombstones.c.chunk_id)
            .where(
                tombstones.c.store_id == tx.store_id,
                tombstones.c.seq > seq,
                ~back.exists(),
            )
            .distinct()
        ).scalars()
    )


def readable(tx: Transaction, ids: Sequence[str]) -> list[ReadableChunk]:
    """Return those of these chunks that are stored, in order of number."""
    found = referred(tx, ids, partitions=None)
    return [ReadableChunk(one.id, one.partition_key, one.text_hash) for one in found]


def changed_since(tx: Transaction, seq: int, *, origins: Sequence[str]) -> list[ReadableChunk]:
    """Return the chunks of these origins that changed after ``seq``, in order of number."""
    rows = tx.connection.execute(
        select(chunks.c.id, chunks.c.partition_key, chunks.c.text_hash)
        .where(
            chunks.c.store_id == tx.store_id,
            chunks.c.seq > seq,
            chunks.c.origin.in_(origins),
        )
        .order_by(chunks.c.num)
    )
    return [ReadableChunk(*row) for row in rows]
