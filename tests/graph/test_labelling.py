"""Texts of a picture stand where they hide nothing."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.graph.labelling import (
    ABOVE,
    BELOW,
    LABEL_SIZE,
    LEFT,
    RIGHT,
    anchored,
    beside_line,
    free_sides,
    text_width,
)

NUMBERS = st.floats(-500, 500)
PLACES = st.tuples(NUMBERS, NUMBERS)


@pytest.mark.parametrize(
    ("places", "edges", "first"),
    [
        ([(0, 0), (0, 9)], [(0, 1)], [ABOVE, BELOW]),  # the upper one above, the lower one below
        ([(0, 9), (0, 0)], [(1, 0)], [BELOW, ABOVE]),
        ([(0, 0), (9, 0)], [(0, 1)], [BELOW, BELOW]),
        ([(0, 0), (0, 9), (0, -9)], [(0, 1), (2, 0)], [RIGHT, BELOW, ABOVE]),
        ([(0, 0), (0, 9), (0, -9), (9, 0)], [(0, 1), (2, 0), (3, 0)], [LEFT, BELOW, ABOVE, BELOW]),
        ([(0, 0)], [(0, 0)], [BELOW]),
        ([], [], []),
    ],
)
def test_a_name_stands_where_fewer_relations_lead(places, edges, first):
    assert [sides[0] for sides in free_sides(places, edges)] == first


def test_a_text_is_anchored_at_the_side_that_faces_its_place():
    assert anchored((10, 20), RIGHT, 5, 12) == (15, 24, "start")
    assert anchored((10, 20), LEFT, 5, 12) == (5, 24, "end")
    assert anchored((10, 20), ABOVE, 5, 12) == (10, 15, "middle")
    assert anchored((10, 20), BELOW, 5, 12) == (10, 34, "middle")


def test_a_wide_character_is_as_wide_as_it_is_high():
    assert text_width("ab", 10) == pytest.approx(11)
    assert text_width("漢字", 10) == pytest.approx(20)


@pytest.mark.parametrize(
    ("end", "width", "moved"),
    [
        ((100, 0), 40, (0, 0)),  # hides 40 of 100
        ((100, 0), 41, (0, -8)),  # up by half its height and 3
        ((-100, 0), 41, (0, -8)),
        ((0, 100), 300, (0, 0)),  # a line that goes down is hidden by the height alone
        ((0, 20), 30, (18, 0)),  # right by half its width and 3
        ((0, -20), 30, (18, 0)),
        ((0, 0), 30, (0, 0)),
    ],
)
def test_a_label_that_hides_much_of_its_line_moves_beside_it(end, width, moved):
    assert beside_line((0, 0), end, width) == pytest.approx(moved)


@given(PLACES, PLACES, st.floats(1, 300))
def test_a_label_that_moved_touches_its_line_nowhere(start, end, width):
    x, y = beside_line(start, end, width)
    if not (x or y):
        return
    length = math.dist(start, end)
    across, down = (end[0] - start[0]) / length, (end[1] - start[1]) / length
    corners = [
        (x + right * width / 2, y + low * LABEL_SIZE / 2) for right in (-1, 1) for low in (-1, 1)
    ]
    sides = [corner[0] * down - corner[1] * across for corner in corners]  # distances, signed
    assert min(map(abs, sides)) == pytest.approx(3)
    assert len({one > 0 for one in sides}) == 1
