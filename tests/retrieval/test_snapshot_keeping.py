"""Partitions are written when that pays, and by whom may."""

import json

import pytest

from langchain_memengine.errors import StorageFullError
from langchain_memengine.retrieval import array_files, snapshot
from tests.retrieval.test_partitions import MODEL, put, state
from tests.retrieval.test_snapshot import contents, in_memory, partitions


@pytest.fixture
def big():
    database = in_memory()
    with database.write() as tx:
        put(tx, "big", [f"tea number{i}" for i in range(1000)])
    yield database
    database.close()


def manifest_of(folder):
    path = snapshot.folder_of(folder, "shared") / "manifest.json"
    return path.read_text() if path.exists() else None


def looked_at(database, folder, **options):
    followed = partitions(folder, **options)
    state(database, followed)
    followed.save()
    return followed


def test_writer_saves_a_big_partition_once(big, tmp_path):
    looked_at(big, tmp_path)
    assert not any(tmp_path.iterdir())
    looked_at(big, tmp_path, writes=True).save()
    first = manifest_of(tmp_path)
    assert json.loads(first)["changes"] == 1
    looked_at(big, tmp_path, writes=True)
    assert manifest_of(tmp_path) == first


def test_few_changes_are_followed_and_many_are_saved(big, tmp_path):
    looked_at(big, tmp_path, writes=True)
    first = manifest_of(tmp_path)
    with big.write() as tx:
        put(tx, "few", [f"tea {i}" for i in range(5)])  # one slot and one document each: 10 of 1000
    looked_at(big, tmp_path, writes=True)
    assert manifest_of(tmp_path) == first
    with big.write() as tx:
        put(tx, "more", ["tea"])
    looked_at(big, tmp_path, writes=True)
    assert json.loads(manifest_of(tmp_path))["changes"] == 3
    home = snapshot.folder_of(tmp_path, "shared")
    assert len(list(home.iterdir())) == 2  # the manifest and one generation


def test_vectors_of_a_new_model_are_saved_but_their_absence_is_not(big, tmp_path):
    looked_at(big, tmp_path, writes=True)
    followed = partitions(tmp_path, writes=True)
    state(big, followed, model=MODEL)
    followed.save()
    assert json.loads(manifest_of(tmp_path))["model"] == MODEL
    looked_at(big, tmp_path, writes=True)
    assert json.loads(manifest_of(tmp_path))["model"] == MODEL


def test_small_partition_is_not_saved_and_loses_an_old_snapshot(big, tmp_path):
    looked_at(big, tmp_path, writes=True)
    with big.write() as tx:
        put(tx, "big", ["tea"] * 499)
    looked_at(big, tmp_path, writes=True)
    assert not any(tmp_path.iterdir())


def test_mostly_empty_partition_is_built_again_rather_than_saved(big, tmp_path):
    followed = looked_at(big, tmp_path, writes=True)
    with big.write() as tx:
        put(tx, "big", [f"milk {i}" for i in range(900)])  # 900 of 1900 slots
    state(big, followed)
    followed.save()
    assert not any(tmp_path.iterdir())
    looked_at(big, tmp_path, writes=True)
    assert json.loads(manifest_of(tmp_path))["arrays"]["nums"]["shape"] == [900]


@pytest.mark.parametrize("where", ["array", "manifest"])
def test_full_disk_leaves_the_old_snapshot(big, tmp_path, monkeypatch, caplog, where):
    looked_at(big, tmp_path, writes=True)
    with big.write() as tx:
        put(tx, "more", [f"tea {i}" for i in range(100)])
    before = contents(tmp_path)

    def full(*_):
        raise (
            OSError(28, "No space left on device") if where == "array" else StorageFullError("full")
        )

    if where == "array":
        monkeypatch.setattr(array_files, "write_texts", full)
    else:
        monkeypatch.setattr(snapshot, "write_atomic", full)
    looked_at(big, tmp_path, writes=True)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert contents(tmp_path) == before
    assert state(big, partitions(tmp_path)) == state(big, partitions())
