"""What differs between databases, behind one interface."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from typing import Any, Protocol

from sqlalchemy import URL, Connection, Engine, Insert, Select, Table, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError

from langchain_memengine.errors import ConfigurationError, StorageError
from langchain_memengine.storage import clickhouse, mysql, postgresql, sqlite
from langchain_memengine.storage.column_types import KeyLimit


class Dialect(Protocol):
    """What is done differently on each database; a module for each.

    Attributes:
        BEGIN_READ: Statement that opens a consistent view.
        KEY_LIMIT: Longest name that is a key; ``None`` for any.
    """

    BEGIN_READ: str
    KEY_LIMIT: KeyLimit | None

    def connect(self, url: URL, *, busy_timeout_ms: int, read_only: bool) -> Engine:
        """Return an engine with the settings the store's promises need."""

    def reader(self, engine: Engine) -> Connection:
        """Return a connection that only reads; views on it are opened and ended by hand."""

    def writing(self, connection: Connection, lock: str | None) -> AbstractContextManager[None]:
        """Open a transaction; one that names a lock has it to itself until the commit."""

    def scrub(self, engine: Engine) -> str | None:
        """Leave nothing of deleted rows in the database's files; return where there is still."""

    def damage(self, connection: Connection, *, thorough: bool) -> list[str] | None:
        """Return what is wrong with the database's files; ``None`` where that cannot be told."""

    def upsert(self, table: Table, names: Sequence[str], add: str | None) -> Insert:
        """Return the statement that inserts rows, or replaces columns of those that exist."""

    def insert_unless_taken(
        self, connection: Connection, table: Table, row: Mapping[str, Any], key: Sequence[str]
    ) -> int | None:
        """Insert a row and return its number; ``None`` where the unique ``key`` exists."""

    def last_number(self, connection: Connection, table: Table) -> int:
        """Return the highest number that a row of a table ever had; 0 if there was none."""

    def number_after(self, connection: Connection, table: Table, last: int) -> None:
        """Let the numbers of a table that is empty go on after ``last``."""

    def named_error(self, error: DBAPIError) -> StorageError:
        """Return the error of this package for one of SQLAlchemy's."""


_SUPPORTED: Mapping[str, Dialect] = {
    "sqlite": sqlite,
    "sqlite+pysqlite": sqlite,
    "postgresql": postgresql,
    "postgresql+psycopg": postgresql,
    "mysql": mysql,
    "mysql+pymysql": mysql,
    "mariadb": mysql,
    "mariadb+pymysql": mysql,
}


def is_transactional(database_url: str) -> bool:
    """Return whether a database has transactions, and so can hold all of a store.

    Raises:
        ConfigurationError: The URL is malformed.
    """
    with _well_formed():
        return make_url(database_url).get_backend_name() != clickhouse.BACKEND


def connect(database_url: str, *, busy_timeout_ms: int, read_only: bool = False) -> Engine:
    """Return an engine with the settings the store's promises need.

    Raises:
        ConfigurationError: The URL is malformed or names a database that is not supported.
        MissingDependencyError: The driver of the database is not installed.
        StorageError: Read-only, and there is no such file.
    """
    if not is_transactional(database_url):
        raise ConfigurationError(
            "ClickHouse has no transactions: it holds records, revisions and messages beside a "
            "database that has, and nothing else. Name it in database_url and the other one in "
            "jobs_url; graph_url and `memengine migrate` do not take it."
        )
    with _well_formed():
        url = make_url(database_url)
        if url.drivername in _SUPPORTED:
            dialect = _SUPPORTED[url.drivername]
            return dialect.connect(url, busy_timeout_ms=busy_timeout_ms, read_only=read_only)
    raise ConfigurationError(
        f"Unsupported database {url.drivername!r}. Supported: sqlite:///PATH, "
        "postgresql+psycopg://USER@HOST/NAME, mysql+pymysql://USER@HOST/NAME (MariaDB as well); "
        "clickhousedb://USER@HOST/NAME for records and messages."
    )


@contextmanager
def _well_formed() -> Iterator[None]:
    """Say so where a URL is none."""
    try:
        yield
    except (ArgumentError, ValueError) as error:  # a port that is no number is a ValueError
        # The URL itself is not shown: it may hold a password.
        raise ConfigurationError(
            f"database_url is no database URL ({error}). Example: sqlite:///memory.sqlite"
        ) from error


def dialect_of(engine: Engine) -> Dialect:
    """Return what is done differently on the database of an engine."""
    return _SUPPORTED[engine.dialect.name]


def upsert(
    connection: Connection,
    table: Table,
    rows: Sequence[Mapping[str, Any]],
    *,
    add: str | None = None,
) -> None:
    """Insert rows; where the primary key exists, replace the other columns.

    Args:
        connection: A connection in a transaction.
        table: Its primary key decides what exists.
        rows: All with the same columns; none is a no-op.
        add: A column whose new value is added to the old one instead of replacing it.
    """
    if rows:
        statement = _upsert(connection.engine.dialect.name, table, tuple(rows[0]), add)
        connection.execute(statement, list(rows))


@lru_cache(maxsize=256)
def _upsert(dialect: str, table: Table, names: tuple[str, ...], add: str | None) -> Insert:
    """Return the statement; to make it takes longer than to send it."""
    return _SUPPORTED[dialect].upsert(table, names, add)


def insert_unless_taken(
    connection: Connection, table: Table, row: Mapping[str, Any], key: Sequence[str]
) -> int | None:
    """Insert a row and return its number; ``None`` where the unique ``key`` exists already."""
    return dialect_of(connection.engine).insert_unless_taken(connection, table, row, key)


def passing_locked(statement: Select[Any]) -> Select[Any]:
    """Lock the rows a statement finds, and pass over those that another transaction locked.

    SQLite leaves the clause out: there a writer has the whole database to itself.
    """
    return statement.with_for_update(skip_locked=True)
