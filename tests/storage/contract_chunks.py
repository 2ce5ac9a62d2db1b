"""What every database must do with chunks and their embeddings."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from langchain_memengine.errors import NotFoundError
from langchain_memengine.storage import (
    chunks,
    commit_chunks,
    embeddings,
    stored_chunks,
    tombstones,
)
from langchain_memengine.storage.chunk_values import FilterRow, IndexRow
from langchain_memengine.storage.database import Database
from langchain_memengine.types import Provenance
from tests.storage.contract import MANY, NOW, counters, keep, piece

ANNA = Provenance(scope="personal", owner="anna")
BERT = Provenance(scope="personal", owner="bert")
TEXTS = [
    "",
    "plain\r\nlines\ttabs\n",
    "naïve ﬁ 故乡 끝말잇기 עברית",
    "😀 𝔊 𠮷 👩‍👩‍👧",
    "quote ' \" \\ % _ ; -- :name ?",
    "long " * 40_000,
]


def numbers(database: Database, partition: str = "shared") -> dict[str, int]:
    with database.read() as tx:
        return {row.text: row.num for row in chunks.index_rows(tx, partition)}


class ChunkContract:
    """Chunk rows."""

    def test_replacing_keeps_the_rows_of_unchanged_chunks(self, database):
        keep(database, "one", "two", "three")
        before = numbers(database)
        keep(database, "one", "2", "three")
        after = numbers(database)
        assert set(after) == {"one", "2", "three"}
        assert (after["one"], after["three"]) == (before["one"], before["three"])
        assert after["2"] > max(before.values())

    def test_replacing_by_the_same_changes_nothing(self, database):
        keep(database, "one", "two")
        keep(database, "one", "two", now=NOW + timedelta(days=1))
        assert counters(database).changes == 1

    def test_a_chunk_that_carries_something_else_gets_a_new_row(self, database):
        keep(database, "one", provenance=Provenance(metadata={"tag": "a"}))
        (old,) = numbers(database).values()
        keep(database, "one", provenance=Provenance(metadata={"tag": "b"}))
        (new,) = numbers(database).values()
        assert new > old
        with database.read() as tx:
            assert tombstones.removed_nums(tx, "shared", after_seq=1) == [old]

    def test_one_batch_takes_one_number_of_the_change_counter(self, database):
        keep(database, "one", "two")
        new = [(piece("three", source="doc:/2"), Provenance())]
        with database.write() as tx:
            assert chunks.replace_sources(tx, {"doc:/1": [], "doc:/2": new}, now=NOW) == 2
        assert counters(database).changes == 2

    def test_no_chunks_remove_a_source_and_only_that(self, database):
        keep(database, "one", "two")
        keep(database, "other", source="doc:/2")
        keep(database, source="doc:/1")
        assert set(numbers(database)) == {"other"}

    def test_removing_an_unknown_source_changes_nothing(self, database):
        keep(database, source="doc:/never")
        assert counters(database).changes == 0

    def test_followers_see_what_came_and_went_after_a_number(self, database):
        keep(database, "one", "two")
        gone = numbers(database)["two"]
        keep(database, "one", "three")
        with database.read() as tx:
            assert [row.text for row in chunks.index_rows(tx, "shared", after_seq=0)] == [
                "one",
                "three",
            ]
            assert [row.text for row in chunks.index_rows(tx, "shared", after_seq=1)] == ["three"]
            assert chunks.index_rows(tx, "shared", after_seq=2) == []
            assert tombstones.removed_nums(tx, "shared", after_seq=1) == [gone]
            assert tombstones.removed_nums(tx, "shared", after_seq=2) == []
            assert tombstones.removed_nums(tx, "personal/anna", after_seq=0) == []

    def test_old_tombstones_go_and_who_follows_from_before_is_told(self, database):
        late = NOW + tombstones.KEPT + timedelta(milliseconds=1)
        keep(database, "one", "two")
        keep(database, "one")
        (_, three) = keep(database, "one", "three", now=late)
        gone = numbers(database)["three"]
        keep(database, "one", now=late)
        with database.write() as tx:
            assert tombstones.prune(tx, now=NOW + tombstones.KEPT) == 0
            assert tombstones.removed_nums(tx, "shared", after_seq=0) is not None
        with database.write() as tx:
            assert tombstones.prune(tx, now=late) == 1
        with database.write() as tx:
            assert tombstones.prune(tx, now=late) == 0
            assert tombstones.removed_nums(tx, "shared", after_seq=1) is None
            assert tombstones.removed_ids(tx, after_seq=1) is None
            assert tombstones.removed_nums(tx, "shared", after_seq=2) == [gone]
            assert tombstones.removed_ids(tx, after_seq=2) == [three.id]
            assert tombstones.removed_nums(tx, "shared", after_seq=4) == []
        assert counters(database).changes == 4

    def test_many_old_tombstones_go_in_parts(self, database, monkeypatch):
        monkeypatch.setattr(tombstones, "MAX_PRUNED", 2)
        for texts in (("one", "two", "three"), ("four",), ("five",), ()):
            keep(database, *texts)  # removes 0, 3, 1 and 1
        late = NOW + tombstones.KEPT * 2
        left = []
        for _ in range(3):
            with database.write() as tx:
                left.append(tombstones.prune(tx, now=late))
        assert left == [3, 2, 0]

    def test_numbers_are_never_used_twice(self, database):
        keep(database, "one", "two")
        used = set(numbers(database).values())
        keep(database)
        assert numbers(database) == {}
        keep(database, "one", "two")
        assert min(numbers(database).values()) > max(used)

    def test_chunks_move_to_another_partition_with_their_scope(self, database):
        (one,) = keep(database, "one")
        (old,) = numbers(database).values()
        keep(database, "one", provenance=ANNA)
        assert numbers(database) == {}
        assert set(numbers(database, "personal/anna")) == {"one"}
        with database.read() as tx:
            assert tombstones.removed_nums(tx, "shared", after_seq=0) == [old]
            with pytest.raises(NotFoundError):
                stored_chunks.by_id(tx, one.id, partitions=["shared"])

    def test_index_and_filter_rows_hold_what_the_indexes_need(self, database):
        moment = datetime(1970, 1, 1, 0, 0, 2, 500_000, tzinfo=UTC)
        keep(
            database,
            "text",
            source="file:w/a.md",
            provenance=Provenance(
                path="a.md", workspace_id="w", event_at=moment, metadata={"b": 1, "a": "é"}
            ),
        )
        (num,) = numbers(database).values()
        with database.read() as tx:
            assert chunks.index_rows(tx, "shared") == [
                IndexRow(
                    num,
                    "text",
                    "",
                    "a.md",
                    piece("text").hash,
                    2500,
                    None,
                    '{"a": "é", "b": 1}',
                    "w",
                    0,
                )
            ]
            assert chunks.filter_rows(tx, "shared") == {
                num: FilterRow("a.md", "file:w/a.md", "global", '{"a": "é", "b": 1}')
            }
            assert chunks.filter_rows(tx, "personal/anna") == {}

    @pytest.mark.parametrize("text", TEXTS, ids=lambda text: text[:12])
    def test_text_comes_back_verbatim(self, database, text):
        (one,) = keep(database, text)
        with database.read() as tx:
            assert stored_chunks.by_id(tx, one.id, partitions=["shared"]).chunk == one

    def test_everything_a_chunk_carries_comes_back(self, database):
        provenance = Provenance(
            scope="personal",
            owner="anna",
            origin="file",
            trust="untrusted",
            path="users/anna/ü.md",
            workspace_id="w",
            thread_id="t 🜁",
            commit_id="c" * 64,
            event_at=datetime(1969, 7, 20, 20, 17, 40, 123_000, tzinfo=UTC),
            valid_from=NOW - timedelta(days=1),
            expires_at=NOW + timedelta(days=1),
            metadata={
                "text": "é 😀",
                "int": 2**53,
                "float": 0.1,
                "bool": True,
                "none": None,
                "list": [1, "a", [], False],
                "nested": {"": {}},
            },
        )
        (one,) = keep(database, "text", source="file:w/users/anna/ü.md", provenance=provenance)
        with database.read() as tx:
            found = stored_chunks.by_id(tx, one.id, partitions=["personal/anna"])
        assert (found.chunk, found.provenance) == (one, provenance)

    def test_an_id_is_found_in_readable_partitions_only(self, database):
        (one,) = keep(database, "one", provenance=ANNA)
        with database.read() as tx:
            assert (
                stored_chunks.by_id(tx, one.id, partitions=["shared", "personal/anna"]).chunk == one
            )
            with pytest.raises(NotFoundError, match=one.id):
                stored_chunks.by_id(tx, one.id, partitions=["shared", "personal/bert"])
            with pytest.raises(NotFoundError, match="'nobody'"):
                stored_chunks.by_id(tx, "nobody", partitions=["shared"])

    def test_chunks_of_a_memory_are_found_by_its_source_else_by_its_path(self, database):
        (text,) = keep(database, "a text", source="doc:/kiln.md")
        in_file = Provenance(path="kiln.md", workspace_id="w", origin="file")
        lines = keep(database, "one", "two", source="file:w/kiln.md", provenance=in_file)
        keep(database, "anna's", source="doc:anna/1", provenance=ANNA)
        with database.read() as tx:

            def ids(*sources, path="kiln.md"):
                found = stored_chunks.of_memory(tx, sources, path=path, partitions=["shared"])
                return [one.id for one in found]

            assert ids("doc:/kiln.md") == [text.id]
            assert ids("doc:/another") == [one.id for one in lines]
            assert ids("doc:anna/1", path="users/anna/kiln.md") == []

    def test_numbers_are_visible_in_readable_partitions_only(self, database):
        keep(database, "all")
        keep(database, "anna's", source="doc:anna/1", provenance=ANNA)
        keep(database, "bert's", source="doc:bert/1", provenance=BERT)
        nums = [
            num
            for key in ("shared", "personal/anna", "personal/bert")
            for num in numbers(database, key).values()
        ]
        with database.read() as tx:
            found = stored_chunks.visible_by_num(
                tx, [*nums, 999], partitions=["shared", "personal/anna"], now=NOW
            )
            assert {num: row.chunk.text for num, row in found.items()} == {
                nums[0]: "all",
                nums[1]: "anna's",
            }
            assert stored_chunks.visible_by_num(tx, nums, partitions=[], now=NOW) == {}
            assert stored_chunks.visible_by_num(tx, [], partitions=["shared"], now=NOW) == {}

    def test_chunks_are_found_by_commit_and_by_the_time_they_were_stored(self, database):
        keep(database, "old", source="doc:/1")
        later = NOW + timedelta(hours=1)
        learnt = Provenance(thread_id="t", commit_id="c")
        keep(database, "learnt", source="doc:/2", provenance=learnt, now=later)
        keep(database, "file", source="file:w/a", provenance=Provenance(path="a"), now=later)
        keep(database, "new", source="doc:/3", now=later)
        with database.read() as tx:
            nums = {row.text: row.num for row in chunks.index_rows(tx, "shared")}
            assert commit_chunks.nums_of_commits(tx, "shared", ["c", "d"]) == [nums["learnt"]]
            assert commit_chunks.nums_of_commits(tx, "personal/a", ["c"]) == []
            assert commit_chunks.nums_stored_after(tx, "shared", NOW) == [nums["new"]]
            assert commit_chunks.nums_stored_after(tx, "shared", later) == []

    def test_chunks_of_a_hidden_commit_are_not_visible(self, database):
        keep(database, "learnt", source="doc:/2", provenance=Provenance(commit_id="c"))
        keep(database, "free", source="doc:/3")
        with database.read() as tx:
            nums = [row.num for row in chunks.index_rows(tx, "shared")]
            for hidden, found in (
                ({"c"}, ["free"]),
                ({"d"}, ["learnt", "free"]),
                ((), ["learnt", "free"]),
            ):
                rows = stored_chunks.visible_by_num(
                    tx, nums, partitions=["shared"], now=NOW, hidden=hidden
                )
                assert [row.text for row in rows.values()] == found

    def test_chunks_are_read_by_id_as_far_as_they_may_be_read(self, database):
        (free,) = keep(database, "free", source="doc:/1")
        (mine,) = keep(database, "mine", source="doc:/2", provenance=Provenance("personal", "ann"))
        (old,) = keep(database, "old", source="doc:/3", provenance=Provenance(expires_at=NOW))
        with database.read() as tx:
            ids = [free.id, mine.id, old.id, "x"]
            assert stored_chunks.by_ids(tx, ids, partitions=["shared"], now=NOW).keys() == {free.id}
            both = ["shared", "personal/ann"]
            assert stored_chunks.by_ids(tx, ids, partitions=both, now=NOW).keys() == {
                free.id,
                mine.id,
            }

    def test_a_chunk_is_visible_from_its_first_to_before_its_last_moment(self, database):
        start, end = NOW, NOW + timedelta(hours=1)
        keep(database, "one", provenance=Provenance(valid_from=start, expires_at=end))
        (num,) = numbers(database).values()
        tick = timedelta(milliseconds=1)
        moments = [start - tick, start, end - tick, end]
        with database.read() as tx:
            seen = [
                num in stored_chunks.visible_by_num(tx, [num], partitions=["shared"], now=moment)
                for moment in moments
            ]
        assert seen == [False, True, True, False]

    def test_scopes_of_sources_tells_known_ones(self, database):
        keep(database, "one", "two")
        keep(database, "three", source="doc:anna/1", provenance=ANNA)
        with database.read() as tx:
            asked = ["doc:anna/1", "doc:/1", "doc:/none"]
            assert chunks.scopes_of_sources(tx, asked) == {
                "doc:/1": ("global", ""),
                "doc:anna/1": ("personal", "anna"),
            }
            assert chunks.scopes_of_sources(tx, []) == {}

    def test_thousands_of_chunks_go_through_every_call(self, database):
        sources = {
            f"doc:/{n}": [(piece(f"text {n}", source=f"doc:/{n}"), Provenance())]
            for n in range(MANY)
        }
        with database.write() as tx:
            chunks.replace_sources(tx, sources, now=NOW)
        nums = list(numbers(database).values())
        assert nums == sorted(set(nums))
        with database.read() as tx:
            assert chunks.count(tx) == MANY
            assert len(chunks.scopes_of_sources(tx, list(sources))) == MANY
            found = stored_chunks.visible_by_num(tx, nums, partitions=["shared"], now=NOW)
            assert len(found) == MANY
        with database.write() as tx:
            chunks.replace_sources(tx, dict.fromkeys(sources, ()), now=NOW)
            assert chunks.count(tx) == 0
            assert sorted(tombstones.removed_nums(tx, "shared", after_seq=1)) == nums
        assert counters(database).changes == 2


class EmbeddingContract:
    """Embedding rows."""

    def put(self, database, vectors, model="m", *, touch=False):
        by_hash = {piece(text).hash: np.asarray(v, np.float32) for text, v in vectors.items()}
        with database.write() as tx:
            embeddings.put(tx, by_hash, model, touch=touch)

    def test_vectors_come_back_by_chunk_number(self, database):
        keep(database, "one", "two")
        self.put(database, {"two": [0.1, -2e-30, 3e30], "one": [1, 0, 0]})
        with database.read() as tx:
            nums, vectors = embeddings.vectors_of_partition(tx, "shared", "m")
        assert nums.tolist() == list(numbers(database).values())
        assert (nums.dtype, vectors.dtype) == (np.int64, np.float32)
        expected = np.asarray([[1, 0, 0], [0.1, -2e-30, 3e30]], np.float32)
        np.testing.assert_array_equal(vectors, expected, strict=True)

    def test_no_vectors_have_the_shape_of_nothing(self, database):
        keep(database, "one")
        with database.read() as tx:
            nums, vectors = embeddings.vectors_of_partition(tx, "shared", "m")
        assert (nums.shape, nums.dtype) == ((0,), np.int64)
        assert (vectors.shape, vectors.dtype) == ((0, 0), np.float32)

    def test_equal_texts_share_a_vector(self, database):
        keep(database, "same", "other")
        keep(database, "same", source="doc:anna/1", provenance=ANNA)
        self.put(database, {"same": [1, 0]})
        for partition in ("shared", "personal/anna"):
            num = numbers(database, partition)["same"]
            with database.read() as tx:
                nums, vectors = embeddings.vectors_of_partition(tx, partition, "m")
            assert (nums.tolist(), vectors.tolist()) == ([num], [[1, 0]])
        with database.read() as tx:
            assert embeddings.count_chunks(tx, "m") == 2
            assert embeddings.missing(tx, "m", limit=9) == [(piece("other").hash, "other")]

    def test_missing_texts_are_counted_once_and_listed_oldest_first(self, database):
        keep(database, "b", "a", "b", "c")
        with database.read() as tx:
            assert embeddings.count_missing(tx, "m") == 3
            assert [text for _, text in embeddings.missing(tx, "m", limit=9)] == ["b", "a", "c"]
            assert [text for _, text in embeddings.missing(tx, "m", limit=2)] == ["b", "a"]
        self.put(database, {"b": [1]})
        with database.read() as tx:
            assert embeddings.count_missing(tx, "m") == 2
            assert [text for _, text in embeddings.missing(tx, "m", limit=1)] == ["a"]

    def test_a_vector_is_replaced(self, database):
        keep(database, "one")
        self.put(database, {"one": [1, 0]})
        self.put(database, {"one": [0, 1]})
        with database.read() as tx:
            _, vectors = embeddings.vectors_of_partition(tx, "shared", "m")
        assert vectors.tolist() == [[0, 1]]

    def test_models_are_apart(self, database):
        keep(database, "one", "two")
        self.put(database, {"one": [1, 0], "two": [0, 1]}, "m")
        self.put(database, {"one": [7, 7, 7]}, "n")
        hashes = [piece("one").hash, piece("two").hash]
        with database.write() as tx:
            assert embeddings.known_hashes(tx, hashes, "n") == {hashes[0]}
            assert embeddings.count_missing(tx, "n") == 1
            _, vectors = embeddings.vectors_of_partition(tx, "shared", "n")
            assert vectors.tolist() == [[7, 7, 7]]
            assert embeddings.delete_model(tx, "m") == 2
            assert embeddings.delete_model(tx, "m") == 0
            assert embeddings.known_hashes(tx, hashes, "m") == set()
            assert embeddings.known_hashes(tx, hashes, "n") == {hashes[0]}

    def test_vectors_outlive_their_chunks(self, database):
        keep(database, "one")
        self.put(database, {"one": [1, 0]})
        keep(database)
        keep(database, "new text", "one")
        with database.read() as tx:
            nums, vectors = embeddings.vectors_of_partition(tx, "shared", "m")
        assert nums.tolist() == [numbers(database)["one"]]
        assert vectors.tolist() == [[1, 0]]

    def test_touching_lets_followers_see_the_chunks_again(self, database):
        keep(database, "one", "two")
        keep(database, "one", source="doc:anna/1", provenance=ANNA)
        before = counters(database).changes
        self.put(database, {"one": [1, 0]}, touch=True)
        assert counters(database).changes == before + 1
        for partition in ("shared", "personal/anna"):
            num = numbers(database, partition)["one"]
            with database.read() as tx:
                rows = chunks.index_rows(tx, partition, after_seq=before)
                nums, _ = embeddings.vectors_of_partition(tx, partition, "m", after_seq=before)
            assert [row.text for row in rows] == ["one"]
            assert nums.tolist() == [num]

    def test_without_touching_the_chunks_stay_as_they_are(self, database):
        keep(database, "one")
        self.put(database, {"one": [1, 0]})
        self.put(database, {}, touch=True)
        assert counters(database).changes == 1
        with database.read() as tx:
            nums, _ = embeddings.vectors_of_partition(tx, "shared", "m", after_seq=1)
        assert nums.tolist() == []

    def test_thousands_of_texts_go_through_every_call(self, database):
        texts = [f"text {n}" for n in range(MANY)]
        keep(database, *texts)
        self.put(database, {text: [n, 1] for n, text in enumerate(texts)}, touch=True)
        with database.read() as tx:
            hashes = [piece(text).hash for text in texts]
            assert embeddings.known_hashes(tx, hashes, "m") == set(hashes)
            _, vectors = embeddings.vectors_of_partition(tx, "shared", "m", after_seq=1)
        assert vectors[:, 0].tolist() == list(range(MANY))
