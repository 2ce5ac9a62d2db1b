"""What the doctor finds in a damaged store, says, and repairs. Chroma: integration_tests."""

import os
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from langchain_memengine.errors import ReadOnlyError
from langchain_memengine.retrieval import file_checks, vector_matrix
from langchain_memengine.storage.locking import IndexLock
from tests.engine.test_reopening import CORPUS
from tests.fakes.clock import START, FixedClock
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine, write

NAMES = [
    *("database", "schema", "rows", "model", "embeddings", "files"),
    *("indexes", "self-hits", "chroma", "leftovers", "lock", "disk"),
]


def engine_of(root, embeddings=None, **settings):
    embeddings = embeddings or FakeEmbeddings()
    return make_engine(root, embeddings=embeddings, vector_search="exact", **settings)


def stored(root, texts=("tea one", "tea two", "milk"), *, search=False):
    with engine_of(root) as engine:
        engine.add_texts(texts, ids=[str(i) for i in range(len(texts))])
        engine.add_texts(["tea of the owner"], scope="personal")
        if search:
            engine.search("tea")
    return root


def run(root, *statements):
    with closing(sqlite3.connect(root / ".memengine/memory.sqlite")) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def check(root, name, **options):
    with engine_of(root) as engine:
        return engine.doctor(**options)[name]


def test_sound_store_passes_every_check(tmp_path):
    write(tmp_path, "a.md", "# Tea\n\n---\n\ntea\n")
    with engine_of(stored(tmp_path)) as engine:
        engine.sync()
        report = engine.doctor(thorough=True)
        assert [one.name for one in report.checks] == NAMES
        assert {one.status for one in report.checks} == {"ok"}
        assert report.ok
        before = engine.stats()
        assert [(c.status, c.repaired) for c in engine.doctor(repair=True).checks] == [
            ("ok", False)
        ] * len(NAMES)
        assert engine.stats() == before
    assert report["database"].found == "sound (every index compared): 5 chunks after 4 changes"
    assert report["indexes"].found == "5 chunks in 2 partitions, as in the database"
    assert report["lock"].found.startswith("free")


def test_store_without_a_folder_and_a_reader_are_checked_too(tmp_path):
    with make_engine() as engine:
        engine.add_texts(["tea"])
        report = engine.doctor()
        assert report.ok
        assert report["model"].found == "none: keyword search only"
        assert [one.name for one in report.checks] == NAMES[:9]
    with engine_of(stored(tmp_path), read_only=True) as reader:
        assert reader.doctor().ok
        with pytest.raises(ReadOnlyError):
            reader.doctor(repair=True)


def test_missing_vectors_are_embedded_again(tmp_path):
    run(stored(tmp_path), "DELETE FROM embeddings WHERE rowid <= 2")
    found = check(tmp_path, "embeddings")
    assert (found.status, found.repair) == ("warning", "embed them")
    assert found.found.startswith("2 texts without one")
    repaired = check(tmp_path, "embeddings", repair=True)
    assert (repaired.status, repaired.repaired) == ("ok", True)
    assert repaired.found == "4 chunks with one, none without"


def test_rows_without_a_reason_are_counted_and_removed(tmp_path):
    write(tmp_path, "a.md", "tea of a file")
    with engine_of(stored(tmp_path)) as engine:
        engine.sync()
    run(
        tmp_path,
        "INSERT INTO embeddings VALUES ('default', 'gone', 'm', 1, x'00')",
        "INSERT INTO embeddings VALUES ('another store', 'gone', 'm', 1, x'00')",
        "INSERT INTO chunk_access VALUES ('default', 'gone', 1, 0, 0)",
        "INSERT INTO tombstones SELECT store_id, num, id, partition_key, 0, 0 FROM chunks "
        "WHERE text = 'milk'",
        "DELETE FROM files",
    )
    found = check(tmp_path, "rows")
    assert (found.status, found.repair) == ("warning", "remove them")
    assert found.found == (
        "1 vector of no text, 1 access count of no chunk, 1 tombstone of a living chunk, "
        "1 chunk of an unknown file"
    )
    with engine_of(tmp_path) as engine:
        report = engine.doctor(repair=True)
        assert report["rows"].found == "each has a reason to be there"
        assert report.ok
        assert engine.stats().chunks == 4
        engine.sync()
        assert engine.stats().chunks == 5
    with closing(sqlite3.connect(tmp_path / ".memengine/memory.sqlite")) as connection:
        left = connection.execute("SELECT store_id FROM embeddings WHERE text_hash = 'gone'")
        assert left.fetchall() == [("another store",)]


def test_kept_vectors_alone_are_no_warning(tmp_path):
    with engine_of(stored(tmp_path)) as engine:
        engine.delete(["0"])
        assert engine.doctor()["rows"].status == "ok"


def test_index_that_does_not_fit_the_database_is_built_again(tmp_path):
    stored(tmp_path, CORPUS, search=True)
    run(tmp_path, "DELETE FROM chunks WHERE text LIKE '%number7 %'")  # without a tombstone
    found = check(tmp_path, "indexes")
    assert found.status == "failed"
    assert found.found == ("shared: 600 chunks (599 of the database's 599) and 600 of 599 vectors")
    repaired = check(tmp_path, "indexes", repair=True)
    assert (repaired.status, repaired.repaired) == ("ok", True)
    assert check(tmp_path, "indexes").status == "ok"


