"""What every database must do with records, revisions and supersessions."""

from dataclasses import replace
from datetime import timedelta

import pytest

from langchain_memengine.answers import as_json
from langchain_memengine.errors import NotFoundError
from langchain_memengine.storage import (
    chunks,
    commit_chunks,
    quarantines,
    records,
    revisions,
    supersessions,
)
from langchain_memengine.storage.record_json import (
    record_from_json,
    state_from_json,
    state_json,
)
from langchain_memengine.storage.record_values import (
    MemoryRecord,
    Quarantine,
    RecordFilter,
    RecordState,
    Revision,
    Supersession,
)
from langchain_memengine.types import (
    Chunk,
    Provenance,
)
from tests.storage.contract import NOW

ANN = ("personal", "ann")


def record(one, text="tea", place=ANN, minutes=0, **values):
    scope, owner = place
    at = NOW + timedelta(minutes=minutes)
    known = {"metadata": {}, "origin": "user", "trust": "trusted", "thread_id": None}
    known |= {"commit_id": None, "created_at": at, "updated_at": at}
    return MemoryRecord(id=one, scope=scope, owner=owner, text=text, **{**known, **values})


class RecordContract:
    def test_a_record_comes_back_as_it_was(self, database):
        full = record(
            "a", "чай 🍵\n", metadata={"a": [1, None, {"é": 0.5}]}, thread_id="t", commit_id="c",
            valid_from=NOW, expires_at=NOW + timedelta(days=1), source="chat/1",
        )  # fmt: skip
        with database.write() as tx:
            records.put(tx, record("a", "first"))
            records.put(tx, full)
            records.put(tx, record("b"))
        with database.read() as tx:
            assert records.by_ids(tx, ["a", "x"]) == {"a": full}
            assert tx.counters().changes == 1
        assert record_from_json(as_json(full)) == full

    def test_pages_are_newest_first_and_only_of_readable_places(self, database):
        new = [record(str(i), minutes=i // 2) for i in range(5)]
        with database.write() as tx:
            for one in (*new, record("bob", place=("personal", "bob"), minutes=9)):
                records.put(tx, one)
        with database.read() as tx:
            first = records.page(tx, [ANN], RecordFilter(), limit=3)
            rest = records.page(tx, [ANN], RecordFilter(), after=first[-1], limit=3)
            assert [one.id for one in [*first, *rest]] == ["4", "2", "3", "0", "1"]
            assert records.page(tx, [("global", "")], RecordFilter(), limit=3) == []
            assert records.page(tx, [], RecordFilter(), limit=3) == []

    def test_what_is_quarantined_is_known_by_its_sources(self, database):
        exact, prefix = (
            Quarantine(source, "чай", "root", NOW) for source in ("record:a", "web/A_*")
        )
        with database.write() as tx:
            assert quarantines.hidden_sources(tx) == frozenset()
            for one, source in (("a", ""), ("b", "web/A_1"), ("c", "web/a_1"), ("d", "web/Ax1")):
                records.put(tx, record(one, source=source))
            for one in (exact, prefix):
                quarantines.put(tx, one.target_id, one)
        with database.read() as tx:
            assert quarantines.everything(tx) == [exact, prefix]
            assert quarantines.of_targets(tx, ["a", "b"]) == {"a": exact}
            assert quarantines.hidden_sources(tx) == {"record:a", "record:b"}
            before = tx.counters()
            state = RecordState(quarantine=prefix)
            assert state_from_json(state_json(state)) == state
        with database.write() as tx:
            quarantines.put(tx, prefix.target_id, None)
            assert quarantines.forget(tx, ["record:a", "record:b"]) == 1
        with database.read() as tx:
            assert quarantines.everything(tx) == []
            assert tx.counters().changes > before.changes
            assert tx.counters().commits > before.commits

    def test_sources_with_wild_cards_of_sql_mean_themselves(self, database):
        with database.write() as tx:
            for one, source in (("a", "x_y%z"), ("b", "xay-z"), ("c", "x_y%z/1")):
                records.put(tx, record(one, source=source))
        with database.read() as tx:
            for source, found in (("x_y%*", {"a", "c"}), ("x_y%z", {"a"}), ("*", {"a", "b", "c"})):
                page = records.page(tx, [ANN], RecordFilter(source=source), limit=9)
                assert {one.id for one in page} == found

    def test_expired_records_are_found_and_removed(self, database):
        with database.write() as tx:
            records.put(tx, record("a", expires_at=NOW))
            records.put(tx, record("b", expires_at=NOW + timedelta(milliseconds=1)))
            assert [one.id for one in records.expired(tx, None, NOW)] == ["a"]
            assert records.expired(tx, [("global", "")], NOW) == []
            assert records.remove(tx, ["a", "x"]) == 1
            assert records.by_ids(tx, ["a", "b"]).keys() == {"b"}

    def test_counts_say_who_wrote_what(self, database):
        with database.write() as tx:
            records.put(tx, record("a"))
            records.put(tx, record("b", minutes=1))
            records.put(tx, record("c", place=("global", ""), origin="tool"))
            counted = records.counts(tx, None)
            assert [(c.scope, c.owner, c.origin, c.records) for c in counted] == [
                ("global", "", "tool", 1),
                ("personal", "ann", "user", 2),
            ]
            assert (counted[1].first_at, counted[1].last_at) == (NOW, NOW + timedelta(minutes=1))
            assert len(records.counts(tx, [ANN])) == 1

    def test_revisions_are_kept_in_order_until_they_are_forgotten(self, database):
        before = RecordState(record("a"))
        over = (Supersession("a", "b", "c", NOW, 0.5),)
        new = [
            Revision(
                "000001", "update", "a", NOW, "c", before, RecordState(record("a", "x"), over)
            ),
            Revision("000000", "add", "a", NOW, None, RecordState(), before),
            Revision("1-000000", "add", "b", NOW),
        ]
        with database.write() as tx:
            revisions.put(tx, new)
        with database.write() as tx:
            assert revisions.of_records(tx, ["a"]) == [new[1], new[0]]
            assert revisions.get(tx, "000001") == new[0]
            assert revisions.known(tx, ["000000", "x"]) == {"000000"}
            first, *rest = revisions.latest(tx, limit=2)
            assert [first, *rest, *revisions.latest(tx, before=rest[-1], limit=9)] == sorted(
                new, key=lambda one: (one.at, one.id), reverse=True
            )
            assert revisions.forget(tx, ["a"]) == 2
            assert revisions.forget(tx, ["a"]) == 0
            left = revisions.get(tx, "000001")
            assert left == replace(
                new[0], kind="forgotten", before=RecordState(), after=RecordState()
            )
            assert revisions.get(tx, "1-000000") == new[2]
            with pytest.raises(NotFoundError):
                revisions.get(tx, "x")
        assert state_from_json(state_json(new[0].after)) == new[0].after

    def test_supersessions_are_replaced_as_a_whole_and_move_the_counter(self, database):
        first = Supersession("a", "b", None, NOW)
        second = Supersession("a", "c", "commit", NOW, 0.9)
        with database.write() as tx:
            supersessions.replace(tx, "a", [first, second])
            supersessions.replace(tx, "x", [Supersession("x", "a", None, NOW)])
        with database.read() as tx:
            assert supersessions.of_records(tx, ["a", "b"]) == [first, second]
            assert len(supersessions.everything(tx)) == 3
            before = tx.counters()
        with database.write() as tx:
            supersessions.replace(tx, "a", [second])
            supersessions.remove(tx, ["x"])
        with database.read() as tx:
            assert supersessions.everything(tx) == [second]
            assert tx.counters().commits == before.commits + 1
            assert tx.counters().changes == before.changes + 1

    def test_chunks_that_are_not_valid_for_ever_are_listed(self, database):
        limits = {"a": (None, None), "b": (NOW, None), "c": (None, NOW)}
        pairs = {
            f"doc:/{one}": [
                (
                    Chunk(one * 64, f"doc:/{one}", 0, 1, 1, 1, one, one * 64),
                    Provenance(valid_from=begins, expires_at=ends),
                )
            ]
            for one, (begins, ends) in limits.items()
        }
        with database.write() as tx:
            chunks.replace_sources(tx, pairs, now=NOW)
        with database.read() as tx:
            nums = {row.text: row.num for row in chunks.index_rows(tx, "shared")}
            at = int(NOW.timestamp() * 1000)
            assert sorted(commit_chunks.limited(tx, "shared")) == sorted(
                [(nums["b"], at, None), (nums["c"], None, at)]
            )
            assert commit_chunks.limited(tx, "personal/ann") == []
