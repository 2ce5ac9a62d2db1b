"""How changes get from the database with transactions to ClickHouse, and what a crash leaves."""

import contextlib
import logging
from dataclasses import replace
from datetime import timedelta

import pytest

from langchain_memengine.errors import ConfigurationError, StorageError, StoreUnreachableError
from langchain_memengine.storage import kept, messages, records
from langchain_memengine.storage.backup import copy_to
from langchain_memengine.storage.beside_clickhouse import DatabaseBesideClickHouse
from langchain_memengine.storage.clickhouse import KEPT, ClickHouse
from langchain_memengine.storage.copying import copy_database
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.record_values import RecordFilter
from langchain_memengine.storage.schema import memories
from langchain_memengine.storage.waiting_schema import waiting
from tests.storage.contract import MANY, NOW
from tests.storage.contract_records import ANN, record


@pytest.fixture
def rest(tmp_path):
    """The address of the database beside ClickHouse."""
    return f"sqlite:///{tmp_path / 'rest.sqlite'}"


@pytest.fixture
def unmoved(monkeypatch):
    """Let nothing be moved, as if the process ended right after each commit."""
    monkeypatch.setattr(DatabaseBesideClickHouse, "move", lambda _: None)
    return monkeypatch


def put(database, *new):
    with database.write() as tx:
        for one in new:
            records.put(tx, one)


def remove(database, *ids):
    with database.write() as tx:
        return records.remove(tx, ids)


def texts(database):
    with database.read() as tx:
        return [one.text for one in records.page(tx, [ANN], RecordFilter(), limit=MANY)]


def here(database, table):
    """Return how many rows of a table are in the database beside ClickHouse."""
    with database.read() as tx:
        tx.clickhouse = None
        return kept.count(tx, table)


def there(clickhouse, database, *, newest=True):
    """Return the words and versions of records in ClickHouse, as another tool sees them."""
    words = "FINAL" if newest else ""
    return clickhouse.query(
        f"SELECT text, version, removed FROM memories {words} "  # noqa: S608
        f"WHERE store_id = '{database.store_id}' ORDER BY version, id"
    )


def test_a_change_is_in_clickhouse_and_nowhere_else_once_it_returned(database, clickhouse):
    put(database, record("a", "tea"))
    put(database, record("a", "чай \\' 🍵"), record("b", "coffee", minutes=-1))
    assert there(clickhouse, database) == ["чай \\\\\\' 🍵\t2\t0", "coffee\t2\t0"]
    assert here(database, memories) == here(database, waiting) == 0
    assert texts(database) == ["чай \\' 🍵", "coffee"]


def test_a_removal_is_a_version_without_words(database, clickhouse):
    put(database, record("a", "tea"), record("b", "coffee"))
    assert remove(database, "a", "x") == 1
    assert there(clickhouse, database) == ["coffee\t1\t0"]
    assert "\t2\t1" in there(clickhouse, database, newest=False)
    assert texts(database) == ["coffee"]
    put(database, record("a", "tea again"))
    assert sorted(texts(database)) == ["coffee", "tea again"]


def test_nothing_of_what_was_rolled_back_reaches_clickhouse(database, clickhouse):
    def fail():
        with database.write() as tx:
            records.put(tx, record("a"))
            records.remove(tx, ["b"])
            raise RuntimeError

    put(database, record("b", "tea"))
    with pytest.raises(RuntimeError):
        fail()
    put(database, record("c", "coffee"))
    assert there(clickhouse, database, newest=False) == ["tea\t1\t0", "coffee\t2\t0"]


def test_what_a_crash_kept_from_being_moved_is_read_and_moved_when_opened(
    opened, clickhouse, unmoved
):
    first = opened()
    put(first, record("a", "tea", minutes=2), record("b", "coffee", minutes=1), record("c"))
    remove(first, "c")
    assert there(clickhouse, first) == []
    assert texts(first) == ["tea", "coffee"]
    assert texts(opened(read_only=True)) == ["tea", "coffee"]
    unmoved.undo()
    second = opened()
    assert there(clickhouse, first) == ["tea\t1\t0", "coffee\t1\t0"]
    assert texts(second) == texts(first) == ["tea", "coffee"]


def test_what_waits_stands_before_what_is_in_clickhouse(opened, unmoved):
    unmoved.undo()
    database = opened()
    put(database, *(record(str(i), f"old {i}", minutes=i) for i in range(4)))
    unmoved.setattr(DatabaseBesideClickHouse, "move", lambda _: None)
    put(database, record("1", "new 1", minutes=1), record("4", "new 4", minutes=4))
    remove(database, "3")
    with database.read() as tx:
        page = records.page(tx, [ANN], RecordFilter(), limit=3)
        assert [one.text for one in page] == ["new 4", "old 2", "new 1"]
        after = records.page(tx, [ANN], RecordFilter(), after=page[-1], limit=3)
        assert [one.text for one in after] == ["old 0"]
        (counted,) = records.counts(tx, None)
        assert counted.records == 4
        assert (counted.first_at, counted.last_at) == (NOW, NOW + timedelta(minutes=4))


