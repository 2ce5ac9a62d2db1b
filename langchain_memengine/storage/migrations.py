"""Ordered, named schema changes. Later ones add tables, not columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlalchemy import Connection, inspect, select

from langchain_memengine.errors import SchemaVersionError, StorageError
from langchain_memengine.storage import schema
from langchain_memengine.storage.schema import schema_migrations

Migration = tuple[str, Callable[[Connection], None]]


def m001_initial(connection: Connection) -> None:
    """Create files, chunks, embeddings, records, lineage and the change feed."""
    schema.metadata.create_all(connection, tables=schema.INITIAL_TABLES)


def m002_jobs(connection: Connection) -> None:
    """Create the queue of background work and its schedules."""
    schema.metadata.create_all(connection, tables=schema.JOB_TABLES)


def m003_conversations(connection: Connection) -> None:
    """Create messages, archive, history and sessions, and the index of chunks by commit."""
    schema.metadata.create_all(connection, tables=schema.CONVERSATION_TABLES)
    by_commit = next(index for index in schema.chunks.indexes if index.name == "ix_chunks_commit")
    by_commit.create(connection, checkfirst=True)


def m006_limited_chunks(connection: Connection) -> None:
    """Create the index of chunks that are not valid for ever."""
    limited = next(index for index in schema.chunks.indexes if index.name == "ix_chunks_limited")
    limited.create(connection, checkfirst=True)


MIGRATIONS: Sequence[Migration] = (
    ("m001_initial", m001_initial),
    ("m002_jobs", m002_jobs),
    ("m003_conversations", m003_conversations),
    ("m006_limited_chunks", m006_limited_chunks),
)


def migrate(
    connection: Connection, now_ms: int | None, migrations: Sequence[Migration] = MIGRATIONS
) -> list[str]:
    """Apply what is missing, in order; return the names applied.

    Raises:
        SchemaVersionError: The database has migrations this release does not know.
    """
    schema.metadata.create_all(connection, tables=[schema_migrations])
    applied = _applied(connection, migrations)
    todo = [migration for migration in migrations if migration[0] not in applied]
    for name, change in todo:
        change(connection)
        connection.execute(schema_migrations.insert().values(name=name, applied_at=now_ms))
    return [name for name, _ in todo]


def check(connection: Connection, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Verify that the schema is this release's, for a reader that may not change it.

    Raises:
        SchemaVersionError: The database has migrations this release does not know.
        StorageError: The database is empty or older than this release.
    """
    known = {name for name, _ in migrations}
    if not inspect(connection).has_table(schema_migrations.name) or known - _applied(
        connection, migrations
    ):
        raise StorageError(
            "The database has no store of this release and read_only=True forbids to make one. "
            "Open it once without read_only."
        )


def _applied(connection: Connection, migrations: Sequence[Migration]) -> set[str]:
    applied = set(connection.execute(select(schema_migrations.c.name)).scalars())
    unknown = sorted(applied - {name for name, _ in migrations})
    if unknown:
        raise SchemaVersionError(unknown)
    return applied
