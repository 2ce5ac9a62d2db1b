"""Age and popularity in a score."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from langchain_memengine.rankings import Ranking

Floats = NDArray[np.float64]


def decay(age_days: Floats, ranking: Ranking) -> Floats:
    """Return the factor of each age, 0 to 1.

    ``exp(-rate * (days - after))`` beyond ``decay_after_days``, never below ``decay_floor``;
    1 before, and for NaN, which stands for what never ages.

    Source: GoClaw, "Rank Enhancement Logic" (rate 0.015, 14 days, floor 0.4).
    """
    late = np.fmax(age_days - ranking.decay_after_days, 0.0)  # fmax prefers a number to NaN
    return np.maximum(np.exp(-ranking.decay_rate * late), ranking.decay_floor)


def access_bonus(accesses: NDArray[np.int64], ranking: Ranking) -> Floats:
    """Return what each access count adds to the score."""
    return ranking.access_bonus * np.minimum(accesses, ranking.access_cap)


def rescore(
    scores: Floats, age_days: Floats, accesses: NDArray[np.int64], ranking: Ranking
) -> tuple[Floats, Floats, Floats]:
    """Return (final score, factor of the age, bonus) of each candidate.

    ``score * ((1 - w) + w * decay) + bonus`` with w = ``decay_weight``: 1 is the source's plain
    product, small values let age break near-ties only.
    """
    weight = ranking.decay_weight
    factor = (1 - weight) + weight * decay(age_days, ranking)
    bonus = access_bonus(accesses, ranking)
    return scores * factor + bonus, factor, bonus
