"""The parts of a search that stand on their own."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.answers import (
    Hit,
    Receipt,
)
from langchain_memengine.errors import ConfigurationError
from langchain_memengine.rankings import RANKINGS
from langchain_memengine.retrieval.hit_rows import within_budget
from langchain_memengine.retrieval.query import Query, Stopwatch
from langchain_memengine.types import Actor
from tests.fakes.clock import START
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine, texts

RECEIPT = Receipt(1, 1.0, None, None, None, None, 0.1, None, 1.0, 0, 0.0, "rrf", "app", "trusted")
QUERY = Query("tea", 3, RANKINGS["rrf"], ("shared",), START)


def hit(text, tokens=1):
    return Hit("i", text, 1.0, "s", "", 1, 1, "", tokens, "global", "", None, {}, RECEIPT)


def chosen(hits, **budgets):
    return within_budget(iter(hits), replace(QUERY, **budgets))


def test_budget_of_k():
    assert len(chosen([hit("x")] * 5)) == 3
    assert len(chosen([hit("x")] * 2)) == 2
    assert chosen([]) == []


@given(
    st.lists(st.tuples(st.text(max_size=9), st.integers(0, 9)), max_size=6),
    st.integers(0, 20),
    st.integers(0, 20),
)
def test_budgets_keep_the_longest_beginning_that_fits(pairs, max_chars, max_tokens):
    hits = [hit(text, tokens) for text, tokens in pairs]
    found = chosen(hits, k=6, max_chars=max_chars, max_tokens=max_tokens)

    def fits(some):
        chars, tokens = sum(len(h.text) for h in some), sum(h.tokens for h in some)
        return (not max_chars or chars <= max_chars) and (not max_tokens or tokens <= max_tokens)

    assert found == hits[: len(found)]
    assert fits(found)
    assert len(found) == len(hits) or not fits(hits[: len(found) + 1])


def test_more_hits_are_not_read_than_are_needed():
    read = []

    def hits():
        for i in range(10):
            read.append(i)
            yield hit("x")

    within_budget(hits(), QUERY)
    assert read == [0, 1, 2]


def test_query_rejects_negative_numbers_and_knows_when_it_asks_nothing():
    for name in ("k", "max_chars", "max_tokens"):
        with pytest.raises(ConfigurationError, match=f"{name}=-1"):
            replace(QUERY, **{name: -1})
    assert not QUERY.asks_nothing
    assert replace(QUERY, k=0).asks_nothing
    assert replace(QUERY, text=" \t\n").asks_nothing


def test_stopwatch_adds_up_by_stage():
    watch = Stopwatch()
    watch.lap("a")
    first = watch.timings["a"]
    watch.lap("b")
    watch.lap("a")
    assert watch.timings["a"] >= first
    assert watch.timings["total"] == pytest.approx(watch.timings["a"] + watch.timings["b"])


def test_last_words_of_a_query_are_searched():
    with make_engine() as engine:
        engine.add_texts(["tea", "coffee"])
        filler = " ".join(f"word{i}" for i in range(64))
        assert texts(engine.search(f"tea {filler}")) == []
        assert texts(engine.search(f"{filler} tea")) == ["tea"]


def test_only_the_end_of_a_long_query_is_read():
    assert replace(QUERY, text="a" + "b" * 4000).tail == "b" * 4000
    assert replace(QUERY, text="short").tail == "short"


def test_floor_of_the_settings_decides_what_is_near_enough():
    def found(min_cosine):
        with make_engine(embeddings=FakeEmbeddings(256), min_cosine=min_cosine) as engine:
            engine.add_texts(["tea of the house", "rockets"])
            return texts(engine.search("the of", 5))  # stop words: no keyword of the query counts

    assert found(0.5) == ["tea of the house"]  # cosine 2 / (2 * sqrt 2) = 0.71
    assert found(0.8) == []


def test_mmr_prefers_what_says_something_else():
    diverse = RANKINGS["rrf"].model_copy(update={"mmr_lambda": 0.3})
    with make_engine(embeddings=FakeEmbeddings(256)) as engine:
        engine.add_texts(["tea milk", "tea milk", "tea with honey and lemon"])
        assert sorted(texts(engine.search("tea milk", 2))) == ["tea milk", "tea milk"]
        assert texts(engine.search("tea milk", 2, ranking=diverse)) == [
            "tea milk",
            "tea with honey and lemon",
        ]


def test_mmr_takes_memories_whose_owner_has_no_vector_yet():
    diverse = RANKINGS["balanced"].model_copy(update={"mmr_lambda": 0.5})
    outage = ConnectionError("down")
    embedder = FakeEmbeddings(fail_with=[None, None, outage])  # after the probe and two texts
    with make_engine(embeddings=embedder, ranking=diverse, sync_on_search=False) as engine:
        engine.add_texts(["green tea", "black tea"])
        engine.add_texts(["my tea"], actor=Actor("anna"))
        found = engine.search("tea", actor=Actor("anna"))
        assert sorted(texts(found)) == ["black tea", "green tea", "my tea"]
        assert found.degraded == ("vector: 1 chunk without an embedding yet",)


def test_equal_hits_are_chosen_alike_in_whatever_order_they_were_stored():
    def ids(*order):
        with make_engine() as engine:
            for name in order:
                engine.add_texts(["tea"], ids=[name])
            return [[hit.id for hit in engine.search("tea", k).hits] for k in (1, 2, 3, 4)]

    found = ids("a", "b", "c", "d")
    assert found == ids("d", "b", "c", "a")
    assert found == [sorted(found[3])[:k] for k in (1, 2, 3, 4)]
