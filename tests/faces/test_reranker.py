"""Age and popularity over anybody's documents; expected scores are worked out by hand."""

import math
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_classic.retrievers import ContextualCompressionRetriever
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ValidationError

from langchain_memengine.faces.reranker import DecayReranker

NOW = datetime(2026, 5, 19, 12, 0, tzinfo=UTC)


def old(days, name="", **metadata):
    event = (NOW - timedelta(days=days)).isoformat()
    return Document(page_content=name or f"{days}", metadata={"event_at": event, **metadata})


def reranked(documents, **options):
    found = DecayReranker(now=NOW, **options).compress_documents(documents, "query")
    return {doc.page_content: doc.metadata["relevance_score"] for doc in found}


def test_the_curve():
    documents = [old(0, s=1), old(14, s=1), old(34, s=1), old(999, s=1), old(-5, "future", s=1)]
    scores = reranked(documents, score_key="s")
    assert scores["0"] == scores["14"] == scores["future"] == 1.0
    assert scores["34"] == pytest.approx(math.exp(-0.015 * 20))
    assert scores["999"] == 0.4


def test_every_part_of_the_curve_can_be_set():
    options = {"rate": 0.1, "after_days": 4, "floor": 0.2, "weight": 0.5, "score_key": "s"}
    scores = reranked([old(14, s=2.0), old(999, s=2.0)], **options)
    assert scores["14"] == pytest.approx(2 * (0.5 + 0.5 * math.exp(-1)))
    assert scores["999"] == pytest.approx(2 * (0.5 + 0.5 * 0.2))


def test_without_scores_ranks_count():
    scores = reranked([old(0, "first"), old(0, "second")], rank_constant=10)
    assert scores == {"first": pytest.approx(1 / 11), "second": pytest.approx(1 / 12)}
    assert list(reranked([old(999, "old"), old(0, "new")])) == ["new", "old"]


def test_numbers_beyond_all_measure_are_no_error():
    documents = [
        old(0, "huge", s=1, access_count=1e300),
        old(0, "integer", s=1, access_count=10**400),
        old(0, "score", s=10**400),
    ]
    scores = reranked(documents, score_key="s", access_bonus=0.01, access_cap=5)
    assert scores == {"huge": 1.05, "integer": 1.0, "score": 0.0}


def test_accesses_add_up_to_the_cap():
    documents = [
        old(0, "never", s=1), old(0, "thrice", s=1, access_count=3),
        old(0, "often", s=1, access_count=99), old(0, "odd", s=1, access_count="many"),
    ]  # fmt: skip
    scores = reranked(documents, score_key="s", access_bonus=0.01, access_cap=5)
    assert scores == pytest.approx({"often": 1.05, "thrice": 1.03, "never": 1.0, "odd": 1.0})
    assert list(scores)[:2] == ["often", "thrice"]


@pytest.mark.parametrize(
    "when",
    [
        NOW - timedelta(days=34),
        (NOW - timedelta(days=34)).replace(tzinfo=None),
        (NOW - timedelta(days=34)).isoformat(),
        (NOW - timedelta(days=34)).timestamp(),
    ],
)
def test_times_of_many_kinds(when):
    documents = [Document("x", metadata={"made": when, "s": 1})]
    scores = reranked(documents, time_key="made", score_key="s")
    assert scores["x"] == pytest.approx(math.exp(-0.015 * 20))


@pytest.mark.parametrize("when", [None, "soon", True, float("inf"), 1e300, [], date.min])
def test_what_has_no_time_never_ages_and_nothing_fails(when):
    documents = [Document("x", metadata={"made": when, "s": 1})]
    scores = reranked(documents, time_key="made", score_key="s")
    assert scores["x"] == (0.4 if when == date.min else 1.0)


def test_scores_that_are_none_count_as_zero():
    documents = [old(0, "none"), old(0, "nan", s=math.nan), old(0, "good", s=0.1)]
    assert reranked(documents, score_key="s") == {"good": 0.1, "none": 0.0, "nan": 0.0}


def test_given_documents_stay_as_they_are_and_top_n_are_returned():
    documents = [old(999, "old"), old(0, "new")]
    before = [document.model_copy(deep=True) for document in documents]
    (best,) = DecayReranker(now=NOW, top_n=1).compress_documents(documents, "query")
    assert best.page_content == "new"
    assert documents == before
    assert DecayReranker().compress_documents([], "query") == []


def test_by_default_ages_count_back_from_the_call():
    today = Document("today", metadata={"time": datetime.now(UTC)})
    past = Document("past", metadata={"time": datetime(2001, 1, 1, tzinfo=UTC)})
    found = DecayReranker().compress_documents([past, today], "query")
    assert [document.page_content for document in found] == ["today", "past"]


@pytest.mark.parametrize("wrong", [{"floor": 2}, {"weight": -1}, {"rate": -1}, {"flor": 1}])
def test_what_cannot_work_is_refused(wrong):
    with pytest.raises(ValidationError):
        DecayReranker(**wrong)


async def test_it_goes_behind_any_retriever():
    class Any(BaseRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            return [old(999, "old"), old(0, "new")]

    retriever = ContextualCompressionRetriever(
        base_retriever=Any(), base_compressor=DecayReranker(now=NOW)
    )
    assert [document.page_content for document in retriever.invoke("x")] == ["new", "old"]
    assert await retriever.ainvoke("x") == retriever.invoke("x")


@given(st.lists(st.floats(0, 5000), max_size=8))
def test_of_equal_documents_the_newer_is_never_behind(ages):
    found = reranked([old(age, str(at), s=1) for at, age in enumerate(ages)], score_key="s")
    assert sorted(found, key=int) == [str(at) for at in range(len(ages))]
    scores = list(found.values())
    assert scores == sorted(scores, reverse=True)
    assert all(0.4 <= score <= 1 for score in scores)
