"""Who follows from before the tombstones were pruned sees the same as who starts afresh."""

import logging

import pytest

from langchain_memengine.errors import NotFoundError
from langchain_memengine.retrieval import snapshot_keeping
from langchain_memengine.storage import tombstones
from tests.engine.test_chroma import CORPUS, SIZE
from tests.fakes.clock import FixedClock
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine

IDS = [str(i) for i in range(len(CORPUS))]


@pytest.fixture
def clock():
    return FixedClock()


def engine_of(root, clock, **settings):
    return make_engine(root, embeddings=FakeEmbeddings(SIZE), clock=clock, **settings)


def found(engine):
    """Return what a search tells: hits, and scores, which count removed texts no more."""
    hits = engine.search("tea morning number5", 60).hits
    return [(hit.text, round(hit.score, 9), round(hit.bm25 or 0.0, 9)) for hit in hits]


def remove_and_prune(root, clock, **settings):
    """Remove half of the texts, later what was noted of them, and return what is found."""
    with engine_of(root, clock, maintain_indexes=False, **settings) as engine:
        engine.search("tea")  # it follows step by step what the others find at once
        engine.delete(IDS[:20])
        engine.search("tea")
        engine.add_texts(["late tea of the morning"], ids=["late"])
        clock.pass_days(tombstones.KEPT.days + 1)
        engine.vacuum()
        with engine._database.read() as tx:
            assert tombstones.removed_nums(tx, "shared", after_seq=0) is None
        return found(engine)


def test_an_engine_that_lags_behind_follows(tmp_path, clock):
    with engine_of(tmp_path, clock, vector_search="exact") as engine:
        engine.add_texts(CORPUS, ids=IDS)
        before = found(engine)
        after = remove_and_prune(tmp_path, clock, vector_search="exact")
        assert after != before
        assert found(engine) == after
        engine.delete(IDS[20:30])
        with engine_of(tmp_path, clock, vector_search="exact") as fresh:
            assert found(engine) == found(fresh)


def test_an_index_on_disk_that_lags_behind_follows(tmp_path, clock, monkeypatch, caplog):
    monkeypatch.setattr(snapshot_keeping, "MIN_CHUNKS", 1)
    with engine_of(tmp_path, clock, vector_search="exact") as engine:
        engine.add_texts(CORPUS, ids=IDS)
        engine.search("tea")
    after = remove_and_prune(tmp_path, clock, vector_search="exact")
    caplog.set_level(logging.INFO)
    with engine_of(tmp_path, clock, vector_search="exact") as engine:
        assert found(engine) == after
    assert "is not used" not in caplog.text


def test_a_chroma_folder_that_lags_behind_is_compared_and_goes_on(tmp_path, clock, caplog):
    with engine_of(tmp_path, clock, vector_search="chroma") as engine:
        engine.add_texts(CORPUS, ids=IDS)
        engine.search("tea")
        engine.wait_for_chroma()
    generations = set((tmp_path / ".memengine/chroma").iterdir())
    remove_and_prune(tmp_path, clock, vector_search="exact")
    with engine_of(tmp_path, clock, vector_search="chroma") as engine:
        engine.search("tea")
        engine.wait_for_chroma()
        result = engine.search("tea morning", 20)
        assert {hit.receipt.vector_path for hit in result.hits} == {"chroma"}
        assert len(result.hits) == 20
        assert engine.doctor()["chroma"].status == "ok"
    assert set((tmp_path / ".memengine/chroma").iterdir()) == generations
    assert [one for one in caplog.records if one.levelno >= logging.WARNING] == []


def test_a_graph_that_lags_behind_forgets_what_is_gone_and_nothing_else(tmp_path, clock):
    elsewhere = {"graph_url": f"sqlite:///{tmp_path / 'other.sqlite'}"}
    with engine_of(tmp_path, clock, **elsewhere) as engine:
        gone, kept = engine.add_texts(["Anna knows Bert.", "Bert knows Carl."], ids=["0", "a"])
        engine.graph.add_triples([("Anna", "knows", "Bert")], evidence=gone)
        engine.graph.add_triples([("Bert", "knows", "Carl")], evidence=kept)
        engine.graph.add_triples([("Carl", "knows", "Dora")], evidence="https://example.org/1")
        engine.graph.add_triples([("Dora", "knows", "Emil")])
        assert engine.graph.counts().relations == 4
        remove_and_prune(tmp_path, clock)
        with pytest.raises(NotFoundError):
            engine.graph.neighbours("Anna")
        assert [str(one) for one in engine.graph.neighbours("Bert", 3).relations] == [
            "Bert —knows→ Carl",
            "Carl —knows→ Dora",
            "Dora —knows→ Emil",
        ]


def test_a_worker_prunes_too(tmp_path, clock):
    with engine_of(tmp_path, clock) as engine:
        engine.add_texts(CORPUS, ids=IDS)
        engine.delete(IDS)
        clock.pass_days(tombstones.KEPT.days + 1)
        engine.run_jobs()
        with engine._database.read() as tx:
            assert tombstones.removed_nums(tx, "shared", after_seq=0) is None
        assert engine.search("tea").hits == ()
