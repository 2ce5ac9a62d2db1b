"""The best of many numbers, against sorting."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.retrieval.top import top


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
