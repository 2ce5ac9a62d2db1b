"""What every database must do for items of stores and originals of documents."""

from dataclasses import replace
from datetime import timedelta

from langchain_memengine.storage import originals, store_items, stored_chunks
from langchain_memengine.storage.item_values import StoredItem, root_of
from langchain_memengine.storage.originals import Original
from langchain_memengine.types import (
    Provenance,
)
from tests.storage.contract import MANY, NOW, keep

LATER = NOW + timedelta(minutes=10)
ODD = ("a", "A", "a,", '"a"', "a\0", "\ud800", "é", "e\u0301", "%", "_", "")


def item(*namespace, key="k", at=NOW, **fields):
    return StoredItem(
        namespace, key, {"n": 1}, indexed=True, created_at=at, updated_at=at, **fields
    )


def put(database, *items):
    with database.write() as tx:
        store_items.put(tx, items)


class ItemContract:
    """Item rows."""

    def test_an_item_comes_back_as_it_was(self, database):
        kept = item("a", "b", ttl=timedelta(minutes=1), expires_at=NOW + timedelta(minutes=1))
        put(database, kept)
        with database.read() as tx:
            assert store_items.by_sources(tx, [kept.source, "x"], NOW) == {kept.source: kept}

    def test_labels_and_keys_of_any_characters_are_told_apart(self, database):
        items = [item(label, key=key) for label in ODD for key in ODD]
        put(database, *items)
        with database.read() as tx:
            for label in ODD:
                found = store_items.under(tx, (label,), NOW)
                assert sorted(one.key for one in found) == sorted(ODD)
                assert {one.namespace for one in found} == {(label,)}
            assert sorted(store_items.namespaces(tx, NOW)) == sorted((label,) for label in ODD)
            assert store_items.roots(tx) == sorted(root_of((label,)) for label in ODD)

    def test_items_under_a_namespace_are_listed_by_their_age_in_pages(self, database):
        put(database, item("a", "b", key="2", at=LATER), item("a", key="1"), item("ab", key="0"))
        with database.read() as tx:
            assert [one.key for one in store_items.under(tx, ("a",), LATER)] == ["1", "2"]
            assert [one.key for one in store_items.under(tx, (), LATER)] == ["1", "0", "2"]
            assert [one.key for one in store_items.under(tx, ("a", "b"), LATER)] == ["2"]
            page = store_items.under(tx, (), LATER, limit=1, offset=1)
            assert [one.key for one in page] == ["0"]

    def test_the_values_under_a_namespace_are_those_of_its_items(self, database):
        put(database, *(item(label, key=key) for label in ODD for key in "ab"))
        put(database, item("a", "deep", at=LATER), item("a", key="gone", expires_at=NOW))
        with database.read() as tx:
            for prefix in [(), ("none",), ("a", "deep"), *((label,) for label in ODD)]:
                found = store_items.values_under(tx, prefix, LATER)
                listed = store_items.under(tx, prefix, LATER)
                assert found == [(one.source, '{"n": 1}') for one in listed]

    def test_a_replaced_item_keeps_its_creation_unless_it_had_expired(self, database):
        put(database, item("a"), item("b", expires_at=LATER))
        put(database, item("a", at=LATER), item("b", at=LATER))
        with database.read() as tx:
            kept, new = store_items.under(tx, (), LATER)
        assert (kept.created_at, kept.updated_at) == (NOW, LATER)
        assert new.created_at == LATER

    def test_expired_items_are_nowhere_but_in_the_sweep(self, database):
        gone = item("a", expires_at=LATER)
        put(database, gone, item("b"))
        with database.write() as tx:
            assert len(store_items.under(tx, (), LATER - timedelta(milliseconds=1))) == 2
            assert [one.namespace for one in store_items.under(tx, (), LATER)] == [("b",)]
            assert store_items.namespaces(tx, LATER) == [("b",)]
            assert store_items.by_sources(tx, [gone.source], LATER) == {}
            assert store_items.expired(tx, NOW, limit=9) == []
            assert store_items.expired(tx, LATER, limit=9) == [gone.source]
            assert store_items.expired(tx, LATER, limit=0) == []
            store_items.remove(tx, [gone.source])
            assert store_items.expired(tx, LATER, limit=9) == []

    def test_refreshing_moves_items_and_their_chunks(self, database):
        ttl = timedelta(minutes=20)
        short = item("a", ttl=ttl, expires_at=LATER)
        forever, gone = item("b"), item("c", ttl=ttl, expires_at=NOW)
        put(database, short, forever, gone)
        (chunk,) = keep(
            database, "tea", source=short.source, provenance=Provenance(expires_at=LATER)
        )
        seq = self.changes(database)
        with database.write() as tx:
            store_items.refresh(tx, [short.source, forever.source, gone.source], NOW)
        with database.read() as tx:
            found = store_items.by_sources(tx, [short.source, forever.source, gone.source], NOW)
            assert found == {
                short.source: replace(short, expires_at=NOW + ttl),
                forever.source: forever,
            }
            stored = stored_chunks.by_id(tx, chunk.id, partitions=["shared"])
            assert stored.provenance.expires_at == NOW + ttl
        assert self.changes(database) == seq  # no index has to follow

    def changes(self, database):
        with database.read() as tx:
            return tx.counters().changes

    def test_many_items_at_once(self, database):
        items = [item("a", key=str(i)) for i in range(MANY)]
        put(database, *items)
        with database.write() as tx:
            assert len(store_items.by_sources(tx, [one.source for one in items], NOW)) == MANY
            store_items.remove(tx, [one.source for one in items])
            assert store_items.under(tx, (), NOW) == []
            store_items.put(tx, [])

    def test_originals_come_back_until_the_chunks_of_their_source_change(self, database):
        kept = Original("one\n\ntwo\n", {"a": [1, None]})
        with database.write() as tx:
            originals.put(tx, {"doc:/1": kept, "doc:/2": kept})
        with database.read() as tx:
            assert originals.by_sources(tx, ["doc:/1", "doc:/3"]) == {"doc:/1": kept}
        keep(database, "other", source="doc:/1")
        with database.read() as tx:
            assert originals.by_sources(tx, ["doc:/1", "doc:/2"]) == {"doc:/2": kept}
