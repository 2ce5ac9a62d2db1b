"""Quantized vectors: what they leave out is never among the nearest."""

import numkong
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from langchain_memengine.retrieval import quantized
from langchain_memengine.retrieval.quantized import Codes, QuantizedVectors, quantize


def unit(vectors):
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)


def random_units(seed, count, dimension):
    return unit(np.random.default_rng(seed).normal(size=(count, dimension)))


def held(vectors, centre=None):
    """Return these vectors quantized, less their mean unless told otherwise."""
    some = QuantizedVectors(vectors.mean(axis=0) if centre is None else centre)
    some.grow_to(len(vectors))
    some.put(np.arange(len(vectors)), vectors)
    return some


def test_the_largest_number_of_a_vector_becomes_127():
    coded = quantize(np.asarray([[0.6, -0.8], [0.0, 0.0]], np.float32), np.zeros(2, np.float32))
    # 0.6 / (0.8 / 127) is 95.25: a quarter of a step is rounded away.
    assert coded.codes.tolist() == [[95, -127], [0, 0]]
    assert coded.scales == pytest.approx([0.8 / 127, 0.0])
    assert coded.errors == pytest.approx([0.25 * 0.8 / 127, 0.0], rel=1e-3)
    assert coded.norms == pytest.approx([1.0, 0.0])
    assert coded.offsets.tolist() == [0.0, 0.0]


def test_what_vectors_have_in_common_is_taken_off():
    coded = quantize(np.asarray([[0.6, -0.8]], np.float32), np.asarray([0.6, -0.2], np.float32))
    assert coded.codes.tolist() == [[0, -127]]
    assert coded.scales == pytest.approx([0.6 / 127])
    assert coded.norms == pytest.approx([0.6])
    assert coded.offsets == pytest.approx([0.12])


few_numbers = st.sampled_from([-1.0, -0.5, -0.49, 0.0, 0.001, 0.3, 0.31, 1.0])
many_vectors = st.integers(1, 12).flatmap(
    lambda dimension: arrays.arrays(np.float32, (30, dimension), elements=few_numbers)
)


@given(many_vectors, st.integers(1, 30), arrays.arrays(np.bool_, 28))
def test_whatever_is_among_the_nearest_may_be_whatever_the_centre(vectors, k, mask):
    vectors, query, centre = unit(vectors[2:]), unit(vectors[:1])[0], unit(vectors[1:2])[0]
    products = np.vecdot(vectors, query)
    products[~mask] = -np.inf
    # All that are as near as the k-th nearest may stand in its place.
    least = np.sort(products)[-min(k, max(mask.sum(), 1))]
    nearest = set(np.flatnonzero(mask & (products >= least)).tolist())
    assert nearest <= set(held(vectors, centre).may_be_nearest(query, k, mask).tolist())
    assert nearest <= set(held(vectors).may_be_nearest(query, k, mask).tolist())


def test_most_vectors_need_no_exact_product():
    vectors = random_units(1, 5000, 384)
    some = held(vectors)
    for query in random_units(2, 5, 384):
        assert 10 <= len(some.may_be_nearest(query, 10)) < 150


def test_vectors_that_are_much_alike_are_told_apart_by_what_sets_them_apart():
    common = random_units(3, 1, 256)
    vectors = unit(common + 0.1 * random_units(1, 5000, 256))
    some, plain = held(vectors), held(vectors, np.zeros(256, np.float32))
    for query in unit(common + 0.1 * random_units(2, 5, 256)):
        assert 10 <= len(some.may_be_nearest(query, 10)) < 150
        assert len(plain.may_be_nearest(query, 10)) > 1000


@pytest.mark.parametrize(("allowed", "read"), [(0, []), (30, [30]), (31, [100]), (99, [100])])
def test_the_codes_of_few_are_picked_out_and_of_many_read_in_order(monkeypatch, allowed, read):
    lengths = []

    def telling(codes, asked, **options):
        lengths.append(len(codes))
        return dot(codes, asked, **options)

    dot = numkong.dot
    monkeypatch.setattr(numkong, "dot", telling)
    mask = np.random.default_rng(1).permutation(100) < allowed
    found = held(random_units(1, 100, 16)).may_be_nearest(random_units(2, 1, 16)[0], 5, mask)
    assert set(found.tolist()) <= set(np.flatnonzero(mask).tolist())
    assert (lengths, len(found) >= min(5, allowed)) == (read, True)


def test_what_cannot_be_told_apart_is_all_there():
    same = np.repeat(random_units(6, 1, 8), 20, axis=0)
    assert held(same).may_be_nearest(same[0], 5).tolist() == list(range(20))


@pytest.mark.parametrize("mask", [None, np.arange(20) % 2 == 0])
def test_where_as_many_are_wanted_as_there_are_nothing_is_estimated(monkeypatch, mask):
    some = held(random_units(7, 20, 8))
    monkeypatch.setattr(numkong, "dot", None)
    monkeypatch.setattr(Codes, "of", None)
    slots = np.arange(20) if mask is None else np.flatnonzero(mask)
    query = random_units(8, 1, 8)[0]
    assert some.may_be_nearest(query, len(slots), mask).tolist() == slots.tolist()


def test_more_vectors_than_are_quantized_at_a_time_are_the_same(monkeypatch):
    vectors = random_units(3, 50, 8)
    whole = held(vectors).to_arrays()
    monkeypatch.setattr(quantized, "_BATCH", 7)
    for name, array in held(vectors).to_arrays().items():
        np.testing.assert_array_equal(array, whole[name])


def test_a_copy_over_the_same_arrays_is_the_same_and_grows():
    vectors = random_units(4, 40, 8)
    some = held(vectors[:20])
    copy = QuantizedVectors.from_arrays(some.to_arrays())
    for one in (some, copy):
        one.grow_to(40)
        one.put(np.arange(20, 40), vectors)
    query = random_units(5, 1, 8)[0]
    assert some.may_be_nearest(query, 3).tolist() == copy.may_be_nearest(query, 3).tolist()
