"""The best of many numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_BLOCK = 64


def top(scores: NDArray[Any], k: int, *, above: float) -> NDArray[np.int64]:
    """Return the positions of the ``k`` highest scores, best first, ties in order.

    Args:
        scores: Shape (n,), finite.
        k: How many, at least 1.
        above: Scores up to this are left out.
    """
    candidates = np.flatnonzero(scores >= max(_threshold(scores, k), above))
    found = scores[candidates]
    order = np.argsort(-found, kind="stable")[:k]
    if len(order) and found[order[-1]] <= above:
        order = order[found[order] > above]
    return candidates[order].astype(np.int64, copy=False)


def _threshold(scores: NDArray[Any], k: int) -> float:
    """Return a lower bound of the k-th highest score, close to it.

    The maxima of blocks are scores themselves, so the k-th highest of them is no higher than the
    k-th highest score. Finding it reads the scores once and sorts only one in 64.
    """
    blocks = len(scores) // _BLOCK
    if blocks > k:
        scores = scores[: blocks * _BLOCK].reshape(blocks, _BLOCK).max(axis=1)
    if len(scores) <= k:
        return -np.inf
    return float(np.partition(scores, len(scores) - k)[len(scores) - k])
