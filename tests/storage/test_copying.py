"""Copies of a whole database; from and to servers in the integration tests."""

import pytest
from sqlalchemy import create_engine, text

from langchain_memengine.errors import SchemaVersionError, StorageError
from langchain_memengine.storage import copying
from langchain_memengine.storage.copying import copy_database
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.graph_schema import GRAPH
from tests.fakes.full_database import EACH, LOGS, STORES, TABLES, everything, fill
from tests.storage.contract import NOW, keep


@pytest.fixture
def urls(tmp_path):
    source, target = (f"sqlite:///{tmp_path}/{name}.sqlite" for name in ("source", "target"))
    fill(source)
    return source, target


def run(url, statement):
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text(statement))
    engine.dispose()


def test_every_row_of_every_table_and_store_is_copied(urls, monkeypatch):
    monkeypatch.setattr(copying, "_BATCH", 2)
    told: list[tuple[int, int]] = []
    done = copy_database(*urls, progress=lambda done, total: told.append((done, total)))
    assert everything(urls[1]) == everything(urls[0])
    counted = {table.name: EACH for table in TABLES if table.name not in LOGS}
    counted["counters"] += 3 * len(STORES)
    assert {name: n for name, n in done.rows.items() if name not in LOGS} == counted
    assert done.stores == STORES
    assert told == sorted(told)
    assert told[-1] == (sum(done.rows.values()),) * 2


def test_numbers_go_on_where_the_source_is(tmp_path):
    source, target = (f"sqlite:///{tmp_path}/{name}.sqlite" for name in ("source", "target"))
    settings = {"store_id": "a", "now": NOW, "busy_timeout_ms": 0}
    database = Database(source, **settings)
    keep(database, "one", "two")
    keep(database)  # their numbers are on tombstones now
    database.close()
    copy_database(source, target)
    database = Database(target, **settings)
    keep(database, "three")
    with database.read() as tx:
        assert tx.connection.execute(text("SELECT num FROM chunks")).scalars().all() == [3]
    keep(database)
    database.close()


def test_only_an_empty_database_is_copied_to(urls):
    run(urls[1], "CREATE TABLE mine (x INTEGER)")
    copy_database(*urls)
    before = everything(urls[1])
    with pytest.raises(StorageError, match="not empty"):
        copy_database(*urls)
    with pytest.raises(StorageError, match="not empty"):
        copy_database(urls[0], urls[0])
    assert everything(urls[1]) == before == everything(urls[0])


def test_a_graph_is_copied_into_the_database_of_the_state(tmp_path):
    state, graph, target = (f"sqlite:///{tmp_path}/{name}" for name in ("state", "graph", "target"))
    settings = {"store_id": "a", "now": NOW, "busy_timeout_ms": 0}
    Database(state, **settings).close()
    Database(graph, schema=GRAPH, **settings).close()
    assert "counters" in copy_database(state, target).rows
    assert list(copy_database(graph, target).rows) == ["graph_migrations"]
    for schema in ({}, {"schema": GRAPH}):
        Database(target, read_only=True, **settings, **schema).close()


def test_nothing_of_a_failed_copy_stays(urls):
    def fail(done, total):
        if done > total // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy_database(*urls, progress=fail)
    copy_database(*urls)
    assert everything(urls[1]) == everything(urls[0])


def test_rows_that_come_back_differently_are_noticed(urls):
    run(urls[1], "CREATE TABLE meta (store_id VARCHAR(64), key VARCHAR(64), value INTEGER)")
    run(urls[0], "UPDATE meta SET value = '007'")
    with pytest.raises(StorageError, match="meta came back differently"):
        copy_database(*urls)
    engine = create_engine(urls[1])
    with engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM meta")).scalar_one() == 0
    engine.dispose()


def test_a_database_without_a_memory_or_of_another_release_is_refused(urls, tmp_path):
    with pytest.raises(StorageError, match="no database at"):
        copy_database(f"sqlite:///{tmp_path}/nowhere.sqlite", urls[1])
    run(f"sqlite:///{tmp_path}/other.sqlite", "CREATE TABLE mine (x INTEGER)")
    with pytest.raises(StorageError, match="has no memory"):
        copy_database(f"sqlite:///{tmp_path}/other.sqlite", urls[1])
    run(urls[0], "INSERT INTO schema_migrations VALUES ('m999_later', 0)")
    with pytest.raises(SchemaVersionError, match="m999_later"):
        copy_database(*urls)
