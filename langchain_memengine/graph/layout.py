"""Places for the entities of a picture: connected ones near, all of them apart."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_ROUNDS = 150
_SPACING = 150  # pixels that one node has to itself, each way, about
_EDGE = 110  # pixels of a short edge


def force_layout(count: int, edges: Sequence[tuple[int, int]]) -> Floats:
    """Return places in the unit square, shape (count, 2); the same input gives the same places.

    Both axes begin at 0, the longer one ends at 1.

    Nodes push each other away and edges pull their ends together, in steps that become smaller.

    Args:
        count: Nodes.
        edges: Pairs of node numbers; loops and repeated pairs do not matter.

    Source: Fruchterman and Reingold, "Graph drawing by force-directed placement", 1991.
    """
    turns = np.arange(count) * 2.399963  # the golden angle: no two nodes on one line through 0
    places = (
        np.stack([np.cos(turns), np.sin(turns)], axis=1) * np.sqrt(np.arange(count) + 0.5)[:, None]
    )
    pairs = np.asarray(sorted({(min(e), max(e)) for e in edges if e[0] != e[1]}), np.int64)
    pairs = pairs.reshape(-1, 2)
    for heat in np.linspace(1.0, 0.01, _ROUNDS):
        moved = _push(places) + _pull(places, pairs)
        length = np.maximum(np.linalg.norm(moved, axis=1, keepdims=True), 1e-9)
        places = places + moved / length * np.minimum(length, heat)
    return _in_unit_square(places)


def side_for(places: Floats, edges: Sequence[tuple[int, int]]) -> float:
    """Return how many pixels the unit square is wide, so that a picture can be read.

    The more nodes, the more; and so much that nearly all edges have room for an arrow and a label,
    unless that would take three times as much.

    Args:
        places: In the unit square, shape (count, 2).
        edges: Pairs of node numbers.
    """
    side = _SPACING * max(1.0, 1.3 * math.sqrt(len(places)))
    pairs = np.asarray([pair for pair in edges if pair[0] != pair[1]], np.int64).reshape(-1, 2)
    if not len(pairs):
        return side
    lengths = np.linalg.norm(places[pairs[:, 0]] - places[pairs[:, 1]], axis=1)
    short = max(float(np.quantile(lengths, 0.1)), 1e-9)
    return max(side, min(_EDGE / short, 3 * side))


def _push(places: Floats) -> Floats:
    apart = places[:, None, :] - places[None, :, :]
    squared = np.maximum((apart**2).sum(axis=2, keepdims=True), 1e-4)
    pushed: Floats = (apart / squared).sum(axis=1) - 0.02 * places  # and all towards the middle
    return pushed


def _pull(places: Floats, pairs: NDArray[np.int64]) -> Floats:
    pulled = np.zeros_like(places)
    apart = places[pairs[:, 0]] - places[pairs[:, 1]]
    force = apart * np.linalg.norm(apart, axis=1, keepdims=True)
    np.add.at(pulled, pairs[:, 0], -force)
    np.add.at(pulled, pairs[:, 1], force)
    return pulled


def _in_unit_square(places: Floats) -> Floats:
    if not len(places):
        return places
    low, high = places.min(axis=0), places.max(axis=0)
    size = float((high - low).max())
    scaled: Floats = (places - low) / (size or 1.0)
    return scaled
