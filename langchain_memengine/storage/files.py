"""File rows: what is indexed of each file, and the stat it had then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, func, select

from langchain_memengine.storage import dialects
from langchain_memengine.storage.schema import files
from langchain_memengine.storage.statements import batches
from langchain_memengine.storage.times import to_ms
from langchain_memengine.storage.transaction import Transaction


@dataclass(frozen=True, slots=True)
class IndexedFile:
    """A file as it was when it was indexed.

    Attributes:
        path: Workspace-relative path with ``/``.
        source: URI its chunks are stored under.
        size: Bytes.
        mtime_ns: Modification time in nanoseconds.
        hash: ``sha256`` of its bytes, hexadecimal; ``""`` if it could not be read.
        problem: Why it could not be read; it is not read again before it changes.
    """

    path: str
    source: str
    size: int
    mtime_ns: int
    hash: str
    problem: str | None = None


def of_workspace(tx: Transaction, workspace_id: str) -> dict[str, IndexedFile]:
    """Return the indexed files of a workspace by path."""
    rows = tx.connection.execute(
        select(
            files.c.path,
            files.c.source,
            files.c.size,
            files.c.mtime_ns,
            files.c.hash,
            files.c.problem,
        ).where(files.c.store_id == tx.store_id, files.c.workspace_id == workspace_id)
    )
    return {row.path: IndexedFile(*row) for row in rows}


def known(tx: Transaction, workspace_id: str, paths: Sequence[str]) -> set[str]:
    """Return those of these paths that are files of a workspace, also those that are no text."""
    found: set[str] = set()
    for batch in batches(paths):
        found.update(
            tx.connection.execute(
                select(files.c.path).where(
                    files.c.store_id == tx.store_id,
                    files.c.workspace_id == workspace_id,
                    files.c.path.in_(batch),
                )
            ).scalars()
        )
    return found


def workspaces(tx: Transaction) -> list[str]:
    """Return the ids of all workspaces that have indexed files, the last indexed one first."""
    return list(
        tx.connection.execute(
            select(files.c.workspace_id)
            .where(files.c.store_id == tx.store_id)
            .group_by(files.c.workspace_id)
            .order_by(func.max(files.c.indexed_at).desc(), files.c.workspace_id)
        ).scalars()
    )


def put(
    tx: Transaction, workspace_id: str, indexed: Sequence[IndexedFile], *, now: datetime
) -> None:
    """Note files as indexed, replacing what was known of them."""
    rows = [
        {
            "store_id": tx.store_id,
            "workspace_id": workspace_id,
            "path": file.path,
            "source": file.source,
            "size": file.size,
            "mtime_ns": file.mtime_ns,
            "hash": file.hash,
            "problem": file.problem,
            "indexed_at": to_ms(now),
        }
        for file in indexed
    ]
    dialects.upsert(tx.connection, files, rows)


def forget(tx: Transaction, workspace_id: str, paths: Sequence[str]) -> None:
    """Remove file rows; their chunks are removed by source."""
    for batch in batches(paths):
        tx.connection.execute(
            delete(files).where(
                files.c.store_id == tx.store_id,
                files.c.workspace_id == workspace_id,
                files.c.path.in_(batch),
            )
        )


def count(tx: Transaction, workspace_ids: Sequence[str] | None = None) -> int:
    """Return how many files the store has indexed, over all workspaces or over these."""
    query = (
        select(func.count())
        .select_from(files)
        .where(files.c.store_id == tx.store_id, files.c.problem.is_(None))
    )
    if workspace_ids is not None:
        query = query.where(files.c.workspace_id.in_(workspace_ids))
    return tx.connection.execute(query).scalar_one()
