"""Checks of what is in the database."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial

from langchain_memengine.errors import EmbeddingError, EmbeddingModelChangedError
from langchain_memengine.retrieval.diagnosis import Examination, Finding, Status
from langchain_memengine.retrieval.embedding_cache import EmbeddingCache
from langchain_memengine.storage import chunks, embeddings, integrity
from langchain_memengine.storage.database import Database
from langchain_memengine.text.counting import counted

_SHOWN = 3


def row_checks(
    database: Database,
    embedding: EmbeddingCache,
    *,
    embed_missing: Callable[[], object],
    now: datetime,
    thorough: bool,
) -> dict[str, Examination]:
    """Return the checks of the rows, by name.

    Args:
        database: Where they are.
        embedding: The store's embedding model; it is asked for its probe sentence.
        embed_missing: Embeds what has no vector yet.
        now: Time of a repair.
        thorough: Whether SQLite compares every index with its table.
    """
    return {
        "database": partial(_database, database, thorough=thorough),
        "schema": partial(_schema, database),
        "rows": partial(_rows, database, now),
        "model": partial(_model, database, embedding),
        "embeddings": partial(_embeddings, database, embedding, embed_missing),
        "files": partial(_files, database),
    }


def _database(database: Database, *, thorough: bool) -> Finding:
    with database.read() as tx:
        damage = integrity.damage(tx, thorough=thorough)
        if damage:
            return Finding(
                "failed",
                f"damaged: {'; '.join(damage)}",
                "restore a backup: memengine restore FILE (no repair touches the database)",
            )
        stored, changes = chunks.count(tx), tx.counters().changes
    depth = "every index compared" if thorough else "quick check"
    state = (
        "answers (its files are the server's to check)" if damage is None else f"sound ({depth})"
    )
    return Finding("ok", f"{state}: {counted(stored, 'chunk')} after {counted(changes, 'change')}")


def _schema(database: Database) -> Finding:
    with database.read() as tx:
        return Finding("ok", f"as this release knows it: {', '.join(integrity.migrations(tx))}")


def _rows(database: Database, now: datetime) -> Finding:
    """Find rows without a reason; only contradictions are worth a warning.

    Vectors and access counts outlive their chunk on purpose: a text that comes back has them.
    """
    with database.read() as tx:
        found = integrity.orphans(tx)
    if not any(found):
        return Finding("ok", "each has a reason to be there")

    def mend() -> None:
        with database.write() as tx:
            integrity.remove_orphans(tx, now=now)

    parts = [
        counted(number, one, several)
        for number, one, several in (
            (found.embeddings, "vector of no text", "vectors of no text"),
            (found.accesses, "access count of no chunk", "access counts of no chunk"),
            (found.graves, "tombstone of a living chunk", "tombstones of living chunks"),
            (found.chunks, "chunk of an unknown file", "chunks of unknown files"),
        )
        if number
    ]
    status: Status = "warning" if found.graves or found.chunks else "ok"
    return Finding(status, ", ".join(parts), "remove them", mend)


def _model(database: Database, embedding: EmbeddingCache) -> Finding:
    if not embedding.enabled:
        return Finding("ok", "none: keyword search only")
    with database.read() as tx:
        if embedding.model(tx) is None and embedding.model_change(tx) is None:
            return Finding("ok", f"{embedding.name}; nothing is embedded yet")
    try:
        identity = embedding.verify()
    except EmbeddingModelChangedError as error:
        return Finding("failed", str(error), "run: memengine sync --reembed")
    except EmbeddingError as error:
        return Finding("warning", str(error), "searches use keywords until it answers")
    return Finding("ok", f"{identity} answers, and is the one the store was indexed with")


def _embeddings(
    database: Database, embedding: EmbeddingCache, embed_missing: Callable[[], object]
) -> Finding:
    with database.read() as tx:
        model = embedding.model(tx)
        if model is None:
            return Finding("ok", "no vectors are searched")
        missing, present = embeddings.count_missing(tx, model), embeddings.count_chunks(tx, model)
    if not missing:
        return Finding("ok", f"{counted(present, 'chunk')} with one, none without")

    def mend() -> None:
        with database.write() as tx:
            embedding.mark_incomplete(tx)
        embed_missing()

    found = f"{counted(missing, 'text')} without one, found by keyword only"
    return Finding("warning", found, "embed them", mend)


def _files(database: Database) -> Finding:
    with database.read() as tx:
        unread = integrity.unread_files(tx)
    if not unread:
        return Finding("ok", "all that were found could be read")
    shown = "; ".join(f"{path}: {problem}" for path, problem in unread[:_SHOWN])
    more = f"; and {len(unread) - _SHOWN} more" if len(unread) > _SHOWN else ""
    return Finding(
        "warning", f"{len(unread)} left out: {shown}{more}", "correct, exclude or remove them"
    )
