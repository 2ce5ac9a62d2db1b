"""Inputs that break memories which use Chroma as their database, with Chroma answering."""

import math
from datetime import UTC, datetime, timedelta

import pytest

from langchain_memengine.errors import EmbeddingModelChangedError
from langchain_memengine.retrieval import chroma_collections
from tests.fakes.clock import START
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine, texts


def engine_of(root, embeddings=None, **settings):
    embeddings = embeddings or FakeEmbeddings(32)
    return make_engine(root, embeddings=embeddings, vector_search="chroma", **settings)


def answers(engine, query, k=10):
    """Return the hits that Chroma found, once it has caught up."""
    engine.search(query, k)
    engine.wait_for_chroma()
    result = engine.search(query, k)
    assert result.degraded == ()
    assert {hit.receipt.vector_path for hit in result.hits} <= {"chroma", None}
    assert any(hit.receipt.vector_rank for hit in result.hits) or not result.hits
    return result.hits


class Reversed(FakeEmbeddings):
    """Another model with vectors of the same length."""

    model = "other"

    def _vector(self, text):
        return super()._vector(text)[::-1]


@pytest.mark.parametrize(
    "other", [lambda: FakeEmbeddings(16), lambda: Reversed(8)], ids=["dimension", "same dimension"]
)
def test_another_model_is_refused_by_name_and_never_answers_from_the_old_vectors(tmp_path, other):
    with engine_of(tmp_path, FakeEmbeddings(8)) as engine:
        engine.add_texts(["tea", "coffee", "green tea"])
        assert answers(engine, "tea")[0].cosine == pytest.approx(1.0)
    with engine_of(tmp_path, other()) as engine:
        engine.add_texts(["black tea"])
        result = engine.search("tea")
        assert {hit.text for hit in result.hits} == {"tea", "green tea", "black tea"}
        assert [hit.cosine for hit in result.hits] == [None] * 3
        assert any("engine.reembed()" in note for note in result.degraded)
        with pytest.raises(EmbeddingModelChangedError, match=r"engine\.reembed\(\)"):
            engine._embedding.verify()
        assert engine.stats().chunks == 4
        assert engine.reembed().embedded == 4
        best = answers(engine, "tea")[0]
        assert (best.text, best.cosine) == ("tea", pytest.approx(1.0))


METADATA = [
    ({}, {}),
    (None, {}),
    ({"a": []}, {"a": []}),
    ({"a": {}}, {"a": {}}),
    ({"a": {"b": {"c": 1}}}, {"a": {"b": {"c": 1}}}),
    ({"a": None}, {"a": None}),
    ({"a": datetime(2026, 1, 2, tzinfo=UTC)}, {"a": "2026-01-02T00:00:00+00:00"}),
    ({"a": math.nan, "b": -math.inf}, {"a": None, "b": None}),
    ({"a": [1, "x", None, [2.5], True]}, {"a": [1, "x", None, [2.5], True]}),
    ({"a": 2**70, "": "", "$x": 1}, {"a": 2**70, "": "", "$x": 1}),
]


def test_any_metadata_comes_back(tmp_path):
    with engine_of(tmp_path) as engine:
        engine.add_texts([f"tea number{i}" for i in range(len(METADATA))], [m for m, _ in METADATA])
        found = {hit.text: hit.metadata for hit in answers(engine, "tea", 20)}
        assert found == {f"tea number{i}": kept for i, (_, kept) in enumerate(METADATA)}


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, "abcd"),
        ({"x": 1, "y": 2}, "b"),
        ({"x": 1, "y": 3}, ""),
        ({"x": {"$in": []}}, ""),
        ({"x": {"$nin": []}}, "abc"),
        ({"$and": [{"x": 1}]}, "ab"),
        ({"$or": [{"x": 2}]}, "c"),
        ({"$and": [{"x": 1}, {"$or": [{"y": 1}]}]}, "a"),
        ({"when": {"$gte": START}}, "a"),
        ({"when": START - timedelta(days=1)}, "b"),
    ],
)
def test_any_filter_means_what_it_says(tmp_path, wanted, found):
    metadata = [
        {"x": 1, "y": 1, "when": START},
        {"x": 1, "y": 2, "when": START - timedelta(days=1)},
        {"x": 2},
        {},
    ]
    with engine_of(tmp_path) as engine:
        engine.add_texts([f"tea {name}" for name in "abcd"], metadata)
        answers(engine, "tea")
        hits = engine.search("tea", filter=wanted).hits
        assert sorted(hit.text for hit in hits) == [f"tea {name}" for name in found]


def test_equal_ids_in_one_call_and_over_calls_mean_the_last(tmp_path):
    with engine_of(tmp_path) as engine:
        engine.add_texts(["tea one", "tea two", "tea three"], ids=["a", "b", "a"])
        assert {hit.text for hit in answers(engine, "tea")} == {"tea two", "tea three"}
        engine.add_texts(["tea four"], ids=["b"])
        assert {hit.text for hit in answers(engine, "tea")} == {"tea three", "tea four"}
        engine.delete(["a"])
        assert {hit.text for hit in answers(engine, "tea")} == {"tea four"}


def test_more_texts_than_chroma_takes_at_once(tmp_path):
    count = 2 * chroma_collections.BATCH + 1
    with engine_of(tmp_path, FakeEmbeddings(4)) as engine:
        engine.add_texts([f"number{i}" for i in range(count)], ids=[str(i) for i in range(count)])
        assert answers(engine, f"number{count - 1}", 3)[0].text == f"number{count - 1}"
        index, _ = engine._derived.chroma
        client = index._collections._open()
        assert client.get_max_batch_size() >= chroma_collections.BATCH
        (collection,) = client.list_collections()
        assert collection.count() == count
        engine.delete([str(i) for i in range(1, count)])
        assert texts(engine.search("number0 number1")) == ["number0"]
        answers(engine, "number0")
        assert collection.count() == 1


@pytest.mark.parametrize("roots", ["memory", "disk"])
def test_engines_of_the_same_store_id_share_nothing(tmp_path, roots):
    place = (lambda name: tmp_path / name) if roots == "disk" else lambda _: None
    with engine_of(place("one")) as one, engine_of(place("two")) as two:
        one.add_texts(["tea"])
        one.search("tea")
        one.wait_for_chroma()
        assert two.search("tea").hits == ()
        two.add_texts(["tea, too"])
        two.search("tea")
        two.wait_for_chroma()
        assert texts(one.search("tea")) == ["tea"]
        assert texts(two.search("tea")) == ["tea, too"]


def test_no_texts_and_no_hits_ask_chroma_for_nothing(tmp_path):
    with engine_of(tmp_path) as engine:
        assert engine.add_texts([]) == []
        assert answers(engine, "tea") == ()
        engine.add_texts(["tea"])
        assert len(answers(engine, "tea")) == 1
        assert engine.search("tea", 0).hits == ()
        assert engine.search("").hits == ()
