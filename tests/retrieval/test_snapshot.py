"""What is kept of a partition is what it was, or it is not used."""

import json
import logging
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings

from langchain_memengine.retrieval import snapshot
from langchain_memengine.retrieval.keyword_index import KeywordIndex
from langchain_memengine.retrieval.partition import Partition
from langchain_memengine.retrieval.partitions import Partitions
from langchain_memengine.retrieval.postings import Postings
from langchain_memengine.retrieval.snapshot import Origin
from langchain_memengine.retrieval.snapshot_keeping import Snapshots
from langchain_memengine.retrieval.surroundings import NOBODY, Surroundings
from langchain_memengine.retrieval.vector_matrix import NO_COSINE, VectorMatrix
from langchain_memengine.storage import access, embeddings
from langchain_memengine.storage.change_counters import Counters
from langchain_memengine.storage.database import Database
from tests.fakes.clock import START
from tests.retrieval.test_partitions import MODEL, STEPS, current, digest, put, state, vector

ORIGIN = Origin("s", "database 1", "split on blanks")


def in_memory():
    return Database("sqlite://", store_id="s", now=START, busy_timeout_ms=0)


@pytest.fixture
def database():
    database = in_memory()
    yield database
    database.close()


def partitions(folder=None, origin=ORIGIN, *, writes=False):
    snapshots = None if folder is None else Snapshots(folder, origin, writes=writes)
    return Partitions(str.split, k1=0.9, b=0.4, snapshots=snapshots)


def empty():
    return Partition("shared", str.split, k1=0.9, b=0.4)


def apply(database, step):
    what, name, value = step
    with database.write() as tx:
        if what.startswith("put"):
            put(tx, name, value)
        elif what == "embed":
            embeddings.put(tx, {digest(name): vector(name)}, MODEL, touch=True)
        elif what == "access":
            access.record(tx, {digest(f"{name}0{t}"): value for t in ("tea", "milk")}, now=START)


def saved(database, folder, followed=None, model=MODEL):
    """Save the shared partition as it is now; return its folder."""
    with database.read() as tx:
        partition = current(tx, followed or partitions(), "shared", model)
        snapshot.save(partition, folder, ORIGIN)
    return snapshot.folder_of(folder, "shared")


def contents(folder):
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@settings(max_examples=20)
@given(STEPS, STEPS)
@example([("put", "a", ["tea"])], [("put", "a", ["milk"]), ("embed", "milk", None)])
@example([("put", "a", ["tea"]), ("access", "a", 2)], [("access", "a", 3)])
def test_following_from_a_snapshot_is_the_same_as_loading_afresh(before, after):
    database = in_memory()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for step in before:
            apply(database, step)
        home = saved(database, folder)
        files = contents(home)
        at_once = partitions(folder)
        assert state(database, at_once, model=MODEL) == state(database, partitions(), model=MODEL)
        for step in after:
            apply(database, step)
        expected = state(database, partitions(), model=MODEL)
        reopened = partitions(folder)
        assert state(database, reopened, model=MODEL) == expected
        assert state(database, at_once, model=MODEL) == expected
        assert contents(home) == files  # what was written to mapped arrays stayed in memory
        saved(database, folder, reopened)  # over the files that it has mapped itself
        assert state(database, partitions(folder), model=MODEL) == expected
        assert state(database, reopened, model=MODEL) == expected
    database.close()


# The parts


