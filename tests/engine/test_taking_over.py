"""An engine that follows another one takes its derived files over once that has ended."""

import json

import pytest

from langchain_memengine.errors import StorageError
from langchain_memengine.retrieval import snapshot_keeping
from langchain_memengine.retrieval.keyword_index import KeywordIndex
from langchain_memengine.retrieval.snapshot_keeping import Snapshots
from langchain_memengine.storage.locking import IndexLock
from tests.engine.test_chroma import CORPUS, SIZE
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine, texts

RECEIPT = ".memengine/chroma/receipt.json"


def engine_of(root, **settings):
    settings = {"vector_search": "chroma", **settings}
    return make_engine(root, embeddings=FakeEmbeddings(SIZE), **settings)


def vector_paths(engine):
    """Return what answered, once Chroma had the time to catch up."""
    engine.search("tea morning")
    engine.wait_for_chroma()
    result = engine.search("tea morning")
    assert result.degraded == ()
    return {hit.receipt.vector_path for hit in result.hits}


@pytest.fixture
def looks(monkeypatch):
    """Return the locks that somebody tried to take, once for each try."""
    tried = []
    acquire = IndexLock.acquire

    def noting(self):
        tried.append(self)
        acquire(self)

    monkeypatch.setattr(IndexLock, "acquire", noting)
    return tried


def test_the_next_search_takes_over_and_fills_chroma(tmp_path):
    with engine_of(tmp_path) as first:
        first.add_texts(CORPUS)
        second = engine_of(tmp_path)
        assert vector_paths(second) == {"exact"}
        assert (first._maintains, second._maintains) == (True, False)
    with second:
        assert not second._maintains
        assert vector_paths(second) == {"chroma"}
        assert second._maintains
        second.add_texts(["tea of the late morning"])
        with engine_of(tmp_path) as third, engine_of(tmp_path, vector_search="exact") as exact:
            assert not third._maintains
            assert vector_paths(second) == {"chroma"}
            assert texts(second.search("late tea")) == texts(exact.search("late tea"))
    assert (tmp_path / RECEIPT).exists()
    with engine_of(tmp_path) as fourth:
        assert fourth._maintains


def test_it_keeps_the_indexes_for_the_next_start(tmp_path, monkeypatch):
    monkeypatch.setattr(snapshot_keeping, "MIN_CHUNKS", 1)
    first = engine_of(tmp_path, vector_search="exact")
    second = engine_of(tmp_path, vector_search="exact")
    first.add_texts(CORPUS)
    second.search("tea")
    first.close()
    assert not list(tmp_path.glob(".memengine/index/*/manifest.json"))
    found = texts(second.search("tea morning", 40))
    second.close()

    def refuse(_index, documents):
        assert list(documents) == []

    monkeypatch.setattr(KeywordIndex, "add", refuse)
    with engine_of(tmp_path, vector_search="exact") as engine:
        assert texts(engine.search("tea morning", 40)) == found


def test_it_looks_as_often_as_for_changed_files_and_the_holder_never(tmp_path, looks):
    with engine_of(tmp_path) as holder:
        often = engine_of(tmp_path)
        rarely = engine_of(tmp_path, stat_interval_seconds=3600)
        looks.clear()
        for _ in range(5):
            for engine in (holder, often, rarely):
                engine.search("tea")
        counted = [looks.count(engine._derived.lock) for engine in (holder, often, rarely)]
        assert counted == [0, 5, 1]
        often.close()
        rarely.close()


@pytest.mark.parametrize("settings", [{"read_only": True}, {"maintain_indexes": False}])
def test_who_is_not_to_write_never_takes_over(tmp_path, settings):
    first = engine_of(tmp_path)
    with engine_of(tmp_path, **settings) as second:
        first.close()
        second.search("tea")
        assert not second._maintains
        IndexLock(tmp_path / ".memengine").acquire()


def test_forgetting_removes_what_an_engine_that_ended_left_in_chroma(tmp_path):
    with engine_of(tmp_path) as first:
        record = first.remember("the secret of the tea is hidden")
        assert vector_paths(first) == {"chroma"}
        second = engine_of(tmp_path)
    with second:
        report = second.forget([record.id])
        assert not any("Chroma" in place for place in report.out_of_reach)
        assert not (tmp_path / RECEIPT).parent.exists()


def test_the_doctor_looks_into_what_nobody_keeps_any_more(tmp_path):
    first, second = engine_of(tmp_path), engine_of(tmp_path)
    assert "another process" in second.doctor()["chroma"].found
    first.close()
    with second:
        assert second.doctor()["chroma"].found.startswith("not filled")


def test_a_chroma_that_is_ahead_of_the_database_is_not_taken_over(tmp_path):
    """Somebody put an older database in its place by hand."""
    with engine_of(tmp_path) as first:
        first.add_texts(CORPUS)
        assert vector_paths(first) == {"chroma"}
        second = engine_of(tmp_path)
    before = json.loads((tmp_path / RECEIPT).read_text())
    (tmp_path / RECEIPT).write_text(json.dumps({**before, "changes": 10**6}))
    with second:
        assert vector_paths(second) == {"chroma"}
    after = json.loads((tmp_path / RECEIPT).read_text())
    assert after["generation"] != before["generation"]
    assert after["database"] != before["database"]


def test_a_search_that_cannot_look_answers_and_says_so(tmp_path, monkeypatch):
    first, second = engine_of(tmp_path), engine_of(tmp_path)
    first.add_texts(["tea"])
    first.close()

    def refuse(_lock):
        raise StorageError("The lock cannot be made: no permission.")

    with monkeypatch.context() as patch, second:
        patch.setattr(IndexLock, "acquire", refuse)
        result = second.search("tea")
        assert texts(result) == ["tea"]
        assert result.degraded == ("indexes: The lock cannot be made: no permission.",)


def test_a_database_that_fails_meanwhile_leaves_the_lock_to_others(tmp_path, monkeypatch):
    first, second = engine_of(tmp_path), engine_of(tmp_path)
    first.close()

    def fail(_derived):
        raise StorageError("The database failed.")

    with second:
        with monkeypatch.context() as patch:
            patch.setattr(type(second._derived), "_epoch", fail)
            assert second.search("tea").degraded == ("indexes: The database failed.",)
        with engine_of(tmp_path) as third:
            assert third._maintains


@pytest.mark.parametrize("failure", [StorageError("The disk failed."), KeyboardInterrupt()])
def test_who_fails_half_way_leaves_the_chroma_folder_to_others(tmp_path, monkeypatch, failure):
    first, second = engine_of(tmp_path), engine_of(tmp_path)
    record = first.remember("the secret is hidden in the teapot")
    first.add_texts(CORPUS)
    first.close()

    def fail(_snapshots, _origin):
        raise failure

    with second:
        with monkeypatch.context() as patch:
            patch.setattr(Snapshots, "write_from_now_on", fail)
            with pytest.raises(type(failure)):
                second._take_over()
        with engine_of(tmp_path) as third:
            assert vector_paths(third) == {"chroma"}
            assert vector_paths(second) == {"exact"}
            # With a Chroma of its own it would remove the files that the third has open.
            told = second.forget([record.id]).out_of_reach
            assert told[0] == "Vectors in the Chroma folder, which another process maintains."
            assert vector_paths(third) == {"chroma"}
        assert vector_paths(second) == {"chroma"}


def test_an_engine_that_was_closed_takes_nothing(tmp_path):
    first, second = engine_of(tmp_path), engine_of(tmp_path)
    second.close()
    first.close()
    assert not second._derived.take_over()
    with engine_of(tmp_path) as third:
        assert third._maintains
