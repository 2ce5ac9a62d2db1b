"""Copy every store of a database into another one, of any kind."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sqlalchemy import Connection, Engine, Table, delete, func, insert, inspect, select
from sqlalchemy.exc import DBAPIError

from langchain_memengine.errors import StorageError
from langchain_memengine.shown import Shown
from langchain_memengine.storage import dialects, migrations
from langchain_memengine.storage.database import CLICKHOUSE_PAIR
from langchain_memengine.storage.graph_schema import GRAPH
from langchain_memengine.storage.migrations import STATE, Schema
from langchain_memengine.storage.schema import meta
from langchain_memengine.storage.statements import control
from langchain_memengine.types import Progress

_BATCH = 500
_SCHEMAS = {"database_url": STATE, "graph_url": GRAPH}
"""Sets of tables, by the setting that says where they are."""


@dataclass(frozen=True, slots=True)
class Copied(Shown):
    """What was copied, and found the same in both databases.

    Attributes:
        rows: How many rows of each table; tables without any are left out.
        stores: Ids of the stores.
        settings: The settings that name a database like this: ``database_url``, where there is a
            memory, and ``graph_url``, where there is a graph.
    """

    rows: dict[str, int]
    stores: tuple[str, ...]
    settings: tuple[str, ...]


def copy_database(
    source_url: str,
    target_url: str,
    *,
    busy_timeout_ms: int = 5000,
    progress: Progress | None = None,
) -> Copied:
    """Copy all rows in one transaction: after a failure the target has empty tables at most.

    Others may read and write the source meanwhile; what they commit after the start is not copied.

    Args:
        source_url: The database to read, with a memory, a graph or both.
        target_url: An empty database.
        busy_timeout_ms: Wait for another writer of the target, at most.
        progress: Called with the rows that were written and all there are, if given.

    Raises:
        ConfigurationError: A URL is malformed or names an unsupported database.
        SchemaVersionError: A newer release wrote the source.
        StoreBusyError: Somebody else writes to the target.
        StorageError: The source has no memory, the target is not empty, a database failed, or the
            rows in the target are not those of the source.
    """
    with ExitStack() as closing:
        source = closing.enter_context(_reading(source_url))
        there = {name: schema for name, schema in _SCHEMAS.items() if _has(source, schema)}
        schemas = list(there.values())
        if not schemas:
            raise StorageError("The database to copy from has no memory. Check the URL.")
        for schema in schemas:
            migrations.check(source, schema.migrations, schema.log)
        if STATE in schemas:
            _require_all_here(source)
        with _writing(target_url, busy_timeout_ms) as target:
            _require_empty(target, schemas)
            _make_tables(source, target, schemas)
        target = closing.enter_context(_writing(target_url, busy_timeout_ms))
        _require_empty(target, schemas)
        tables = _tables(schemas)
        counts = {table.name: _count(source, table) for table in tables}
        _copy_rows(source, target, tables, sum(counts.values()), progress)
        stores = {one for table in tables for one in _store_ids(source, table)}
    rows = {name: number for name, number in counts.items() if number}
    return Copied(rows, tuple(sorted(stores)), tuple(there))


@contextmanager
def _reading(url: str) -> Iterator[Connection]:
    """Open a view of a database."""
    engine = dialects.connect(url, busy_timeout_ms=0, read_only=True)
    dialect = dialects.dialect_of(engine)
    with _disposed(engine), dialect.reader(engine) as connection, connection.begin():
        control(connection, dialect.BEGIN_READ)
        yield connection


@contextmanager
def _writing(url: str, busy_timeout_ms: int) -> Iterator[Connection]:
    """Open a transaction, alone with those that make tables."""
    engine = dialects.connect(url, busy_timeout_ms=busy_timeout_ms)
    dialect = dialects.dialect_of(engine)
    with (
        _disposed(engine),
        engine.connect() as connection,
        dialect.writing(connection, STATE.log.name),
    ):
        yield connection


@contextmanager
def _disposed(engine: Engine) -> Iterator[None]:
    try:
        yield
    except DBAPIError as error:
        raise dialects.dialect_of(engine).named_error(error) from error
    finally:
        engine.dispose()


def _has(connection: Connection, schema: Schema) -> bool:
    return inspect(connection).has_table(schema.log.name)


def _require_all_here(source: Connection) -> None:
    if source.execute(select(meta.c.key).where(meta.c.key == CLICKHOUSE_PAIR)).first():
        raise StorageError(
            "Records and messages of this database are in ClickHouse, which is not copied. Use "
            "`memengine export` and `memengine import`."
        )


def _tables(schemas: Sequence[Schema]) -> list[Table]:
    return [table for schema in schemas for table in schema.log.metadata.sorted_tables]


def _require_empty(target: Connection, schemas: Sequence[Schema]) -> None:
    """Refuse a database that holds anything; tables that an earlier copy left are empty."""
    there = inspect(target)
    for table in _tables(schemas):
        if there.has_table(table.name) and _count(target, table):
            raise StorageError(
                f"The database to copy to is not empty: its table {table.name} has rows. Nothing "
                "was copied. Name a new database."
            )


def _make_tables(source: Connection, target: Connection, schemas: Sequence[Schema]) -> None:
    """Make all tables, in a transaction of their own: MySQL commits whenever it makes one.

    Row numbers go on where the source is: one that was removed there may not come back here.
    """
    for schema in schemas:
        migrations.migrate(target, 0, schema.migrations, schema.log)
        target.execute(delete(schema.log))  # it is copied, with its times
        for table in schema.log.metadata.sorted_tables:
            if table.autoincrement_column is not None:
                last = dialects.dialect_of(source.engine).last_number(source, table)
                dialects.dialect_of(target.engine).number_after(target, table, last)


def _copy_rows(
    source: Connection,
    target: Connection,
    tables: Sequence[Table],
    total: int,
    progress: Progress | None,
) -> None:
    """Copy the rows of tables, and read them again.

    Raises:
        StorageError: They are not what was copied.
    """
    written = 0
    for table in tables:
        copied = hashlib.sha256()
        for batch in _batches(_rows(source, table)):
            target.execute(insert(table), batch)
            copied.update(_told(batch))
            written += len(batch)
            if progress is not None:
                progress(written, total)
        stored = hashlib.sha256()
        for batch in _batches(_rows(target, table)):
            stored.update(_told(batch))
        if copied.digest() != stored.digest():
            raise StorageError(
                f"The rows of the table {table.name} came back differently, so nothing was copied. "
                "Check the source with `memengine doctor --thorough`, then try again."
            )


def _told(batch: Sequence[Mapping[str, Any]]) -> bytes:
    """Return all that rows hold, equal for equal rows."""
    return repr([list(row.values()) for row in batch]).encode("utf-8", "surrogatepass")


def _rows(connection: Connection, table: Table) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table in the order of its key, without reading all of them at once."""
    ordered = select(table).order_by(*table.primary_key)
    streamed = ordered.execution_options(stream_results=True, yield_per=_BATCH)
    for row in connection.execute(streamed).mappings():
        yield dict(row)


def _batches(rows: Iterator[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    while batch := list(islice(rows, _BATCH)):
        yield batch


def _count(connection: Connection, table: Table) -> int:
    return connection.execute(select(func.count()).select_from(table)).scalar_one()


def _store_ids(connection: Connection, table: Table) -> list[str]:
    if "store_id" not in table.c:
        return []
    return list(connection.execute(select(table.c.store_id).distinct()).scalars())
