"""Ordered, named schema changes. Later ones add tables, not columns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Table, inspect, select

from langchain_memengine.errors import SchemaVersionError, StorageError
from langchain_memengine.storage import (
    conversation_schema,
    experience_schema,
    hiding_schema,
    item_schema,
    job_schema,
    quarantine_schema,
    schema,
    waiting_schema,
)
from langchain_memengine.storage.creating import create_missing, create_missing_index
from langchain_memengine.storage.schema import schema_migrations

Migration = tuple[str, Callable[[Connection, Collection[str]], None]]
"""Its name, and what makes it; it gets the names of the tables that were there before."""


def m001_initial(connection: Connection, there: Collection[str]) -> None:
    """Create files, chunks, embeddings, records, lineage and the change feed."""
    create_missing(connection, schema.INITIAL_TABLES, there)


def m002_jobs(connection: Connection, there: Collection[str]) -> None:
    """Create the queue of background work and its schedules."""
    create_missing(connection, job_schema.JOB_TABLES, there)


def m003_conversations(connection: Connection, there: Collection[str]) -> None:
    """Create messages, archive, history and sessions, and the index of chunks by commit."""
    create_missing(connection, conversation_schema.CONVERSATION_TABLES, there)
    create_missing_index(connection, schema.chunks, "ix_chunks_commit", there)


def m004_experiences(connection: Connection, there: Collection[str]) -> None:
    """Create what agents learnt from their runs."""
    create_missing(connection, experience_schema.EXPERIENCE_TABLES, there)


def m006_limited_chunks(connection: Connection, there: Collection[str]) -> None:
    """Create the index of chunks that are not valid for ever."""
    create_missing_index(connection, schema.chunks, "ix_chunks_limited", there)


def m007_items(connection: Connection, there: Collection[str]) -> None:
    """Create the items of stores and the originals of indexed documents."""
    create_missing(connection, item_schema.ITEM_TABLES, there)


def m008_hidden_chunks(connection: Connection, there: Collection[str]) -> None:
    """Create what is hidden because another chunk says the same."""
    create_missing(connection, hiding_schema.HIDING_TABLES, there)


def m009_quarantines(connection: Connection, there: Collection[str]) -> None:
    """Create the table of what is quarantined."""
    create_missing(connection, quarantine_schema.QUARANTINE_TABLES, there)


def m010_waiting(connection: Connection, there: Collection[str]) -> None:
    """Create the table of what has yet to go to ClickHouse."""
    create_missing(connection, waiting_schema.WAITING_TABLES, there)


MIGRATIONS: Sequence[Migration] = (
    ("m001_initial", m001_initial),
    ("m002_jobs", m002_jobs),
    ("m003_conversations", m003_conversations),
    ("m004_experiences", m004_experiences),
    ("m006_limited_chunks", m006_limited_chunks),
    ("m007_items", m007_items),
    ("m008_hidden_chunks", m008_hidden_chunks),
    ("m009_quarantines", m009_quarantines),
    ("m010_waiting", m010_waiting),
)


@dataclass(frozen=True, slots=True)
class Schema:
    """One set of tables that a database holds; two sets may share a database.

    Attributes:
        migrations: How the tables come about, in order.
        log: Table of the migrations that were applied.
        counts_changes: Whether the change counter is among the tables.
    """

    migrations: Sequence[Migration]
    log: Table
    counts_changes: bool = True


STATE = Schema(MIGRATIONS, schema_migrations)
"""The tables of the state database."""


def migrate(
    connection: Connection,
    now_ms: int | None,
    migrations: Sequence[Migration] = MIGRATIONS,
    log: Table = schema_migrations,
) -> list[str]:
    """Apply what is missing, in order; return the names applied.

    Raises:
        SchemaVersionError: The database has migrations this release does not know.
    """
    there = frozenset(inspect(connection).get_table_names())
    create_missing(connection, [log], there)
    applied = _applied(connection, migrations, log)
    todo = [migration for migration in migrations if migration[0] not in applied]
    for name, change in todo:
        change(connection, there)
        connection.execute(log.insert(), {"name": name, "applied_at": now_ms})
    return [name for name, _ in todo]


def check(
    connection: Connection,
    migrations: Sequence[Migration] = MIGRATIONS,
    log: Table = schema_migrations,
) -> None:
    """Verify that the schema is this release's, for a reader that may not change it.

    Raises:
        SchemaVersionError: The database has migrations this release does not know.
        StorageError: The database is empty or older than this release.
    """
    known = {name for name, _ in migrations}
    if not inspect(connection).has_table(log.name) or known - _applied(connection, migrations, log):
        raise StorageError(
            "The database has no store of this release and read_only=True forbids to make one. "
            "Open it once without read_only."
        )


def _applied(connection: Connection, migrations: Sequence[Migration], log: Table) -> set[str]:
    applied = set(connection.execute(select(log.c.name)).scalars())
    unknown = sorted(applied - {name for name, _ in migrations})
    if unknown:
        raise SchemaVersionError(unknown)
    return applied
