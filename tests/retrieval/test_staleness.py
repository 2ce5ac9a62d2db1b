"""Counters that are asked for now and then never tell of another moment than a view shows."""

import pytest

from langchain_memengine.retrieval.staleness import KnownCounters
from langchain_memengine.storage.database import Database
from tests.fakes.clock import START


@pytest.fixture
def opened(tmp_path):
    """Return a function that opens the same database once more, as another process does."""
    databases = []

    def opened():
        url = f"sqlite:///{tmp_path / 'memory.sqlite'}"
        databases.append(Database(url, store_id="s", now=START, busy_timeout_ms=0))
        return databases[-1]

    yield opened
    for database in databases:
        database.close()


def touch(database):
    with database.write() as tx:
        tx.touch()


def test_counters_of_a_view_from_before_a_write_are_not_used_after_it(opened):
    database = opened()
    known = KnownCounters(database, 10)
    with database.read() as old:
        old.counters()  # what it shows is settled here
        touch(database)
        assert known.at(old, START).changes == 0
    with database.read() as tx:
        assert known.at(tx, START).changes == 1


def test_an_older_view_gets_no_counters_of_a_newer_one(opened):
    database, other = opened(), opened()
    known = KnownCounters(database, 10)
    with database.read() as old:
        old.counters()
        touch(other)
        with database.read() as new:
            assert known.at(new, START).changes == 1
        assert known.at(old, START).changes == 0
