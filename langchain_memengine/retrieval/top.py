"""The best of many numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

_BLOCKS_A_RANK = 2
"""More blocks give a closer bound, fewer are sorted faster."""

_MIN_BLOCKS = 512
"""Fewer are slower: the processor compares long rows of blocks at once."""


def top(scores: NDArray[Any], k: int, *, above: float) -> NDArray[np.int64]:
    """Return the positions of the ``k`` highest scores, best first, ties in order.

    Args:
        scores: Shape (n,), finite.
        k: How many, at least 1.
        above: Scores up to this are left out.
    """
    return all_as_high(scores, k, above=above)[:k]


def all_as_high(scores: NDArray[Any], k: int, *, above: float) -> NDArray[np.int64]:
    """Return what :func:`top` does, and behind it all others that are as high as the last of it."""
    least = not_above_best(scores, k)
    (candidates,) = (scores >= least if least > above else scores > above).nonzero()
    falling = -scores[candidates]
    order = falling.argsort(kind="stable")
    if len(order) > k:
        order = order[: falling[order].searchsorted(falling[order[k - 1]], side="right")]
    return candidates[order].astype(np.int64, copy=False)


def top_newest(
    scores: NDArray[Any],
    k: int,
    *,
    above: float,
    newness: Callable[[NDArray[np.int64]], NDArray[np.float64]],
) -> NDArray[np.int64]:
    """Return what :func:`top` does, but of equal ones for which there is no room the newest.

    Args:
        scores: Shape (n,), finite.
        k: How many, at least 1.
        above: Scores up to this are left out.
        newness: How new some positions are, higher is newer; asked only where room is short.
    """
    best = all_as_high(scores, k, above=above)
    if len(best) <= k:
        return best
    higher, equal = np.split(best, [(-scores[best]).searchsorted(-scores[best[-1]])])
    newest = np.lexsort((equal, -newness(equal)))[: k - len(higher)]
    return np.concatenate([higher, np.sort(equal[newest])])


def not_above_best(scores: NDArray[Any], k: int) -> float:
    """Return a lower bound of the k-th highest score, close to it; minus infinity for up to k.

    The maxima of blocks are scores themselves, so the k-th highest of them is no higher than the
    k-th highest score. Finding it reads the scores once and sorts few of them. A block is every
    so-many-th score: the maxima of all blocks are then found side by side.
    """
    blocks = max(_BLOCKS_A_RANK * k, _MIN_BLOCKS)
    if len(scores) >= 2 * blocks:
        size = len(scores) // blocks
        scores = scores[: blocks * size].reshape(size, blocks).max(axis=0)
    if len(scores) <= k:
        return -np.inf
    return float(np.partition(scores, len(scores) - k)[len(scores) - k])
