"""How well an embedder tells the texts of a store apart for one query, without any labels."""

from __future__ import annotations

from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from langchain_memengine.rankings import Ranking
from langchain_memengine.retrieval.legs import VectorLeg
from langchain_memengine.retrieval.view import View

_FEW = 16
_ROUNDING = 1e-12  # variance of cosines that differ by single-precision rounding only
_AT_MOST = 2.0  # times the ranking's own weight


def trusting(
    ranking: Ranking, view: View, vector: VectorLeg | None, query: NDArray[np.float32] | None
) -> Ranking:
    """Return the ranking with the weight that the vector leg deserves for this query.

    ``vector_weight`` rises by the share ``vector_gain`` for each standard deviation that the
    nearest text stands out by, and doubles at most.
    """
    if vector is None or query is None or not ranking.vector_gain or not len(vector.positions):
        return ranking
    sample = np.vecdot(view.vector_sample, query).astype(np.float64)
    best = float(vector.cosine_of(vector.positions[:1])[0])
    beyond = separation(best, sample, view.vectors)
    if beyond <= 0:
        return ranking
    factor = min(1 + ranking.vector_gain * beyond, _AT_MOST)
    return ranking.model_copy(update={"vector_weight": ranking.vector_weight * factor})


def separation(best: float, sample: NDArray[np.float64], texts: int) -> float:
    """Return how far the nearest text stands out, in standard deviations, less what chance gives.

    The highest of n values of a normal distribution lies about ``sqrt(2 ln n)`` deviations above
    their mean, whatever they are about. 0 if there are too few to tell, or all are the same.

    Args:
        best: Highest cosine.
        sample: Cosines of some of the texts.
        texts: How many texts there are.
    """
    if len(sample) < _FEW:
        return 0.0
    mean = float(sample.sum()) / len(sample)
    variance = float(sample @ sample) / len(sample) - mean * mean  # std() takes ten times as long
    if variance < _ROUNDING:
        return 0.0
    return (best - mean) / sqrt(variance) - sqrt(2 * log(texts))
