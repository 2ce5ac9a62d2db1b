"""Copies of the whole state database, made while it is in use, and what must hold of one."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import URL, make_url

from langchain_memengine.errors import SchemaVersionError, StorageError, StoreBusyError
from langchain_memengine.shown import Shown
from langchain_memengine.storage import sqlite
from langchain_memengine.storage.change_counters import CHANGES
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.graph_meta import FOLLOWED
from langchain_memengine.storage.migrations import MIGRATIONS
from langchain_memengine.storage.schema import (
    INITIAL_TABLES,
    schema_migrations,
)

_TOOLS = {
    "postgresql": "save this one with `pg_dump --format=custom`, restore it with `pg_restore`",
    "mysql": "save this one with `mariadb-dump --single-transaction` (or `mysqldump`)",
    "mariadb": "save this one with `mariadb-dump --single-transaction`",
    "clickhousedb": "save this one with ClickHouse's `BACKUP DATABASE`, and the one that jobs_url "
    "names by its own means, both while no engine is open",
}

EPOCH = "store_epoch"
"""Key under which a store has its identity: derived files of another one are not used."""


@dataclass(frozen=True, slots=True)
class Contents(Shown):
    """What a copy of the database holds, over all of its stores.

    Attributes:
        path: The file.
        size: In bytes.
        chunks: Searchable chunks.
        changes: Changes counted when it was made; the highest of all stores.
    """

    path: Path
    size: int
    chunks: int
    changes: int


def copy_to(database: Database, path: Path) -> None:
    """Write a consistent copy of the database to a new file, flushed to disk.

    Others may read and write meanwhile; what they commit after the start is not in it.

    Raises:
        StorageFullError: The disk is full.
        StorageError: The file cannot be written, or the database cannot be copied like this.
    """
    with database.read() as tx, _named(path):
        if database.clickhouse is not None:
            raise StorageError(_tools(database.clickhouse.url))
        source = tx.connection.connection.dbapi_connection
        if not isinstance(source, sqlite3.Connection):
            raise StorageError(_tools(tx.connection.engine.url))
        with closing(sqlite3.connect(path)) as target:
            source.backup(target)
            target.execute("PRAGMA journal_mode = DELETE")  # one file, without a log beside it
    _flush(path)


def belongs_to(database: Database, path: Path) -> bool:
    """Return whether a path is a database's own file, or one that SQLite keeps beside it."""
    with database.read() as tx:
        url = tx.connection.engine.url
    if url.get_backend_name() != "sqlite" or sqlite.is_in_memory(url):
        return False
    own = str(Path(str(url.database)).resolve())
    return str(path.resolve()) in {own, f"{own}-wal", f"{own}-shm"}


def contents(path: Path) -> Contents:
    """Verify a copy of the database and return what it holds; nothing is changed.

    Raises:
        SchemaVersionError: A newer release wrote it.
        StorageError: It is missing, damaged or no database of this package.
    """
    if not path.is_file():
        raise StorageError(f"There is no backup {path}. Check the path.")
    address = f"{path.resolve().as_uri()}?mode=ro"
    with _named(path), closing(sqlite3.connect(address, uri=True)) as copy:
        problems = [row[0] for row in copy.execute("PRAGMA integrity_check(3)") if row[0] != "ok"]
        if problems:
            raise StorageError(f"{path} is damaged: {'; '.join(problems)}. Use another backup.")
        tables = {row[0] for row in copy.execute("SELECT name FROM sqlite_master")}
        if {table.name for table in (schema_migrations, *INITIAL_TABLES)} - tables:
            raise StorageError(f"{path} is a database, but none of a memory. Use another file.")
        applied = {row[0] for row in copy.execute("SELECT name FROM schema_migrations")}
        unknown = sorted(applied - {name for name, _ in MIGRATIONS})
        if unknown:
            raise SchemaVersionError(unknown)
        chunks = copy.execute("SELECT count(*) FROM chunks").fetchone()[0]
        changes = copy.execute(
            "SELECT coalesce(max(value), 0) FROM counters WHERE name = ?", (CHANGES,)
        ).fetchone()[0]
    return Contents(path, path.stat().st_size, chunks, changes)


def workspaces(path: Path) -> set[str]:
    """Return the ids of all workspaces that a copy of the database knows files of.

    Raises:
        StorageError: It cannot be read.
    """
    with _named(path), closing(sqlite3.connect(path)) as copy:
        return {row[0] for row in copy.execute("SELECT DISTINCT workspace_id FROM files")}


def forget_identity(path: Path) -> None:
    """Let every store of a copy draw a new identity, and flush the copy to disk.

    Raises:
        StorageError: The file cannot be written.
    """
    with _named(path), closing(sqlite3.connect(path)) as copy:
        copy.execute("PRAGMA journal_mode = DELETE")
        with copy:
            copy.execute("DELETE FROM meta WHERE key = ?", (EPOCH,))
    _flush(path)


def unfollow(path: Path) -> None:
    """Let the graphs in a file compare all that they know with the memory when they are next asked.

    Raises:
        StorageError: It holds none, or cannot be written.
    """
    with _named(path), closing(sqlite3.connect(path)) as graph, graph:
        graph.execute("DELETE FROM graph_meta WHERE key = ?", (FOLLOWED,))


def require_unused(path: Path) -> bool:
    """Make sure that no other process, and no engine of this one, has a database open.

    Returns:
        Whether it is sound enough that its write-ahead log is now in the file itself.

    Raises:
        StoreBusyError: It is open elsewhere.
    """
    try:
        with closing(sqlite3.connect(path, timeout=0)) as current:
            current.execute("PRAGMA journal_mode = DELETE")  # needs the file for oneself
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            raise StoreBusyError(
                f"{path} is open in another process, or in an engine of this one. "
                "Close that first, then try again."
            ) from error
        return False  # damaged, which is what restoring is for
    return True


def file_of(database_url: str) -> Path:
    """Return the file of a SQLite database.

    Raises:
        StorageError: The URL names a server, or no file.
    """
    url = make_url(database_url)
    if url.get_backend_name() != "sqlite" or sqlite.is_in_memory(url):
        raise StorageError(_tools(url))
    return Path(str(url.database))


def _tools(url: URL) -> str:
    """Return what to use for a database that this module cannot copy."""
    saved = _TOOLS.get(url.get_backend_name(), "put it into a file first: memengine migrate")
    return f"Only a SQLite database in a file is backed up and restored by memengine: {saved}."


def _flush(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Turn what SQLite says about a file into the errors of this package."""
    try:
        yield
    except sqlite3.Error as error:
        primary = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
        if primary in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
            raise StorageError(f"{path} is damaged, or no database: {error}.") from error
        if primary in {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}:
            raise StorageError(
                f"{path} cannot be opened or written: {error}. "
                "Check that its folder exists and that this user may write there."
            ) from error
        raise sqlite.named_driver_error(error) from error
