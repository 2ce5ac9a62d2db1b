"""Places for a picture: in the unit square, the same every time, connected ones near."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langchain_memengine.graph.layout import force_layout, side_for

nodes = st.integers(0, 12)
pairs = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=20)


def between(places, one, other):
    return float(np.linalg.norm(places[one] - places[other]))


@settings(max_examples=20)
@given(nodes, pairs)
def test_places_are_in_the_unit_square_and_the_same_every_time(count, edges):
    edges = [edge for edge in edges if max(edge) < count]
    places = force_layout(count, edges)
    assert places.shape == (count, 2)
    assert places.tolist() == force_layout(count, edges).tolist()
    if count > 1:
        assert places.min(axis=0) == pytest.approx([0, 0])
        assert places.max() == pytest.approx(1)


def test_loops_and_repeated_edges_change_nothing():
    once = force_layout(4, [(0, 1), (2, 3)])
    assert force_layout(4, [(1, 0), (0, 1), (2, 2), (2, 3)]).tolist() == once.tolist()


def test_connected_nodes_are_nearer_than_the_others():
    places = force_layout(6, [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)])
    within = max(between(places, *pair) for pair in [(0, 1), (1, 2), (3, 4), (4, 5)])
    across = min(between(places, one, other) for one in (0, 1, 2) for other in (3, 4, 5))
    assert within < across


def test_a_picture_is_as_wide_as_its_nodes_and_its_short_edges_need():
    assert side_for(force_layout(0, []), []) == 150
    # 4 nodes need 150 * 1.3 * 2 = 390 pixels; an edge of 0.1 would need 110 / 0.1 = 1,100.
    places = np.asarray([[0.0, 0.0], [0.1, 0.0], [1.0, 0.0], [1.0, 1.0]])
    assert side_for(places, []) == pytest.approx(390)
    assert side_for(places, [(0, 1)]) == pytest.approx(1100)
    assert side_for(places, [(2, 3)]) == pytest.approx(390)
    assert side_for(places, [(1, 1)]) == pytest.approx(390)  # a loop has no length
    nearer = np.asarray([[0.0, 0.0], [0.01, 0.0], [1.0, 0.0], [1.0, 1.0]])
    assert side_for(nearer, [(0, 1)]) == pytest.approx(3 * 390)  # and no more than that
    assert math.isfinite(side_for(np.zeros((4, 2)), [(0, 1)]))
