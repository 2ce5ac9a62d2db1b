"""Which generation of an embedded Chroma may be opened: only one that is as it was left."""

import json
import os
import shutil

import pytest

from langchain_memengine.retrieval import chroma_folder
from langchain_memengine.retrieval.chroma_folder import ChromaFolder, Condition


def left_clean(home, database="d"):
    """Make a generation with two files, stopped cleanly; return it."""
    folder = ChromaFolder(home, database)
    generation = folder.begin()
    (generation / "chroma.sqlite3").write_bytes(b"rows" * 1000)
    (generation / "segment").mkdir()
    (generation / "segment/data.bin").write_bytes(b"vectors")
    folder.finish(generation, 7)
    return generation


def test_generation_of_a_clean_stop_is_opened_again(tmp_path):
    generation = left_clean(tmp_path)
    assert ChromaFolder(tmp_path, "d").condition() == (generation, "")
    assert chroma_folder.newest_change(tmp_path, "d") == 7
    assert chroma_folder.newest_change(tmp_path, "another") == 0
    assert ChromaFolder(tmp_path, "d").begin() == generation
    assert (generation / "segment/data.bin").read_bytes() == b"vectors"


def test_first_use_has_no_problem(tmp_path):
    folder = ChromaFolder(tmp_path / "chroma", "d")
    assert folder.condition() == Condition(None, "")
    assert folder.begin().is_dir()


def test_what_was_begun_and_not_finished_is_never_opened_again(tmp_path, caplog):
    generation = left_clean(tmp_path)
    ChromaFolder(tmp_path, "d").begin()  # and its process is killed
    folder = ChromaFolder(tmp_path, "d")
    assert folder.condition() == (None, "it was not closed by its last process")
    fresh = folder.begin()
    assert fresh != generation
    assert list(fresh.iterdir()) == []
    assert list(tmp_path.iterdir()) == [fresh]  # what is damaged does not pile up
    assert "is built again from the database" in caplog.text


def flip_a_bit(generation):
    path = generation / "chroma.sqlite3"
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    content = bytearray(path.read_bytes())
    content[2000] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=times)  # as a failing disk would do it


def make_unreadable(generation):
    (generation / "segment/data.bin").unlink()
    (generation / "segment/data.bin").symlink_to("data.bin")  # a loop fails for root too


DAMAGE = {
    "a bit flipped": flip_a_bit,
    "truncated": lambda generation: os.truncate(generation / "chroma.sqlite3", 0),
    "a file removed": lambda generation: (generation / "segment/data.bin").unlink(),
    "a folder removed": lambda generation: shutil.rmtree(generation / "segment"),
    "all removed": shutil.rmtree,
    "a file more": lambda generation: (generation / "chroma.sqlite3-wal").write_bytes(b"x"),
    "unreadable": make_unreadable,
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_generation_that_changed_since_is_never_opened(tmp_path, damage):
    generation = left_clean(tmp_path)
    damage(generation)
    kept, problem = ChromaFolder(tmp_path, "d").condition()
    assert kept is None
    assert problem
    assert ChromaFolder(tmp_path, "d").begin() != generation


@pytest.mark.parametrize(
    "change",
    [
        {"version": 0},
        {"database": "another"},
        {"generation": "../elsewhere"},
        {"files": {}},
    ],
    ids=str,
)
def test_receipt_of_something_else_is_no_receipt(tmp_path, change):
    left_clean(tmp_path)
    path = tmp_path / "receipt.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    assert ChromaFolder(tmp_path, "d").condition().generation is None


def test_another_database_does_not_get_the_folder(tmp_path):
    left_clean(tmp_path)
    kept, problem = ChromaFolder(tmp_path, "restored").condition()
    assert (kept, problem) == (None, "it was filled from another database")


def test_files_of_an_older_release_are_removed(tmp_path):
    (tmp_path / "chroma.sqlite3").write_bytes(b"old")
    (tmp_path / "0b3c").mkdir()
    generation = ChromaFolder(tmp_path, "d").begin()
    assert list(tmp_path.iterdir()) == [generation]