def test_postings_are_kept_folded_and_without_what_was_removed():
    index = KeywordIndex([["tea", "tea", "milk"], ["secret", "tea"], ["milk"]], k1=1.2, b=0.5)
    index.add([["new", "milk"]])
    index.remove([1])
    arrays, vocabulary = index.to_arrays()
    assert vocabulary == ["tea", "milk", "new"]
    assert arrays["frequencies"].tolist() == [1, 3, 1]
    assert arrays["posting_starts"].tolist() == [0, 1, 4, 5]
    assert arrays["posting_slots"].tolist() == [0, 0, 2, 3, 3]
    assert arrays["posting_counts"].tolist() == [2, 1, 1, 1, 1]
    own = {name: array.copy() for name, array in arrays.items()}  # else both write to the same
    copy = KeywordIndex.from_arrays(own, vocabulary, k1=1.2, b=0.5)
    query = ["milk", "tea", "secret"]
    assert copy.scores(query).tolist() == index.scores(query).tolist()
    for each in (index, copy):
        assert each.add([["secret", "tea"]]) == 4
        each.remove([0])
    assert copy.scores(query).tolist() == index.scores(query).tolist()
    assert (copy.corpus_size, copy.avgdl) == (index.corpus_size, index.avgdl) == (3, 5 / 3)


def test_postings_that_are_folded_already_are_kept_as_they_are():
    postings = Postings()
    alive = np.ones(1, np.bool_)
    postings.add(postings.counted([["tea"]]), alive)
    postings.to_arrays(alive)
    merges = postings.merges
    postings.to_arrays(alive)
    assert postings.merges == merges


def test_surroundings_come_back_with_names_groups_and_neighbours():
    around = Surroundings()
    around.add(["t", "file", "", "t", "t"], [2.0, None, None, 1.0, 3.0])
    around.remove([0])
    copy = Surroundings.from_arrays(*around.to_arrays())
    for each in (around, copy):
        each.add(["t", "", "file"], [2.5, None, None])
        assert each.codes.tolist() == [0, 1, 2, 0, 0, 0, 3, 1]
        assert each.groups == 4
        before, after = each.neighbours(np.asarray([3, 5, 4]))
        assert before.tolist() == [NOBODY, 3, 5]
        assert after.tolist() == [5, 4, NOBODY]


def test_matrix_comes_back_without_its_spare_room():
    matrix = VectorMatrix()
    matrix.grow_to(2)
    matrix.put(np.asarray([0]), np.asarray([[0.6, 0.8]], np.float32))
    matrix.grow_to(3)
    arrays = matrix.to_arrays()
    assert arrays["matrix"].shape == (3, 2)
    copy = VectorMatrix.from_arrays(arrays)
    copy.grow_to(4)
    query = np.asarray([1.0, 0.0], np.float32)
    assert copy.cosines(query).tolist() == [np.float32(0.6), NO_COSINE, NO_COSINE, NO_COSINE]


def test_matrix_without_any_vector_comes_back():
    matrix = VectorMatrix()
    matrix.grow_to(2)
    copy = VectorMatrix.from_arrays(matrix.to_arrays())
    assert copy.cosines(np.ones(3, np.float32)).tolist() == [NO_COSINE, NO_COSINE]


# What is not used


def filled(database):
    with database.write() as tx:
        put(tx, "a", ["tea", "tea milk", "milk"])
        embeddings.put(tx, {digest("tea"): vector("tea")}, MODEL, touch=True)
        access.record(tx, {digest("a0tea"): 2}, now=START)


def data_of(home):
    return home / json.loads((home / "manifest.json").read_text())["generation"]


def change_manifest(home, **values):
    path = home / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def truncate(home):
    path = data_of(home) / "posting_slots.npy"
    path.write_bytes(path.read_bytes()[:-1])


def scribble(home, name="vocabulary.json"):
    path = data_of(home) / name
    path.write_bytes(b"7" * path.stat().st_size)


def other_array(home):
    path = data_of(home) / "nums.npy"
    np.save(path, np.load(path).astype(np.float64))


def inconsistent(home):
    manifest = json.loads((home / "manifest.json").read_text())
    path = data_of(home) / "accesses.npy"
    np.save(path, np.zeros(1, np.int64))
    size = path.stat().st_size
    manifest["arrays"]["accesses"] = {"shape": [1], "dtype": "<i8", "size": size}
    change_manifest(home, **manifest)


def too_few_words(home):
    path = data_of(home) / "vocabulary.json"
    path.write_text('["tea"]')
    change_manifest(home, texts={"vocabulary": 7, "group_names": 2})


