"""Reports of other memory engines about lost and undead memories, with the smallest inputs."""

import pytest

from langchain_memengine.rankings import RANKINGS
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine, texts, write

DOWN = ConnectionError("nobody answers")


def opened(root, embeddings=None, **settings):
    return make_engine(root, embeddings=embeddings or FakeEmbeddings(), **settings)


# chroma#3792: another process's query goes on answering from before


def test_what_another_engine_adds_and_deletes_is_seen_by_the_next_query(tmp_path):
    with (
        opened(tmp_path, vector_search="chroma") as one,
        opened(tmp_path, vector_search="chroma") as other,
    ):
        one.add_texts(["green tea"], ids=["1"])
        assert texts(one.search("tea")) == ["green tea"]
        other.add_texts(["black tea", "white tea"], ids=["2", "3"])
        assert sorted(texts(one.search("tea"))) == ["black tea", "green tea", "white tea"]
        one.wait_for_chroma()
        assert len(one.search("tea").hits) == one.stats().chunks == 3
        other.delete(["1", "2"])
        assert texts(one.search("tea")) == ["white tea"]


# agentmemory#632, mem0#3869: deleted, and still found by search


@pytest.mark.parametrize("vector_search", ["exact", "chroma"])
def test_a_deleted_memory_is_found_by_no_index(tmp_path, vector_search):
    with opened(tmp_path, vector_search=vector_search) as engine:
        engine.add_texts(["the key is under the mat", "the cat sat"], ids=["key", "cat"])
        write(tmp_path, "note.md", "the key has a spare")
        chunk = next(hit.id for hit in engine.search("key mat").hits if "mat" in hit.text)
        engine.wait_for_chroma()
        assert engine.delete(["key"]) == 1
        (tmp_path / "note.md").unlink()

    def found(engine):
        for name in RANKINGS:
            yield from texts(engine.search("the key is under the mat", 9, ranking=name))
        yield from texts(engine.recall("the key is under the mat"))

    with opened(tmp_path, vector_search=vector_search) as engine:
        for _ in range(2):
            assert set(found(engine)) == {"the cat sat"}
            engine.wait_for_chroma()
        assert chunk not in {hit.id for hit in engine.search("key", 9).hits}
        assert [check for check in engine.doctor().checks if check.status == "failed"] == []


# openclaw#70567: one embedding call fails half way; "dirty: no", and 8 of 10 files are missing


def test_one_failing_embedding_call_leaves_no_file_out_and_the_index_dirty(tmp_path):
    for number in range(10):
        write(tmp_path, f"{number}.md", f"tea number{number}")
    embeddings = FakeEmbeddings(fail_with=[None, None, DOWN])  # the probe, one batch, the next
    with opened(
        tmp_path, embeddings, embedding_batch_size=2, sync_on_search=False, vector_search="exact"
    ) as engine:
        report = engine.sync()
        assert (report.indexed, report.failed, report.pending) == (10, (), 8)
        assert (report.complete, engine.stats().embeddings) == (False, 2)
        assert len(engine.search("tea", 20).hits) == 10
        assert engine.search("tea").degraded == ("vector: 8 chunks without an embedding yet",)
        assert [job.kind for job in engine.jobs("ready")] == ["embed"]
        again = engine.sync()
        assert (again.complete, again.embedded, engine.stats().embeddings) == (True, 8, 10)
        assert engine.search("tea").degraded == ()
