"""What can be wrong with the rows of a store, and removing what has no reason to be there."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Table, and_, delete, exists, func, select

from langchain_memengine.storage import chunks as chunk_rows
from langchain_memengine.storage import dialects
from langchain_memengine.storage.schema import (
    chunk_access,
    chunks,
    embeddings,
    files,
    schema_migrations,
    tombstones,
)
from langchain_memengine.storage.transaction import Transaction


class Orphans(NamedTuple):
    """How many rows have no reason to be there.

    Attributes:
        embeddings: Vectors of texts that no chunk has.
        accesses: Access counts of chunks that are gone.
        graves: Tombstones of chunks that live.
        chunks: Chunks of files that the store does not know.
    """

    embeddings: int
    accesses: int
    graves: int
    chunks: int


def damage(tx: Transaction, *, thorough: bool) -> list[str] | None:
    """Return what the database finds wrong with its files, in its words; at most a few.

    Args:
        tx: A view of the database.
        thorough: Compare every index with its table, which reads everything twice.

    Returns:
        ``None`` on a server, which lets nobody look.
    """
    dialect = dialects.dialect_of(tx.connection.engine)
    return dialect.damage(tx.connection, thorough=thorough)


def migrations(tx: Transaction) -> list[str]:
    """Return the names of the migrations the database has, in order."""
    return list(
        tx.connection.execute(
            select(schema_migrations.c.name).order_by(schema_migrations.c.name)
        ).scalars()
    )


def orphans(tx: Transaction) -> Orphans:
    """Count the rows that have no reason to be there."""
    return Orphans(
        *(
            tx.connection.execute(
                select(func.count()).select_from(table).where(_orphaned(tx, table))
            ).scalar_one()
            for table in (embeddings, chunk_access, tombstones, chunks)
        )
    )


def remove_orphans(tx: Transaction, *, now: datetime) -> None:
    """Remove the rows that have no reason to be there.

    A file whose chunks go is indexed again by the next sync, if it is there.
    """
    sources = tx.connection.execute(
        select(chunks.c.source).where(_orphaned(tx, chunks)).distinct()
    ).scalars()
    chunk_rows.replace_sources(tx, {source: [] for source in sources}, now=now)
    for table in (tombstones, embeddings, chunk_access):
        tx.connection.execute(delete(table).where(_orphaned(tx, table)))


def partitions(tx: Transaction) -> list[str]:
    """Return the keys of all partitions that have chunks, the largest first."""
    return list(
        tx.connection.execute(
            select(chunks.c.partition_key)
            .where(chunks.c.store_id == tx.store_id)
            .group_by(chunks.c.partition_key)
            .order_by(func.count().desc(), chunks.c.partition_key)
        ).scalars()
    )


def nums(tx: Transaction, partition: str) -> NDArray[np.int64]:
    """Return the numbers of the chunks of a partition, ascending."""
    found = tx.connection.execute(
        select(chunks.c.num)
        .where(chunks.c.store_id == tx.store_id, chunks.c.partition_key == partition)
        .order_by(chunks.c.num)
    ).scalars()
    return np.fromiter(found, np.int64)


def texts(tx: Transaction, wanted: Sequence[int]) -> dict[int, str]:
    """Return the texts of some chunks by their number."""
    rows = tx.connection.execute(
        select(chunks.c.num, chunks.c.text).where(
            chunks.c.store_id == tx.store_id, chunks.c.num.in_(list(wanted))
        )
    )
    return dict(rows.all())


def vectors(tx: Transaction, wanted: Sequence[int], model: str) -> dict[int, NDArray[np.float32]]:
    """Return the vectors of some chunks by their number, of those that have one."""
    rows = tx.connection.execute(
        select(chunks.c.num, embeddings.c.vector)
        .join(
            embeddings,
            and_(
                embeddings.c.store_id == chunks.c.store_id,
                embeddings.c.text_hash == chunks.c.text_hash,
                embeddings.c.model == model,
            ),
        )
        .where(chunks.c.store_id == tx.store_id, chunks.c.num.in_(list(wanted)))
    )
    return {num: np.frombuffer(vector, "<f4").astype(np.float32) for num, vector in rows}


def unread_files(tx: Transaction) -> list[tuple[str, str]]:
    """Return (path, problem) of the files that could not be read, by path."""
    rows = tx.connection.execute(
        select(files.c.path, files.c.problem)
        .where(files.c.store_id == tx.store_id, files.c.problem.is_not(None))
        .order_by(files.c.path)
    )
    return [(path, problem) for path, problem in rows]


def _orphaned(tx: Transaction, table: Table) -> ColumnElement[bool]:
    """Return the condition under which a row of a table has no reason to be there."""
    conditions: dict[str, ColumnElement[bool]] = {
        embeddings.name: ~_is_in(chunks, embeddings, ("text_hash", "text_hash")),
        chunk_access.name: ~_is_in(chunks, chunk_access, ("id", "chunk_id")),
        tombstones.name: _is_in(chunks, tombstones, ("num", "num")),
        chunks.name: (chunks.c.workspace_id != "")
        & ~_is_in(files, chunks, ("workspace_id", "workspace_id"), ("path", "path")),
    }
    return (table.c.store_id == tx.store_id) & conditions[table.name]


def _is_in(there: Table, here: Table, *pairs: tuple[str, str]) -> ColumnElement[bool]:
    """Return the condition that a row of ``here`` has one of ``there`` with the same values."""
    same = [there.c[theirs] == here.c[ours] for theirs, ours in pairs]
    return exists().where(there.c.store_id == here.c.store_id, *same).correlate(here)
