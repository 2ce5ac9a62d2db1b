"""SQLite's settings and failures, and URLs that name no database."""

import sqlite3

import pytest

from langchain_memengine.errors import (
    ConfigurationError,
    MissingDependencyError,
    StorageError,
    StorageFullError,
    StoreBusyError,
)
from langchain_memengine.storage import chunks, servers, stored_chunks
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.documents import TableNotes, all_documents
from langchain_memengine.storage.sqlite import AlikeDialect, file_url
from tests.storage.contract import NOW, keep


@pytest.fixture
def opened(tmp_path):
    opened: list[Database] = []

    def opener(name="store.sqlite", **options):
        url = f"sqlite:///{tmp_path}/{name}"
        database = Database(url, **{"store_id": "a", "now": NOW, "busy_timeout_ms": 0, **options})
        opened.append(database)
        return database

    yield opener
    for database in opened:
        database.close()


# URLs


@pytest.mark.parametrize("name", ["what?", "a#b", "100%20x", "a%2Fb", "x@y:z", "a b", "ü", "&x=1"])
def test_the_url_of_a_file_names_that_file_whatever_its_characters(tmp_path, name):
    path = tmp_path / name / "store.sqlite"
    path.parent.mkdir()
    Database(file_url(path), store_id="a", now=NOW, busy_timeout_ms=0).close()
    assert path.exists()
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    "url",
    [
        "",
        "memory.sqlite",
        "sqlite://memory.sqlite",  # two slashes: a host
        "postgresql://localhost:port/memory",
        "postgresql+nosuchdriver://localhost/memory",
        "oracle:///memory",
        "sqlite+aiosqlite:///memory.sqlite",
        "sqlite+nosuchdriver:///memory.sqlite",
    ],
)
def test_a_url_that_cannot_work_is_named_with_an_example(url):
    with pytest.raises(ConfigurationError, match="sqlite:///"):
        Database(url, store_id="a", now=NOW, busy_timeout_ms=0)


def test_clickhouse_alone_holds_no_store():
    with pytest.raises(ConfigurationError, match="jobs_url; graph_url and `memengine migrate`"):
        Database("clickhousedb://h/x", store_id="a", now=NOW, busy_timeout_ms=0)


def test_an_error_about_a_url_does_not_show_its_password():
    with pytest.raises(ConfigurationError) as refused:
        Database("postgresql://me:hunter2@h:p/x", store_id="a", now=NOW, busy_timeout_ms=0)
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "extra"), [("postgresql://h/x", "postgres"), ("mariadb+pymysql://h/x", "mysql")]
)
def test_a_missing_driver_is_named_with_its_extra(monkeypatch, url, extra):
    monkeypatch.setattr(servers, "find_spec", lambda _: None)
    with pytest.raises(MissingDependencyError, match=rf"langchain-memengine\[{extra}\]"):
        Database(url, store_id="a", now=NOW, busy_timeout_ms=0)


# Settings


def test_commits_reach_the_disk_and_readers_do_not_wait(opened):
    with opened().read() as tx:
        values = {
            name: tx.connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
            for name in ("journal_mode", "synchronous", "busy_timeout", "foreign_keys")
        }
    full = 2
    assert values == {
        "journal_mode": "wal",
        "synchronous": full,
        "busy_timeout": 0,
        "foreign_keys": 1,
    }


def test_read_only_holds_even_for_the_connection(opened):
    opened()
    reader = opened(read_only=True)
    with pytest.raises(StorageError, match="read_only"), reader.read() as tx:
        tx.set_meta("key", "value")


def test_long_lists_fit_builds_that_accept_999_parameters(opened):
    database = opened()
    keep(database, *(f"text {n}" for n in range(1500)))
    with database.read() as tx:
        driver = tx.connection.connection.driver_connection
        driver.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 999)
        nums = [row.num for row in chunks.index_rows(tx, "shared")]
        assert len(stored_chunks.visible_by_num(tx, nums, partitions=["shared"], now=NOW)) == 1500
    keep(database)


# Failures


def test_a_writer_that_waits_too_long_is_told_so(opened):
    first, second = opened(), opened()
    with first.write() as tx:
        tx.set_meta("key", "first")
        with pytest.raises(StoreBusyError, match="busy_timeout_ms"), second.write():
            pass
        with pytest.raises(StoreBusyError):
            opened()
    with second.write() as tx:
        assert tx.get_meta("key") == "first"


@pytest.mark.parametrize("size", [50, 99, 100, 511, 512, 4096, 10_000])
@pytest.mark.parametrize("read_only", [False, True])
def test_a_file_that_is_no_database_is_left_as_it_is(opened, tmp_path, size, read_only):
    garbage = b"\x00not a database\xff" * size
    path = tmp_path / "store.sqlite"
    path.write_bytes(garbage[:size])
    with pytest.raises(StorageError, match="damaged and was left untouched"):
        opened(read_only=read_only)
    assert path.read_bytes() == garbage[:size]
    assert list(tmp_path.iterdir()) == [path]


def test_a_damaged_database_is_named(opened, tmp_path):
    database = opened()
    keep(database, *(f"text {n}" for n in range(500)))
    database.close()
    path = tmp_path / "store.sqlite"
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))
    with pytest.raises(StorageError, match="damaged"):
        opened()


def test_a_folder_that_is_missing_is_named(opened):
    with pytest.raises(StorageError, match="folder"):
        opened("missing/store.sqlite")


def test_a_full_disk_loses_nothing_that_was_acknowledged(opened):
    database = opened()
    notes = TableNotes(database, lambda: NOW)
    notes.update("kept.md", lambda _: "kept")
    unlimited = 2**30
    with database.write() as tx:
        pages = tx.connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        tx.connection.exec_driver_sql(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(StorageFullError, match="Free space"):
        notes.update("large.md", lambda _: "x" * 100_000)
    with database.read() as tx:
        assert [document.text for document in all_documents(tx)] == ["kept"]
        tx.connection.exec_driver_sql(f"PRAGMA max_page_count = {unlimited}")
    notes.update("large.md", lambda _: "x" * 100_000)
    assert notes.names() == ["kept.md", "large.md"]


def test_what_was_compiled_for_one_sqlite_serves_the_next(opened, monkeypatch):
    compiled = []
    compiler = AlikeDialect.statement_compiler

    def noting(dialect, statement, *arguments, **options):
        if statement is not None:  # as for the types of columns
            compiled.append(str(statement))
        return compiler(dialect, statement, *arguments, **options)

    monkeypatch.setattr(AlikeDialect, "statement_compiler", staticmethod(noting))

    def use(name):
        database = opened(name)
        with database.write() as tx:
            tx.set_meta("name", name)
            tx.touch()
        with database.read() as tx:
            assert tx.get_meta("name") == name
            return tx.counters()

    first = use("a")
    compiled.clear()
    assert use("b") == first
    assert compiled == []
