"""BM25 over posting lists against rank_bm25, and inputs that break other implementations."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from langchain_memengine.retrieval import keyword_index, postings
from langchain_memengine.retrieval.keyword_index import CorpusStatistics, KeywordIndex
from langchain_memengine.retrieval.top import top
from langchain_memengine.text.words import WordSplitter

QUERIES = (["a"], ["a", "b", "a"], ["c", "zzz"], ["e", "d", "c", "b", "a"], [])

words = st.sampled_from("abcde")
documents = st.lists(st.lists(words, max_size=6), min_size=1, max_size=5)
operations = st.lists(st.one_of(documents, st.integers(0, 30)), max_size=20)


class PlainBM25(BM25Okapi):
    """rank_bm25 itself, with the idf that is never negative."""

    def _calc_idf(self, nd):
        for word, n in nd.items():
            self.idf[word] = math.log(1 + (self.corpus_size - n + 0.5) / (n + 0.5))


def reference(corpus, query, **parameters):
    if not any(corpus):
        return [0.0] * len(corpus)  # rank_bm25 divides by the average length
    return PlainBM25(corpus, **parameters).get_scores(query)


def found(index, query, k=10):
    """Return the positions of the documents that match, best first."""
    return top(index.get_scores(query), k, above=0.0).tolist()


@given(
    operations,
    st.sampled_from([(1.5, 0.75), (0.9, 0.4), (1.2, 0.0), (0.5, 0.9)]),
    st.sampled_from([0, 3, 4096]),
    st.sampled_from([0.0, 0.5, 2.0]),
    st.sampled_from([0, 5, 2_000_000]),
)
def test_scores_are_those_of_rank_bm25_after_any_changes(
    steps, parameters, min_delta, dense_share, cached
):
    k1, b = parameters
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postings, "MIN_DELTA", min_delta)
        patch.setattr(keyword_index, "DENSE_SHARE", dense_share)
        patch.setattr(keyword_index, "MAX_CACHED_WEIGHTS", cached)
        index = KeywordIndex(k1=k1, b=b)
        slots: dict[int, list[str]] = {}
        for step in steps:
            if isinstance(step, int):
                index.remove([step, step])  # also slots that are empty or were never used
                slots.pop(step, None)
            else:
                first = index.add(step)
                slots |= dict(enumerate(step, start=first))
            corpus = list(slots.values())
            for query in QUERIES:
                scores = index.get_scores(query)
                expected = reference(corpus, query, k1=k1, b=b)
                np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-9)
        corpus = list(slots.values())
        assert index.corpus_size == len(corpus)
        assert index.doc_len == [len(document) for document in corpus]
        if any(corpus):
            plain = PlainBM25(corpus)
            assert index.avgdl == pytest.approx(plain.avgdl)
            assert index.idf == pytest.approx(plain.idf)


@given(st.lists(st.lists(words, max_size=6), max_size=12), st.lists(words, max_size=5))
def test_no_score_is_negative_and_only_documents_with_a_word_of_the_query_score(corpus, query):
    scores = KeywordIndex(corpus).get_scores(query)
    assert [score > 0 for score in scores] == [bool(set(query) & set(doc)) for doc in corpus]
    assert (scores >= 0).all()


@given(documents, documents, st.lists(words, min_size=1, max_size=4), st.booleans())
def test_two_indexes_with_summed_statistics_score_as_one(left, right, query, warm):
    halves = [KeywordIndex(left), KeywordIndex(right)]
    if warm:  # what was remembered for the statistics of one half must not be used
        for half in halves:
            half.get_scores(query)
    each = [half.statistics(query) for half in halves]
    total = CorpusStatistics(
        documents=sum(statistics.documents for statistics in each),
        words=sum(statistics.words for statistics in each),
        document_frequency={
            word: sum(statistics.document_frequency[word] for statistics in each) for word in query
        },
    )
    assert total == KeywordIndex(left + right).statistics(query)
    scores = np.concatenate([half.scores(query, total) for half in halves])
    np.testing.assert_allclose(scores, reference(left + right, query), rtol=0, atol=1e-9)


def test_a_score_worked_out_by_hand():
    index = KeywordIndex([["tea", "tea", "cake"], ["coffee"]])
    # N = 2, n = 1: idf = ln(1 + 1.5 / 1.5) = ln 2. Average length 2, this one 3, tf 2:
    # 2 * 2.5 / (2 + 1.5 * (0.25 + 0.75 * 3 / 2)) = 5 / 4.0625.
    assert index.get_scores(["tea"]) == pytest.approx([math.log(2) * 5 / 4.0625, 0.0])
    assert index.get_scores(["tea", "tea"])[0] == pytest.approx(2 * math.log(2) * 5 / 4.0625)


def test_rank_bm25s_own_methods_work():
    texts = ["tea and cake", "coffee", "tea"]
    index = KeywordIndex([text.split() for text in texts])
    index.remove([1])
    assert index.get_top_n(["tea"], ["tea and cake", "tea"], n=1) == ["tea"]
    assert index.get_batch_scores(["cake"], [1]) == [0.0]
    index.add([["cake"]])
    assert index.get_top_n(["cake"], ["tea and cake", "tea", "new"], n=2) == [
        "new",
        "tea and cake",
    ]


def test_slots_are_numbered_in_order_and_never_used_again():
    index = KeywordIndex([["a"], ["b"]])
    index.remove([1, 0])
    assert index.add([["c"], ["a"]]) == 2
    assert (index.scores(["a"]) > 0).tolist() == [False, False, False, True]
    assert index.corpus_size == 2
    index.remove([2, 2, 0, 77])
    assert index.corpus_size == 1
    assert index.statistics(["a", "c", "zzz"]) == CorpusStatistics(1, 1, {"a": 1, "c": 0, "zzz": 0})


def test_one_new_document_does_not_rewrite_the_lists(monkeypatch):
    monkeypatch.setattr(postings, "MIN_DELTA", 10)
    index = KeywordIndex([["a", "b"]] * 100)
    merges = index.merges
    for _ in range(25):  # 50 postings: a quarter of the 200 in the base
        index.add([["a", "c"]])
    assert index.merges == merges
    assert np.count_nonzero(index.get_scores(["c"])) == 25
    index.add([["a", "c"]])
    assert index.merges == merges + 1
    assert np.count_nonzero(index.get_scores(["c"])) == 26


# Inputs from public reports about other implementations


def test_an_empty_corpus_finds_nothing():
    index = KeywordIndex([])
    assert index.get_scores(["a"]).shape == (0,)
    assert (index.avgdl, index.idf, index.corpus_size) == (1.0, {}, 0)
    assert index.get_top_n(["a"], [], n=5) == []
    index.add([])
    assert found(index, ["a"]) == []


def test_documents_without_words_are_no_hits_and_no_division_by_zero():
    split = WordSplitter()
    index = KeywordIndex([split(""), split("  "), split("?!")])
    assert index.get_scores(["a"]).tolist() == [0.0, 0.0, 0.0]
    index.remove([0, 1, 2])
    assert index.get_scores(["a"]).shape == (0,)


def test_a_word_in_half_of_the_documents_still_scores():
    assert found(KeywordIndex([["windy", "london"], ["hello", "there"]]), ["windy"]) == [0]


def test_a_word_in_most_documents_does_not_make_them_rank_last():
    split = WordSplitter()
    texts = ["the user likes tea", "the user likes coffee", "the user likes tea and cake"]
    index = KeywordIndex([split(text) for text in texts])
    assert found(index, split.query("tea")) == [0, 2]


@pytest.mark.parametrize("query", [["zzz"], []])
def test_no_word_in_common_is_no_hit(query):
    assert found(KeywordIndex([["a", "b"], ["c", "d"], ["e", "f"]]), query) == []


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("低头思故乡", "故乡"),
        ("低头思故乡", "故乡 昨日"),
        ("今日は成語しりとりをした", "しりとり"),
        ("친구와 끝말잇기를 했다", "끝말잇기"),
    ],
)
def test_runs_without_spaces_are_found_by_a_part(text, query):
    split = WordSplitter()
    index = KeywordIndex([split("an unrelated text"), split(text), split("별개의 문장")])
    assert found(index, split.query(query))[:1] == [1]


def test_case_and_punctuation_do_not_matter():
    split = WordSplitter()
    index = KeywordIndex([split("She lives in Paris."), split("He lives in London.")])
    assert found(index, split.query("london")) == [1]


def test_a_document_added_later_is_found_by_the_next_query():
    index = KeywordIndex([["a"]] * 3)
    assert found(index, ["new"]) == []
    index.add([["new"]])
    assert found(index, ["new"]) == [3]
    index.remove([3])
    assert found(index, ["new"]) == []
