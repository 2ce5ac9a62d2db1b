"""Whole files and conversations, scored like documents."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.retrieval.context_index import ContextIndex
from langchain_memengine.retrieval.keyword_index import KeywordIndex
from langchain_memengine.retrieval.surroundings import Surroundings


def index_of(chunks, keys):
    keyword, surroundings = KeywordIndex(), Surroundings()
    context = ContextIndex(keyword, surroundings)
    surroundings.add(keys, [None] * len(keys))
    keyword.add([chunk.split() for chunk in chunks])
    context.forget()
    return keyword, surroundings, context


def scores(context, *words):
    return context.scores(words, context.statistics(set(words)))


WORDS = st.lists(st.sampled_from(["tea", "milk", "cake", "rain"]), min_size=1, max_size=6)


@given(st.lists(st.tuples(WORDS, st.sampled_from("abc")), min_size=1, max_size=12), WORDS)
def test_a_group_scores_like_one_document_of_all_its_chunks(chunks, query):
    _, surroundings, context = index_of(
        [" ".join(words) for words, _ in chunks], [key for _, key in chunks]
    )
    names = list(dict.fromkeys(key for _, key in chunks))
    whole = KeywordIndex([[w for words, k in chunks if k == key for w in words] for key in names])
    np.testing.assert_allclose(scores(context, *query), whole.get_scores(query), atol=1e-12)
    assert surroundings.groups == len(names)


def test_removed_chunks_do_not_count():
    keyword, surroundings, context = index_of(["tea", "milk", "milk"], ["a", "a", "b"])
    keyword.remove([0])
    surroundings.remove([0])
    context.forget()
    assert scores(context, "tea").tolist() == [0.0, 0.0]
    assert context.statistics({"milk"}).document_frequency == {"milk": 2}


def test_an_emptied_group_is_no_document():
    keyword, _, context = index_of(["tea", "milk"], ["a", "b"])
    keyword.remove([1])
    context.forget()
    assert context.statistics(set()).documents == 1
    assert scores(context, "tea") == pytest.approx([np.log(1 + 0.5 / 1.5), 0.0])
