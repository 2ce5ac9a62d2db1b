"""Where the texts of a picture stand: names beside entities, labels on relations."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Sequence

Place = tuple[float, float]
Direction = tuple[int, int]

ABOVE, BELOW, LEFT, RIGHT = (0, -1), (0, 1), (-1, 0), (1, 0)
"""Directions on a page, where y grows downwards."""

NAME_SIZE, LABEL_SIZE = 12, 10
"""Heights of the two kinds of text, in pixels."""

_BESIDE = 0.2  # a text below or above takes less of the room that other entities need
_HIDDEN = 0.4  # share of a line that its label may hide


def text_width(text: str, size: int) -> float:
    """Return about how wide a text is, in pixels: no font is asked."""
    wide = sum(unicodedata.east_asian_width(one) in "WF" for one in text)
    return size * (wide + 0.55 * (len(text) - wide))


def free_sides(places: Sequence[Place], edges: Iterable[tuple[int, int]]) -> list[list[Direction]]:
    """Return the directions from each place, those first in which fewer lines lead.

    Lines straight in a direction count most, lines across it not at all; of equally free ones the
    order is below, above, right, left.
    """
    crowd = [{BELOW: 0.0, ABOVE: 0.0, RIGHT: _BESIDE, LEFT: _BESIDE} for _ in places]
    for pair in edges:
        for one, other in (pair, pair[::-1]):
            (x, y), (to_x, to_y) = places[one], places[other]
            length = math.dist(places[one], places[other]) or 1.0
            for side in crowd[one]:
                along = (side[0] * (to_x - x) + side[1] * (to_y - y)) / length
                crowd[one][side] += max(along, 0.0) ** 2
    return [sorted(one, key=one.__getitem__) for one in crowd]


def anchored(place: Place, side: Direction, away: float, size: int) -> tuple[float, float, str]:
    """Return where a text begins or is centred that stands some pixels from a place, and which."""
    x, y = place
    if side[0]:
        return x + side[0] * away, y + size / 3, "start" if side[0] > 0 else "end"
    return x, y + (away + 0.75 * size if side[1] > 0 else -away), "middle"


def beside_line(start: Place, end: Place, width: float) -> Place:
    """Return how far a label moves off the middle of its line, so that the line is still seen.

    A label hides the line under it. One that would hide much of a short line moves above it, or
    to the right of a steep one, as far as its own box needs; others stay.

    Args:
        start: Where the line that is seen begins.
        end: Where it ends.
        width: Of the label, in pixels.
    """
    length = math.dist(start, end)
    if length < 1:
        return 0.0, 0.0
    across, down = (end[0] - start[0]) / length, (end[1] - start[1]) / length
    hidden = min(width / max(abs(across), 1e-9), LABEL_SIZE / max(abs(down), 1e-9))
    if hidden <= _HIDDEN * length:
        return 0.0, 0.0
    away = (down, -across)
    is_flat = abs(across) > abs(down)
    if (away[1] > 0) if is_flat else (away[0] < 0):
        away = (-down, across)
    far = (abs(away[0]) * width + abs(away[1]) * LABEL_SIZE) / 2 + 3
    return away[0] * far, away[1] * far
