"""The best of many numbers, against sorting."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.retrieval.top import all_as_high, top, top_newest


def by_sorting(scores, k, above):
    return sorted(
        (i for i, score in enumerate(scores) if score > above), key=lambda i: (-scores[i], i)
    )[:k]


@given(
    st.lists(st.sampled_from([-2.0, -0.5, 0.0, 0.25, 1.0, 2.0, 3.0]), max_size=400),
    st.integers(1, 40),
    st.sampled_from([-2.0, 0.0]),
)
def test_it_is_a_stable_sort_with_many_ties(scores, k, above):
    assert top(np.asarray(scores), k, above=above).tolist() == by_sorting(scores, k, above)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [63, 64, 65, 5000])
@pytest.mark.parametrize("k", [1, 10, 60, 6000])
def test_it_is_a_sort_of_long_arrays(dtype, size, k):
    scores = np.random.default_rng(size).normal(size=size).astype(dtype)
    found = top(scores, k, above=0.0)
    assert found.tolist() == by_sorting(scores.tolist(), k, 0.0)
    assert found.dtype == np.int64


def test_nothing_above_gives_nothing():
    assert top(np.zeros(0), 3, above=0.0).tolist() == []
    assert top(np.zeros(500), 3, above=0.0).tolist() == []


@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 0.25, 1.0, 2.0]), st.integers(0, 5).map(float)),
        max_size=60,
    ),
    st.integers(1, 12),
)
def test_of_equal_ones_the_newest_are_among_the_best(pairs, k):
    scores = np.asarray([score for score, _ in pairs], float)
    newness = np.asarray([new for _, new in pairs], float)
    found = top_newest(scores, k, above=0.0, newness=lambda at: newness[at]).tolist()
    expected = sorted(
        (i for i, score in enumerate(scores) if score > 0),
        key=lambda i: (-scores[i], -newness[i], i),
    )[:k]
    assert sorted(found) == sorted(expected)
    assert [scores[i] for i in found] == sorted((scores[i] for i in found), reverse=True)
    together = all_as_high(scores, k, above=0.0).tolist()
    assert set(expected) <= set(together)
    assert len(set(together)) == len(together)
    assert {scores[i] for i in together} == {scores[i] for i in expected}


def test_how_new_they_are_is_asked_only_where_room_is_short():
    def never(_):
        raise AssertionError

    scores = np.asarray([3.0, 2.0, 2.0, 1.0])
    assert top_newest(scores, 3, above=0.0, newness=never).tolist() == [0, 1, 2]
    assert top_newest(scores, 9, above=0.0, newness=never).tolist() == [0, 1, 2, 3]
