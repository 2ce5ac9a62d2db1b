import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from langchain_memengine.errors import EmbeddingError
from langchain_memengine.models.vectors import as_matrix, unit_vector, unit_vectors


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ([[1.0]], "1 vectors for 2 texts"),
        ([], "0 vectors for 2 texts"),
        ([[1.0], [1.0], [1.0]], "3 vectors for 2 texts"),
        ([[1.0], [1.0, 2.0]], "vectors of one length"),
        ([[], []], r"shape \(2, 0\)"),
        ([1.0, 2.0], r"shape \(2,\)"),
        (None, "something else than vectors"),
        ([["x"], ["y"]], "something else than vectors"),
    ],
)
def test_an_answer_that_is_not_one_vector_a_text_is_an_error(answer, told):
    with pytest.raises(EmbeddingError, match=told):
        as_matrix(answer, 2, name="Fake")


def test_a_list_of_lists_or_of_arrays_is_an_answer():
    for answer in (
        [[1, 2], [3, 4]],
        [np.array([1, 2]), np.array([3, 4])],
        np.array([[1, 2], [3, 4]]),
    ):
        assert as_matrix(answer, 2, name="Fake").tolist() == [[1.0, 2.0], [3.0, 4.0]]


@given(arrays(np.float64, (3, 4)))
def test_a_text_has_a_vector_of_length_one_or_an_error(matrix):
    for outcome in unit_vectors(matrix, ["a", "b", "c"], name="Fake"):
        if not isinstance(outcome, EmbeddingError):
            assert outcome.dtype == np.float32
            assert np.linalg.norm(outcome.astype(np.float64)) == pytest.approx(1.0, abs=1e-6)


@given(arrays(np.float64, (2, 3), elements=st.floats(-1e6, 1e6)), st.floats(1e-3, 1e3))
def test_the_length_of_an_answer_does_not_count(matrix, factor):
    once, scaled = (unit_vectors(m, ["a", "b"], name="Fake") for m in (matrix, matrix * factor))
    for a, b, norm in zip(once, scaled, np.linalg.norm(matrix, axis=1), strict=True):
        if norm > 1e-100:
            assert a == pytest.approx(b, abs=1e-6)


def test_the_short_way_gives_the_unit_vector_of_a_query():
    assert unit_vector([3.0, 4.0]).tolist() == pytest.approx([0.6, 0.8])
    assert unit_vector([3, 4]).dtype == np.float32


@pytest.mark.parametrize(
    "wrong", [[], [0.0, 0.0], [math.nan, 1.0], [math.inf, 1.0], None, "text", [[1.0]], 3.0, [None]]
)
def test_the_short_way_leaves_everything_odd_to_the_long_one(wrong):
    assert unit_vector(wrong) is None
