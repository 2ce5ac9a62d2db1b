"""Random texts that a store keeps."""

from langchain_memengine.storage.database import Database
from langchain_memengine.storage.drawn_once import drawn_anew, drawn_once
from tests.storage.contract import NOW


def database_of(tmp_path, **options):
    url = f"sqlite:///{tmp_path}/store.sqlite"
    return Database(url, store_id="a", now=NOW, busy_timeout_ms=0, **options)


def test_it_is_drawn_once_for_each_key_and_kept(tmp_path):
    database = database_of(tmp_path)
    one, other = drawn_once(database, "one"), drawn_once(database, "other")
    assert len({one, other}) == 2
    assert {len(one), len(other)} == {32}
    database.close()
    database = database_of(tmp_path)
    assert (drawn_once(database, "one"), drawn_once(database, "other")) == (one, other)
    with database.write() as tx:
        new = drawn_anew(tx, "one")
    assert new != one
    assert drawn_once(database, "one") == new
    database.close()


def test_a_reader_keeps_none(tmp_path):
    database_of(tmp_path).close()
    database = database_of(tmp_path, read_only=True)
    assert drawn_once(database, "one") != drawn_once(database, "one")
    with database.read() as tx:
        assert tx.get_meta("one") is None
    database.close()
