"""What every database must do with chunks that are hidden behind others."""

from datetime import timedelta

from langchain_memengine.storage import chunks, hidden_chunks, stored_chunks
from langchain_memengine.storage.record_values import Hiding
from langchain_memengine.types import (
    Chunk,
    Provenance,
)
from tests.storage.contract import NOW

BEHIND_A = Hiding("a", NOW)


def put(database, *ids, source="doc:/{}", **provenance):
    """Store one chunk of a source each; return their numbers."""
    new = {}
    for one in ids:
        uri = source.format(one)
        chunk = Chunk(one, uri, 0, 1, 1, 3, f"text of {one}", f"hash of {one}")
        new[uri] = [(chunk, Provenance(**provenance))]
    with database.write() as tx:
        chunks.replace_sources(tx, new, now=NOW)
        return {stored.id: num for num, stored in everything(tx).items() if stored.id in ids}


def everything(tx):
    nums = [row.num for row in chunks.index_rows(tx, "shared")]
    return stored_chunks.visible_by_num(tx, nums, partitions=["shared"], now=NOW)


class HidingContract:
    def test_what_is_hidden_comes_back_as_it_was_put_and_can_be_shown(self, database):
        with database.write() as tx:
            hidden_chunks.put(tx, [("b", BEHIND_A), ("c", Hiding("b", NOW + timedelta(days=1)))])
            hidden_chunks.put(tx, [("b", Hiding("x", NOW)), ("d", None)])
        with database.read() as tx:
            found = hidden_chunks.of_chunks(tx, ["a", "b", "c", "d"])
        assert found == {"b": Hiding("x", NOW), "c": Hiding("b", NOW + timedelta(days=1))}
        with database.write() as tx:
            hidden_chunks.put(tx, [("b", None)])
        with database.read() as tx:
            assert list(hidden_chunks.of_chunks(tx, ["b", "c"])) == ["c"]

    def test_a_change_is_counted_and_none_is_not(self, database):
        with database.read() as tx:
            before = tx.counters()
        with database.write() as tx:
            hidden_chunks.put(tx, [])
            hidden_chunks.forget(tx, ["b"])
        with database.read() as tx:
            assert tx.counters() == before
        with database.write() as tx:
            hidden_chunks.put(tx, [("b", BEHIND_A)])
        with database.read() as tx:
            after = tx.counters()
        assert (after.changes, after.commits) == (before.changes + 1, before.commits + 1)

    def test_a_chunk_is_hidden_while_both_are_stored(self, database):
        nums = put(database, "a", "b")
        with database.write() as tx:
            hidden_chunks.put(tx, [("b", BEHIND_A), ("gone", BEHIND_A), ("a", Hiding("gone", NOW))])
        with database.read() as tx:
            (pair,) = hidden_chunks.standing(tx, "shared")
            assert pair[:2] == (nums["b"], nums["a"])
            assert hidden_chunks.standing(tx, "personal/ann") == []
        with database.write() as tx:
            chunks.replace_sources(tx, {"doc:/a": []}, now=NOW)
        with database.read() as tx:
            assert hidden_chunks.standing(tx, "shared") == []

    def test_candidates_are_those_that_are_always_and_everywhere_found(self, database):
        put(database, "a", "b")
        put(database, "c", commit_id="c1")
        put(database, "d", valid_from=NOW)
        put(database, "e", expires_at=NOW + timedelta(days=1))
        put(database, "f", source="record:{}")
        put(database, "g", scope="personal", owner="ann")
        with database.read() as tx:
            found = hidden_chunks.candidates(tx, "shared", ["doc:", "file:"])
            assert [one.id for one in found] == ["a", "b"]
            assert hidden_chunks.candidates(tx, "shared", ["DOC:"]) == []
            assert hidden_chunks.partitions(tx) == ["personal/ann", "shared"]
        with database.write() as tx:
            hidden_chunks.put(tx, [("b", BEHIND_A), ("a", Hiding("gone", NOW))])
        with database.read() as tx:
            found = hidden_chunks.candidates(tx, "shared", ["doc:"])
            assert [one.id for one in found] == ["a"]

    def test_what_is_forgotten_leaves_no_trace_on_either_side(self, database):
        with database.write() as tx:
            hidden_chunks.put(tx, [("b", BEHIND_A), ("c", Hiding("b", NOW)), ("d", BEHIND_A)])
            hidden_chunks.forget(tx, ["b"])
        with database.read() as tx:
            assert list(hidden_chunks.of_chunks(tx, ["b", "c", "d"])) == ["d"]
