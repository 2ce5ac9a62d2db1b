"""The vector leg answered by an embedded Chroma, which follows the database."""

from langchain_memengine.retrieval import chroma_client
from langchain_memengine.retrieval.chroma_collections import ChromaCollections
from langchain_memengine.types import Actor
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine

CORPUS = [f"tea number{i} of the {'morning' if i % 2 else 'evening'}" for i in range(40)]
SIZE = 1024
"""Numbers of a vector: no two of the texts have the same, to which Chroma may know no way."""


def engine_of(root, **settings):
    return make_engine(root, embeddings=FakeEmbeddings(SIZE), vector_search="chroma", **settings)


def found(engine, query, **options):
    """Return ids and the path that answered, once Chroma has caught up."""
    first = engine.search(query, 10, **options)
    engine.wait_for_chroma()
    result = engine.search(query, 10, **options)
    assert (first.degraded, result.degraded) == ((), ())
    assert [hit.id for hit in first.hits] == [hit.id for hit in result.hits]
    return [hit.id for hit in result.hits], {hit.receipt.vector_path for hit in result.hits}


def test_chroma_answers_as_exact_vectors_do_and_follows_every_change(tmp_path):
    queries = ["tea morning", "number7 evening"]
    with (
        engine_of(tmp_path) as engine,
        make_engine(tmp_path, embeddings=FakeEmbeddings(SIZE), vector_search="exact") as exact,
    ):

        def same_as_exact():
            for query in queries:
                ids, paths = found(engine, query)
                assert paths == {"chroma"}
                assert ids == [hit.id for hit in exact.search(query, 10).hits]

        engine.add_texts(CORPUS, ids=[str(i) for i in range(40)])
        assert {hit.receipt.vector_path for hit in engine.search("tea").hits} == {"exact"}
        same_as_exact()
        engine.delete(["7", "8"])
        engine.add_texts(["tea number7 came back in the morning"], ids=["9"])
        same_as_exact()
        assert engine.search("number8").hits == ()
        filtered = engine.search("tea", filter={"a": {"$ne": 1}})
        assert {hit.receipt.vector_path for hit in filtered.hits} <= {"exact"}
    with (
        engine_of(tmp_path) as engine,
        make_engine(tmp_path, embeddings=FakeEmbeddings(SIZE), vector_search="exact") as exact,
    ):
        expected = [hit.id for hit in exact.search(queries[0], 10).hits]
        assert found(engine, queries[0]) == (expected, {"chroma"})


def test_owners_have_collections_of_their_own(tmp_path):
    alice, bob = Actor("alice"), Actor("bob")
    with engine_of(tmp_path) as engine:
        engine.add_texts(["tea of all"])
        engine.add_texts(["tea of alice"] * 30, actor=alice)
        engine.add_texts(["tea of bob"], actor=bob)
        ids, paths = found(engine, "tea", actor=bob)
        assert (len(ids), paths) == (2, {"chroma"})


def test_second_engine_on_a_root_never_opens_the_chroma_folder(tmp_path, monkeypatch):
    with engine_of(tmp_path) as holder, monkeypatch.context() as patch:
        holder.add_texts(CORPUS)

        def forbidden(self):
            raise AssertionError("opened a folder that another engine maintains")

        patch.setattr(ChromaCollections, "_open", forbidden)
        for read_only in (False, True):
            with engine_of(tmp_path, read_only=read_only) as other:
                ids, paths = found(other, "tea morning")
                assert (len(ids), paths) == (10, {"exact"})


def test_removed_chroma_folder_is_rebuilt_without_the_embedder(tmp_path):
    with engine_of(tmp_path) as engine:
        engine.add_texts(CORPUS)
        before = found(engine, "tea morning")
    (tmp_path / ".memengine/chroma").rename(tmp_path / "away")
    with engine_of(tmp_path) as engine:
        embeddings = engine._embedding._required().embeddings
        assert found(engine, "tea morning") == before
        assert not set(embeddings.texts) & set(CORPUS)


def test_chroma_that_fails_leaves_the_answer_to_exact_vectors(tmp_path, monkeypatch):
    with engine_of(tmp_path) as engine:
        engine.add_texts(CORPUS)
        found(engine, "tea")

        def broken(*_):
            raise RuntimeError("segment is damaged")

        monkeypatch.setattr(chroma_client, "nearest", broken)
        result = engine.search("tea")
        assert {hit.receipt.vector_path for hit in result.hits} == {"exact"}
        assert "segment is damaged" in result.degraded[0]


def test_keyword_only_store_never_asks_for_chroma(tmp_path):
    with make_engine(tmp_path, vector_search="chroma") as engine:
        engine.add_texts(CORPUS)
        assert len(engine.search("tea").hits) == 6
        engine.wait_for_chroma()
    assert not (tmp_path / ".memengine/chroma").exists()
