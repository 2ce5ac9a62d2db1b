"""Exact vectors against brute force."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from langchain_memengine.retrieval import vector_matrix
from langchain_memengine.retrieval.top import top
from langchain_memengine.retrieval.vector_matrix import NO_COSINE, VectorMatrix

X, Y = [1.0, 0.0], [0.0, 1.0]


def unit(seed, count=1, dimension=4):
    vectors = np.random.default_rng(seed).normal(size=(count, dimension))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def matrix_of(vectors, slots=None):
    matrix = VectorMatrix()
    matrix.grow_to(slots if slots is not None else len(vectors))
    matrix.put(np.arange(len(vectors)), np.asarray(vectors, np.float32))
    return matrix


def query(values):
    return np.asarray(values, np.float32)


def test_cosines_are_dot_products_and_missing_ones_are_marked():
    matrix = matrix_of([X, [0.6, 0.8], [-1.0, 0.0]], slots=4)
    assert matrix.cosines(query(X)).tolist() == pytest.approx([1.0, 0.6, -1.0, NO_COSINE])
    assert matrix.cosines_of(np.asarray([3, 1]), query(X)).tolist() == pytest.approx(
        [NO_COSINE, 0.6]
    )
    assert len(matrix) == 3


def test_a_matrix_without_vectors_has_no_cosines():
    matrix = VectorMatrix()
    assert (len(matrix), matrix.cosines(query(X)).tolist()) == (0, [])
    matrix.grow_to(2)
    matrix.put(np.zeros(0, np.int64), np.zeros((0, 0), np.float32))
    assert matrix.cosines(query(X)).tolist() == [NO_COSINE, NO_COSINE]
    assert matrix.cosines_of(np.asarray([1]), query(X)).tolist() == [NO_COSINE]
    assert matrix.rows(np.asarray([0, 1])).tolist() == [[0.0], [0.0]]


def test_a_removed_vector_is_gone_until_it_is_put_again():
    matrix = matrix_of([X, Y])
    matrix.remove([0])
    matrix.remove([])
    assert matrix.cosines(query(X)).tolist() == [NO_COSINE, 0.0]
    assert matrix.rows(np.asarray([1, 0])).tolist() == [Y, [0.0, 0.0]]
    matrix.put(np.asarray([0]), np.asarray([Y], np.float32))
    assert matrix.cosines(query(Y)).tolist() == [1.0, 1.0]


def test_rows_are_copies():
    matrix = matrix_of([X])
    matrix.rows(np.asarray([0]))[:] = 9
    assert matrix.cosines(query(X)).tolist() == [1.0]


operations = st.lists(
    st.one_of(
        st.tuples(st.just("grow"), st.integers(0, 40)),
        st.tuples(st.just("put"), st.sets(st.integers(0, 39), max_size=8)),
        st.tuples(st.just("remove"), st.sets(st.integers(0, 39), max_size=8)),
    ),
    max_size=25,
)


@given(operations)
def test_any_changes_give_the_cosines_of_brute_force(steps):
    matrix, slots, model = VectorMatrix(), 0, {}
    for seed, (what, argument) in enumerate(steps):
        if what == "grow":
            slots = max(slots, argument)
            matrix.grow_to(slots)
            continue
        known = sorted(slot for slot in argument if slot < slots)
        if what == "put":
            vectors = unit(seed, len(known))
            matrix.put(np.asarray(known, np.int64), vectors)
            model |= dict(zip(known, vectors, strict=True))
        else:
            matrix.remove(known)
            model = {slot: v for slot, v in model.items() if slot not in known}
    asked = unit(999)[0]
    expected = [
        float(np.dot(model[slot], asked)) if slot in model else NO_COSINE for slot in range(slots)
    ]
    np.testing.assert_allclose(matrix.cosines(asked), expected, atol=1e-6)
    every = np.arange(slots)[::-1]
    np.testing.assert_allclose(matrix.cosines_of(every, asked), expected[::-1], atol=1e-6)
    assert len(matrix) == len(model)


def test_the_nearest_come_first_ties_in_order_and_missing_ones_never():
    cosines = matrix_of([Y, X, [-1.0, 0.0], X, [0.6, 0.8]], slots=6).cosines(query(X))
    assert top(cosines, 3, above=NO_COSINE).tolist() == [1, 3, 4]
    assert top(cosines, 99, above=NO_COSINE).tolist() == [1, 3, 4, 0, 2]


def test_what_unrelated_texts_have_is_a_guess_for_few_vectors():
    guess = (0.1, 0.25)
    assert VectorMatrix().unrelated() == guess
    assert matrix_of(unit(1, 15)).unrelated() == guess
    full = matrix_of(unit(1, 16, dimension=2))
    assert full.unrelated() != guess
    full.remove([3])
    assert full.unrelated() == guess


def test_what_unrelated_texts_have_is_the_same_for_the_same_vectors():
    vectors = unit(1, 40, dimension=8)
    assert matrix_of(vectors).unrelated() == matrix_of(vectors, slots=60).unrelated()


def test_what_unrelated_texts_have_is_measured_on_random_pairs():
    # Cosines of random directions in d dimensions have mean 0 and deviation 1 / sqrt(d).
    average, rarely_over = matrix_of(unit(1, 2000, dimension=100)).unrelated()
    assert average == pytest.approx(0.0, abs=0.02)
    assert rarely_over == pytest.approx(0.2, abs=0.03)


def test_what_unrelated_texts_have_stays_within_its_bounds():
    assert matrix_of([X] * 20).unrelated() == pytest.approx((0.95, 0.8))
    assert matrix_of(np.eye(40)).unrelated() == pytest.approx((0.0, 0.1))


@pytest.mark.parametrize("dimension", [8, 64, 384])
def test_a_cosine_does_not_depend_on_the_slot(dimension):
    asked, vector = unit(1, 1, dimension)[0], unit(2, 1, dimension)[0]
    cosines = set()
    for slots in range(1, 70):
        grown = matrix_of([vector] * slots)
        grown.grow_to(slots + 1)
        grown.put(np.asarray([slots]), vector[None])
        saved = VectorMatrix.from_arrays(grown.to_arrays())
        cosines.update(grown.cosines(asked).tolist(), saved.cosines(asked).tolist())
        cosines.update(grown.cosines_of(np.arange(slots), asked).tolist())
    assert len(cosines) == 1


def nearest_of(cosines, k):
    """Return the slots of the highest cosines, ties in order and all of them."""
    order = sorted(range(len(cosines)), key=lambda slot: (-cosines[slot], slot))
    embedded = [slot for slot in order if cosines[slot] > NO_COSINE]
    return [slot for slot in embedded if cosines[slot] >= cosines[embedded[:k][-1]]]


@pytest.fixture(params=[1, 1_000_000], ids=["quantized", "plain"])
def _either_way(request, monkeypatch):
    monkeypatch.setattr(vector_matrix, "QUANTIZED_FROM", request.param)


either_way = pytest.mark.usefixtures("_either_way")


@either_way
@pytest.mark.parametrize("kept", [0, 1, 44, 200, 299])
def test_the_nearest_are_those_of_the_whole_product(kept):
    matrix = matrix_of(unit(1, 300, dimension=384), slots=310)
    mask = np.zeros(310, np.bool_)
    mask[np.random.default_rng(kept).choice(300, kept, replace=False)] = True
    mask[305] = True  # without a vector
    for asked in unit(3, 4, dimension=384):
        cosines = matrix.cosines(asked)
        assert matrix.nearest(asked, 7).tolist() == nearest_of(cosines.tolist(), 7)
        cosines[~mask] = NO_COSINE
        assert matrix.nearest(asked, 7, mask).tolist() == nearest_of(cosines.tolist(), 7)


@either_way
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # the same for all examples
@given(
    st.lists(st.sampled_from([0, 1, 2, 3]), max_size=30),
    st.sets(st.integers(0, 29)),
    st.integers(1, 31),
)
def test_ties_come_in_order_and_what_was_removed_never(directions, removed, k):
    circle = np.asarray([X, Y, [0.6, 0.8], [-1.0, 0.0]], np.float32)
    matrix = matrix_of(circle[directions])
    matrix.remove([slot for slot in removed if slot < len(directions)])
    found = matrix.nearest(query(X), k).tolist()
    assert found == nearest_of(matrix.cosines(query(X)).tolist(), k)


def test_more_vectors_than_are_picked_out_at_a_time_have_the_same_cosines():
    matrix, asked = matrix_of(unit(1, 600, dimension=8)), unit(2, 1, dimension=8)[0]
    slots = np.random.default_rng(3).permutation(600)
    assert matrix.cosines_of(slots, asked).tolist() == matrix.cosines(asked)[slots].tolist()


def test_the_nearest_are_found_with_few_exact_products(monkeypatch):
    matrix, asked, read = matrix_of(unit(1, 5000, dimension=384)), unit(2, 1, 384)[0], []

    def telling(vectors, other):
        read.append(len(vectors))
        return vecdot(vectors, other)

    vecdot = np.vecdot
    monkeypatch.setattr(np, "vecdot", telling)
    matrix.nearest(asked, 10)
    assert 10 <= sum(read) < 100


def test_quantized_vectors_come_once_they_pay_and_follow_what_is_put(monkeypatch):
    monkeypatch.setattr(vector_matrix, "QUANTIZED_FROM", 40)
    vectors, asked = unit(1, 60, dimension=16), unit(2, 1, 16)[0]
    matrix = VectorMatrix()
    for size in (39, 40, 60):
        start = len(matrix)
        matrix.grow_to(size)
        matrix.put(np.arange(start, size), vectors[start:size])
        saved = matrix.to_arrays()
        assert ("codes" in saved) == (size >= 40)
        expected = nearest_of(matrix.cosines(asked).tolist(), 3)
        assert matrix.nearest(asked, 3).tolist() == expected
        assert VectorMatrix.from_arrays(saved).nearest(asked, 3).tolist() == expected


@either_way
def test_the_nearest_are_those_put_and_not_removed_since():
    matrix, asked = matrix_of([X, [0.6, 0.8], Y]), query(X)
    assert matrix.nearest(asked, 1).tolist() == [0]
    matrix.put(np.asarray([2]), np.asarray([[0.8, 0.6]], np.float32))
    matrix.remove([0])
    assert matrix.nearest(asked, 2).tolist() == [2, 1]


def test_in_a_matrix_without_any_vector_nothing_is_near():
    matrix = VectorMatrix()
    matrix.grow_to(3)
    for mask in (None, np.ones(3, np.bool_), np.zeros(3, np.bool_)):
        assert matrix.nearest(query(X), 2, mask).tolist() == []
