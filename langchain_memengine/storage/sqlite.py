"""SQLite: how it is opened, who may write, and what its errors mean."""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import (
    URL,
    Compiled,
    Connection,
    Engine,
    Insert,
    Table,
    column,
    create_engine,
    delete,
    event,
    select,
)
from sqlalchemy import table as described
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import StaticPool
from sqlalchemy.util import LRUCache

from langchain_memengine.errors import StorageError, StorageFullError, StoreBusyError
from langchain_memengine.storage import on_conflict
from langchain_memengine.storage.column_types import KeyLimit

BEGIN_READ = "BEGIN"
KEY_LIMIT: KeyLimit | None = None

_CACHE_KIB = 8000
"""Memory for pages of each connection, of which there may be several: enough for the inner pages of
indexes over a million rows. The system keeps the others as well."""

_MAX_PROBLEMS = 5
_RETRY_SECONDS = 0.005
_DRIVER = "sqlite+memengine"
_compiled: LRUCache[Any, Compiled] = LRUCache(1000)
"""What SQLAlchemy made of statements, for all databases of this process."""

_sequences = described("sqlite_sequence", column("name"), column("seq"))
_WRITE = "memengine_write"
"""Execution option of a connection that will write: its transaction takes the lock at once."""


class AlikeDialect(SQLiteDialect_pysqlite):
    """SQLAlchemy's dialect for SQLite, equal to every other one.

    SQLAlchemy has a dialect for each engine and keeps what it compiled by dialect, so that whoever
    opens many stores would wait for the same statements again with each of them.
    """

    supports_statement_cache = True

    def __eq__(self, other: object) -> bool:
        """Return whether the other one compiles the same."""
        return type(other) is type(self)

    def __hash__(self) -> int:
        """Return the same for all."""
        return hash(type(self))


registry.register(_DRIVER.replace("+", "."), __name__, AlikeDialect.__name__)


def is_in_memory(url: URL) -> bool:
    """Return whether a URL is that of a SQLite database without a file."""
    return url.get_backend_name() == "sqlite" and url.database in {None, "", ":memory:"}


def file_url(path: Path) -> str:
    """Return the URL of a SQLite file, whatever characters its path has."""
    return "sqlite:///" + str(path).replace("%", "%25").replace("?", "%3F")


def connect(url: URL, *, busy_timeout_ms: int, read_only: bool) -> Engine:
    """Return an engine with the settings the store's promises need.

    Raises:
        StorageError: Read-only, and there is no such file.
    """
    if read_only:
        _require_file(url)
        url = _unshared(url)
    arguments: dict[str, Any] = {"check_same_thread": False, "timeout": busy_timeout_ms / 1000}
    # In memory one connection is the database; `Database` lets one thread in at a time.
    pool = {"poolclass": StaticPool} if is_in_memory(url) else {}
    engine = create_engine(
        url.set(drivername=_DRIVER),
        connect_args=arguments,
        execution_options={"compiled_cache": _compiled},
        **pool,
    )

    @event.listens_for(engine, "connect")
    def _on_connect(connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = None  # the driver must not begin transactions of its own
        pragmas = [
            "foreign_keys = ON",
            f"busy_timeout = {busy_timeout_ms}",
            f"cache_size = -{_CACHE_KIB}",
        ]
        # What is deleted is overwritten, so that forgotten words are not left in free pages.
        pragmas += (
            ["query_only = ON"] if read_only else ["synchronous = FULL", "secure_delete = ON"]
        )
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}")
        if not (read_only or is_in_memory(url)):
            _write_ahead(connection, busy_timeout_ms)

    @event.listens_for(engine, "begin")
    def _on_begin(connection: Connection) -> None:
        # A deferred transaction that turns into a writer fails at once with SQLITE_BUSY_SNAPSHOT,
        # whatever the time-out says.
        if connection.get_execution_options().get(_WRITE):
            connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def _write_ahead(connection: sqlite3.Connection, busy_timeout_ms: int) -> None:
    """Let a file have a write-ahead log, which it keeps.

    SQLite itself does not wait for another connection that makes the same change to a new file.
    """
    ends = time.monotonic() + busy_timeout_ms / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            is_busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not is_busy or time.monotonic() >= ends:
                raise
            time.sleep(_RETRY_SECONDS)
        else:
            return