@pytest.mark.parametrize(
    ("name", "damaged", "lost"),
    [
        ("matrix", np.zeros_like, 20),
        ("codes", np.flipud, 18),
        ("posting_counts", np.zeros_like, 20),
    ],
)
def test_index_with_wrong_numbers_is_found_by_self_hits_and_built_again(
    tmp_path, monkeypatch, name, damaged, lost
):
    monkeypatch.setattr(vector_matrix, "QUANTIZED_FROM", 500)
    stored(tmp_path, CORPUS, search=True)
    (path,) = (tmp_path / ".memengine/index").rglob(f"{name}.npy")
    np.save(path, damaged(np.load(path)))
    found = check(tmp_path, "self-hits")
    assert found.status == "failed"
    told = f"{lost} of 21 sampled chunks are not found by their own text or vector"
    assert found.found == told
    repaired = check(tmp_path, "self-hits", repair=True)
    assert (repaired.status, repaired.repaired) == ("ok", True)
    assert check(tmp_path, "self-hits").status == "ok"


def test_other_model_fails_and_one_that_is_silent_is_a_warning(tmp_path):
    stored(tmp_path)
    with engine_of(tmp_path, FakeEmbeddings(32)) as engine:
        report = engine.doctor(repair=True)
    assert (report["model"].status, report.ok) == ("failed", False)
    assert report["model"].repair == "run: memengine sync --reembed"
    silent = FakeEmbeddings(fail_with=[ConnectionError("nobody is there")])
    with engine_of(tmp_path, silent) as engine:
        report = engine.doctor()
    assert (report["model"].status, report.ok) == ("warning", True)
    assert "could not embed 1 text" in report["model"].found


def test_files_that_were_left_out_are_named(tmp_path):
    for number in range(5):
        write(tmp_path, f"{number}.md", b"\xff\xfe\xff")
    with engine_of(stored(tmp_path)) as engine:
        engine.sync()
        found = engine.doctor()["files"]
    assert found.status == "warning"
    assert found.found.startswith("5 left out: 0.md: ")
    assert found.found.endswith("; and 2 more")


def test_damaged_database_fails_and_is_never_repaired(tmp_path):
    stored(tmp_path, CORPUS)
    path = tmp_path / ".memengine/memory.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        rows = "SELECT rootpage FROM sqlite_master WHERE name = 'ix_chunks_text_hash'"
        (page,) = connection.execute(rows).fetchone()
    content = bytearray(path.read_bytes())
    content[(page - 1) * 4096 : page * 4096] = os.urandom(4096)
    path.write_bytes(content)
    with engine_of(tmp_path) as engine:
        found = engine.doctor(repair=True)["database"]
    assert (found.status, found.repaired) == ("failed", False)
    assert "memengine restore FILE" in found.repair
    assert content[(page - 1) * 4096 : page * 4096] in path.read_bytes()


def test_what_a_crash_left_is_removed_and_what_may_be_in_use_is_not(tmp_path):
    stored(tmp_path, CORPUS, search=True)
    name = "0123456789abcdef" * 2
    old = write(tmp_path, f"daily/.{name}.tmp", "half", at=START.replace(hour=10))
    new = write(tmp_path, f".memengine/.{name}.tmp", "half", at=START.replace(minute=0))
    yours = write(tmp_path, ".notes.tmp", "mine", at=START.replace(year=2020))
    kept = write(tmp_path, ".memengine/memory.sqlite.before-restore-x", "", at=START)
    (home,) = (tmp_path / ".memengine/index").iterdir()
    (home / "half").mkdir()
    found = check(tmp_path, "leftovers")
    assert (found.status, found.repair) == ("warning", "remove them")
    assert found.found.startswith("2 left by a crash: ")
    assert found.found.endswith("yours to remove: memory.sqlite.before-restore-x")
    assert check(tmp_path, "leftovers", repair=True).status == "ok"
    assert [path.exists() for path in (old, home / "half", new, yours, kept)] == [
        False, False, True, True, True,
    ]  # fmt: skip
    assert check(tmp_path, "indexes").status == "ok"


def test_reader_of_the_indexes_does_not_call_a_generation_left_over(tmp_path):
    stored(tmp_path, CORPUS, search=True)
    (home,) = (tmp_path / ".memengine/index").iterdir()
    with engine_of(tmp_path) as holder:
        (home / "being written").mkdir()
        with engine_of(tmp_path) as second:
            report = second.doctor(repair=True)
        assert (home / "being written").is_dir()
        assert report["leftovers"].status == "ok"
        assert f"held by process {os.getpid()} on " in report["lock"].found
        assert report["lock"].found.endswith(" UTC")
        assert "another process maintains it" in report["chroma"].found
        assert holder.doctor()["leftovers"].status == "warning"
    assert IndexLock(tmp_path / ".memengine").holder() is None


@pytest.mark.parametrize(
    ("free", "status"), [(2**40, "ok"), (50 * 2**20, "warning"), (2**20, "failed")]
)
def test_disk_that_is_nearly_full_is_told(tmp_path, monkeypatch, free, status):
    usage = type("Usage", (), {"free": free})
    monkeypatch.setattr(file_checks.shutil, "disk_usage", lambda _: usage)
    assert check(stored(tmp_path), "disk").status == status


def test_time_is_that_of_the_engine(tmp_path):
    name = "0123456789abcdef" * 2
    write(tmp_path, f".{name}.tmp", "half", at=START)
    clock = FixedClock()
    with make_engine(tmp_path, clock=clock) as engine:
        assert engine.doctor()["leftovers"].status == "ok"
        clock.pass_days(1)
        assert engine.doctor()["leftovers"].status == "warning"
