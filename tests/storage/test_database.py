"""Stores in SQLite files that are not what they should be."""

import contextlib
import sqlite3

import pytest

from langchain_memengine.errors import SchemaVersionError, StorageError
from langchain_memengine.storage.database import Database
from tests.storage.contract import NOW


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.sqlite"


def open_store(path, **options):
    return Database(f"sqlite:///{path}", store_id="a", now=NOW, busy_timeout_ms=0, **options)


def test_read_only_makes_no_file(path):
    with pytest.raises(StorageError, match=r"store\.sqlite, and who only reads makes none"):
        open_store(path, read_only=True)
    assert not path.exists()


def test_read_only_refuses_an_empty_file(path):
    path.touch()
    with pytest.raises(StorageError, match="Open it once without read_only"):
        open_store(path, read_only=True)
    assert path.read_bytes() == b""


def test_read_only_refuses_a_store_in_memory():
    with pytest.raises(StorageError, match="read_only"):
        Database("sqlite://", store_id="a", now=NOW, busy_timeout_ms=0, read_only=True)


@pytest.mark.parametrize("read_only", [False, True])
def test_a_database_of_a_newer_release_is_refused_and_left_as_it_is(path, read_only):
    open_store(path).close()
    with contextlib.closing(sqlite3.connect(path)) as raw:
        raw.execute("INSERT INTO schema_migrations VALUES ('m999_later', 0)")
        raw.execute("DROP TABLE documents")
        raw.commit()
    with pytest.raises(SchemaVersionError, match="m999_later"):
        open_store(path, read_only=read_only)
    with contextlib.closing(sqlite3.connect(path)) as raw:
        tables = {name for (name,) in raw.execute("SELECT name FROM sqlite_master")}
    assert "documents" not in tables


def test_closing_twice_is_fine(path):
    database = open_store(path)
    database.close()
    database.close()


def test_a_closed_store_leaves_one_file(path):
    database = open_store(path)
    with database.write() as tx:
        tx.set_meta("key", "value")
    database.close()
    assert [entry.name for entry in path.parent.iterdir()] == ["store.sqlite"]


@pytest.mark.parametrize("begin", ["read", "write"])
def test_what_a_thread_still_does_when_others_close_leaves_no_connection(path, begin):
    database = open_store(path)
    with getattr(database, begin)() as tx:
        tx.counters()
        connection = tx.connection.connection.dbapi_connection
        database.close()
        connection.execute("SELECT 1")
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("SELECT 1")