def test_moving_again_after_a_crash_in_between_changes_nothing(opened, clickhouse, unmoved):
    database = opened()
    put(database, record("a", "tea"))
    unmoved.undo()
    unmoved.setattr(DatabaseBesideClickHouse, "_no_longer_waiting", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        database.move()
    assert texts(database) == ["tea"]
    unmoved.undo()
    database.move()
    assert there(clickhouse, database) == ["tea\t1\t0"]
    assert texts(database) == ["tea"]


def test_what_changes_while_it_is_moved_waits_for_its_turn(opened, clickhouse, unmoved):
    one, two = opened(), opened()
    put(one, record("a", "old"))
    unmoved.undo()
    add = ClickHouse.add

    def slowly(target, table, versions):
        unmoved.setattr(ClickHouse, "add", add)
        put(two, record("a", "new"))  # is moved before the old version arrives
        add(target, table, versions)

    unmoved.setattr(ClickHouse, "add", slowly)
    one.move()
    assert texts(one) == texts(two) == ["new"]
    assert here(one, waiting) == 0
    assert there(clickhouse, one) == ["new\t2\t0"]


def test_many_changes_of_one_transaction_are_read_in_it_and_moved_in_parts(database):
    with database.write() as tx:
        for number in range(MANY):
            records.put(tx, record(f"{number:064d}", minutes=number))
        assert len(records.page(tx, [ANN], RecordFilter(), limit=2 * MANY)) == MANY
    assert here(database, waiting) == 0
    assert len(texts(database)) == MANY


def test_forgotten_words_are_in_no_version_after_scrubbing(database, clickhouse):
    put(database, record("a", "secret"))
    put(database, record("a", "more secrets"))
    remove(database, "a")
    told = database.scrub()
    assert there(clickhouse, database, newest=False) == ["\t3\t1"]
    assert "some minutes" in told


def test_messages_stand_in_the_order_of_their_links(database):
    said = [messages.StoredMessage("", "t", str(number), f"words {number}") for number in range(5)]
    with database.write() as tx:
        messages.add_to_history(tx, said[3:], now=NOW)
        messages.add_to_history(tx, said[:3], now=NOW)
        messages.archive(tx, "c", list(reversed(said)), now=NOW)
    with database.read() as tx:
        assert messages.history(tx, "", "t") == [said[i].body for i in (3, 4, 0, 1, 2)]
        assert [one.message_id for one in messages.archived(tx, "t", [""])] == list("43210")
    assert all(here(database, table) == 0 for table in KEPT)


def test_a_store_of_one_database_moves_when_it_is_first_opened_beside_clickhouse(
    opened, rest, store_id, clickhouse
):
    with contextlib.closing(
        Database(rest, store_id=f"{store_id}-a", now=NOW, busy_timeout_ms=0)
    ) as before:
        put(before, record("a"), record("b", "coffee", minutes=-1))
    after = opened()
    assert texts(after) == ["tea", "coffee"]
    assert len(there(clickhouse, after)) == 2
    assert here(after, memories) == 0


# What does not go together


def test_a_store_is_refused_without_its_clickhouse(opened, rest):
    database = opened()
    put(database, record("a"))
    with pytest.raises(ConfigurationError, match="are in ClickHouse"):
        Database(rest, store_id=database.store_id, now=NOW, busy_timeout_ms=0)
    Database(rest, store_id="another", now=NOW, busy_timeout_ms=0).close()


def test_a_store_is_refused_with_another_database_beside_it(opened, clickhouse, tmp_path):
    database = opened()
    put(database, record("a"))
    other = f"sqlite:///{tmp_path / 'other.sqlite'}"
    given = {"store_id": database.store_id, "now": NOW, "busy_timeout_ms": 0}
    with pytest.raises(ConfigurationError, match="do not belong together"):
        DatabaseBesideClickHouse(other, clickhouse.url, **given)
    assert texts(database) == ["tea"]


def test_an_older_copy_of_the_database_beside_it_is_refused(opened, tmp_path):
    database = opened()
    put(database, record("a", "old"))
    file, copy = tmp_path / "rest.sqlite", tmp_path / "copy.sqlite"
    database.close()
    copy.write_bytes(file.read_bytes())
    later = opened()
    put(later, record("a", "new"))
    later.close()
    file.write_bytes(copy.read_bytes())
    with pytest.raises(StorageError, match="older copy"):
        opened()


def test_a_crash_while_two_databases_are_paired_is_made_good(opened, unmoved):
    unmoved.setattr(ClickHouse, "set_pair", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        opened()
    unmoved.undo()
    put(opened(), record("a"))
    assert texts(opened()) == ["tea"]


def test_the_database_beside_it_is_neither_copied_nor_backed_up_alone(database, rest, tmp_path):
    with pytest.raises(StorageError, match="memengine export"):
        copy_database(rest, f"sqlite:///{tmp_path / 'copy.sqlite'}")
    with pytest.raises(StorageError, match="BACKUP DATABASE"):
        copy_to(database, tmp_path / "copy")


# Without ClickHouse


def test_a_change_that_cannot_be_moved_is_stored_and_said_to_wait(opened, monkeypatch, caplog):
    database = opened()

    def unreachable(*_):
        raise StoreUnreachableError("no answer")

    with monkeypatch.context() as patched, caplog.at_level(logging.WARNING):
        patched.setattr(ClickHouse, "add", unreachable)
        put(database, replace(record("a"), text="private words"))
        assert "ClickHouse, until it has heard" in database.scrub()
    assert "not in ClickHouse yet" in caplog.text
    assert "private" not in caplog.text
    put(database, record("b"))
    assert sorted(texts(database)) == ["private words", "tea"]
    assert here(database, waiting) == 0