def without_an_array(home):
    manifest = json.loads((home / "manifest.json").read_text())
    del manifest["arrays"]["lengths"]
    change_manifest(home, **manifest)


DAMAGE = {
    "truncated": truncate,
    "scribbled texts": scribble,
    "scribbled array": lambda home: scribble(home, "nums.npy"),
    "another array": other_array,
    "arrays that do not fit": inconsistent,
    "too few words": too_few_words,
    "an array unlisted": without_an_array,
    "missing file": lambda home: (data_of(home) / "alive.npy").unlink(),
    "missing folder": lambda home: data_of(home).rename(home / "elsewhere"),
    "garbage manifest": lambda home: (home / "manifest.json").write_bytes(b"\xff{"),
    "empty manifest": lambda home: (home / "manifest.json").write_bytes(b""),
    "manifest of something else": lambda home: (home / "manifest.json").write_text("[1]"),
    "manifest is a folder": lambda home: (
        (home / "manifest.json").unlink(),
        (home / "manifest.json").mkdir(),
    ),
    "other version": lambda home: change_manifest(home, version=0),
    "other partition": lambda home: change_manifest(home, partition="personal/bob"),
    "other store": lambda home: change_manifest(home, store_id="t"),
    "other database": lambda home: change_manifest(home, database="database 2"),
    "other words": lambda home: change_manifest(home, words="split on commas"),
    "newer changes": lambda home: change_manifest(home, changes=1000),
    "newer accesses": lambda home: change_manifest(home, accesses=1000),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_what_does_not_fit_is_built_from_the_database(database, tmp_path, caplog, damage):
    filled(database)
    damage(saved(database, tmp_path))
    with caplog.at_level(logging.INFO, logger=snapshot.logger.name):
        with database.read() as tx:
            assert snapshot.load(tmp_path, empty(), ORIGIN, tx.counters()) is None
        assert "is not used" in caplog.text
        found = state(database, partitions(tmp_path), model=MODEL)
    assert found == state(database, partitions(), model=MODEL)
    assert len(found) == 3


@pytest.mark.parametrize("field", ["store_id", "database", "words"])
def test_snapshot_of_another_origin_is_not_used(database, tmp_path, field):
    filled(database)
    saved(database, tmp_path)
    counters = Counters(1000, 1000)
    other = replace(ORIGIN, **{field: "other"})
    assert snapshot.load(tmp_path, empty(), other, counters) is None
    assert snapshot.load(tmp_path, empty(), ORIGIN, counters) is not None


def test_what_was_never_saved_is_no_event(database, tmp_path, caplog):
    with caplog.at_level(logging.INFO):
        assert snapshot.load(tmp_path, empty(), ORIGIN, Counters(0, 0)) is None
    assert caplog.text == ""


def test_snapshot_of_another_model_keeps_its_words(database, tmp_path):
    filled(database)
    saved(database, tmp_path, model="other")
    reopened = partitions(tmp_path)
    assert state(database, reopened, model=MODEL) == state(database, partitions(), model=MODEL)
    assert len(state(database, reopened, model=None)) == 3


def test_loading_splits_no_text(database, tmp_path):
    filled(database)
    saved(database, tmp_path)

    def forbidden(text):
        raise AssertionError("split a text that is in the snapshot")

    loaded = Partitions(
        forbidden, k1=0.9, b=0.4, snapshots=Snapshots(tmp_path, ORIGIN, writes=False)
    )
    assert len(state(database, loaded, model=MODEL)) == 3


def test_what_a_crash_left_behind_goes_with_the_next_save(database, tmp_path):
    filled(database)
    home = saved(database, tmp_path)
    (home / "half").mkdir()
    (home / "half" / "nums.npy").write_bytes(b"half")
    assert len(state(database, partitions(tmp_path), model=MODEL)) == 3
    saved(database, tmp_path)
    assert {path.name for path in home.iterdir()} == {"manifest.json", data_of(home).name}