def reader(engine: Engine) -> Connection:
    """Return a connection that only reads."""
    return engine.connect()


@contextmanager
def writing(connection: Connection, lock: str | None) -> Iterator[None]:  # noqa: ARG001
    """Open a transaction. A writer has the whole database to itself, with or without a lock."""
    connection.execution_options(**{_WRITE: True})
    with connection.begin():
        yield


def scrub(engine: Engine) -> str | None:
    """Move the write-ahead log into the database and empty it; return what still holds rows."""
    with engine.connect() as connection:
        busy, _, _ = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()
    if not busy:
        return None
    return "SQLite's log, while another process reads; it goes with its next write."


def damage(connection: Connection, *, thorough: bool) -> list[str] | None:
    """Return what SQLite finds wrong with its file, in its words; at most a few."""
    pragma = "integrity_check" if thorough else "quick_check"
    rows = connection.exec_driver_sql(f"PRAGMA {pragma}({_MAX_PROBLEMS})")
    return [line for (line,) in rows if line != "ok"]


def _require_file(url: URL) -> None:
    """Refuse a missing file: SQLite makes an empty one even for a reader."""
    path = url.database or ""
    if not (is_in_memory(url) or path.startswith("file:") or Path(path).exists()):
        raise StorageError(
            f"There is no database at {path}, and who only reads makes none (read_only, or "
            "`memengine migrate --from`). Correct the path, or open it once without read_only."
        )


def _unshared(url: URL) -> URL:
    """Return a URL that opens a file of a read-only file system, where SQLite can share no memory.

    Nobody writes there, so that nothing need be shared. A log that was left behind must be read,
    and SQLite says whether it can.

    Raises:
        StorageError: Others may write into the folder and this user may not.
    """
    path = Path(url.database or "")
    if sys.platform == "win32" or not path.is_file() or path.with_name(f"{path.name}-wal").exists():
        return url
    if os.statvfs(path).f_flag & os.ST_RDONLY:
        query = {**url.query, "uri": "true", "mode": "ro", "immutable": "1"}
        return url.set(database=f"file:{quote(os.fsencode(path.absolute()))}", query=query)
    as_this_user = os.access in os.supports_effective_ids
    if not os.access(path.parent, os.W_OK, effective_ids=as_this_user):
        raise StorageError(
            f"{path} cannot be read safely: SQLite tells readers of a writer by a file in the same "
            "folder, and this user may not write there. Allow it, or read a copy of the folder."
        )
    return url


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
    of_table = select(_sequences.c.seq).where(_sequences.c.name == table.name)
    return connection.execute(of_table).scalar_one_or_none() or 0


def number_after(connection: Connection, table: Table, last: int) -> None:
    """Let the numbers of a table that is empty go on after ``last``."""
    connection.execute(delete(_sequences).where(_sequences.c.name == table.name))
    connection.execute(_sequences.insert().values(name=table.name, seq=last))


def named_error(error: DBAPIError) -> StorageError:
    """Return the error of this package for one of SQLAlchemy's."""
    return named_driver_error(error.orig)


def named_driver_error(error: BaseException | None) -> StorageError:
    """Return the error of this package for one of the driver's."""
    code = getattr(error, "sqlite_errorcode", None)
    primary = code & 0xFF if code is not None else None
    if primary in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return StoreBusyError(
            "Another process held the database's write lock for longer than busy_timeout_ms. "
            "Try again; if it happens often, raise busy_timeout_ms."
        )
    if primary == sqlite3.SQLITE_FULL:
        return StorageFullError(
            "The disk is full; the change was not stored, everything acknowledged before is kept. "
            "Free space and try again."
        )
    if primary in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
        return StorageError(
            "The state database is damaged and was left untouched. Run `memengine restore FILE` "
            "with a backup made by `memengine backup`. Without one, move memory.sqlite aside and "
            "sync again: that brings back the files, not the texts that were only stored."
        )
    if primary in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}:
        return StorageError(
            f"The state database cannot be opened or written ({error}). Check that its folder "
            "exists and its permissions, or open the engine with read_only=True."
        )
    return StorageError(f"The database refused the operation: {error}")
