"""PostgreSQL: how it is connected to, who may write, and what its errors mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from typing import Any

from sqlalchemy import URL, Connection, Engine, Insert, Table, create_engine, event
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import DBAPIError, OperationalError

from langchain_memengine.errors import StorageError
from langchain_memengine.storage import on_conflict, servers
from langchain_memengine.storage.column_types import MAX_KEY_BYTES, MAX_KEY_CHARS, KeyLimit

BEGIN_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
KEY_LIMIT: KeyLimit | None = KeyLimit(MAX_KEY_CHARS, MAX_KEY_BYTES)

_DRIVER = "postgresql+psycopg"

# From the manual's appendix of error codes.
_STATES: dict[str, servers.Named] = {
    "22001": servers.too_long,
    "40001": servers.busy,  # serialization failure
    "40P01": servers.busy,  # deadlock
    "42501": servers.refused,
    "53100": servers.full,
    "53300": servers.unreachable,  # too many connections
    "54000": servers.too_long,  # of an index entry
    "55P03": servers.busy,  # lock not available
    "57014": servers.busy,  # statement time-out
    "57P01": servers.unreachable,  # shut down, crashed, still starting
    "57P02": servers.unreachable,
    "57P03": servers.unreachable,
}
_CLASSES: dict[str, servers.Named] = {
    "08": servers.unreachable,
    "28": servers.refused,
    "3D": servers.refused,
}

# Who is not let in has no code, only the server's words; in other languages it is unreachable.
_REFUSALS = ("does not exist", "authentication failed", "no pg_hba.conf entry", "permission denied")


def connect(url: URL, *, busy_timeout_ms: int, read_only: bool) -> Engine:  # noqa: ARG001
    """Return an engine whose writers see what was committed before each of their statements.

    Raises:
        MissingDependencyError: The driver is not installed.
    """
    servers.require_driver("psycopg", extra="postgres", needed_for="A PostgreSQL database")
    engine = create_engine(
        url.set(drivername=_DRIVER),
        isolation_level="READ COMMITTED",
        connect_args={"connect_timeout": servers.CONNECT_SECONDS},
        **servers.POOL,
    )

    @event.listens_for(engine, "connect")
    def _on_connect(connection: Any, _record: object) -> None:
        # No wait at all is written as the shortest one: 0 would be for ever.
        connection.execute(f"SET lock_timeout = {max(busy_timeout_ms, 1)}")
        connection.commit()

    return engine


def reader(engine: Engine) -> Connection:
    """Return a connection that only reads."""
    return engine.connect().execution_options(isolation_level="AUTOCOMMIT")


@contextmanager
def writing(connection: Connection, lock: str | None) -> Iterator[None]:
    """Open a transaction that has a lock to itself, if one is named.

    Its statements see what was committed before each of them, so that what is read under the lock
    is what the last holder left.
    """
    with connection.begin():
        if lock is not None:
            number = int.from_bytes(sha256(lock.encode()).digest()[:8], signed=True)
            connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%s)", (number,))
        yield


scrub = servers.scrub
damage = servers.damage


def upsert(table: Table, names: Sequence[str], add: str | None) -> Insert:
    """Return the statement that inserts rows, or replaces the columns of those that exist."""
    return on_conflict.upsert(insert(table), names, add)


def insert_unless_taken(
    connection: Connection, table: Table, row: Mapping[str, Any], key: Sequence[str]
) -> int | None:
    """Insert a row and return its number; ``None`` where the unique ``key`` exists already."""
    return on_conflict.insert_unless_taken(connection, insert(table).values(row), key)


def last_number(connection: Connection, table: Table) -> int:
    """Return the highest number that a row of a table ever had; 0 if there was none."""
    given = "SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence(%s, %s)::regclass), 0)"
    return int(connection.exec_driver_sql(given, _number_column(table)).scalar_one())


def number_after(connection: Connection, table: Table, last: int) -> None:
    """Let the numbers of a table that is empty go on after ``last``."""
    if last:  # a sequence cannot stand at 0
        going_on = "SELECT setval(pg_get_serial_sequence(%s, %s), %s)"
        connection.exec_driver_sql(going_on, (*_number_column(table), last))


def _number_column(table: Table) -> tuple[str, str]:
    (number,) = table.primary_key
    return table.name, number.name


def named_error(error: DBAPIError) -> StorageError:
    """Return the error of this package for one of SQLAlchemy's."""
    state = getattr(error.orig, "sqlstate", None)
    if state is None:
        said = str(error.orig).partition("FATAL:")[2]
        if any(words in said for words in _REFUSALS):
            return servers.refused(error)
        is_lost = error.connection_invalidated or isinstance(error, OperationalError)
        return servers.unreachable(error) if is_lost else servers.unknown(error)
    return (_STATES.get(state) or _CLASSES.get(state[:2]) or servers.unknown)(error)
