"""How good one ranking is, and whether two systems differ by more than chance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

DEPTH = 25
"""Documents of a ranking that are looked at."""

RECALL_DEPTHS = (1, 2, 5, 10, 25)
NDCG_DEPTH = 10

METRICS = (*(f"recall@{k}" for k in RECALL_DEPTHS), f"ndcg@{NDCG_DEPTH}", "mrr")
"""Names of the metrics, in the order in which they are shown."""

RESAMPLES = 2_000
FLIPS = 10_000
SEED = 20_260_519

_BLOCK = 100  # resamples drawn together; bounds the memory that many questions need
_INTERVAL = (2.5, 97.5)
_ROUNDING = 1e-9


def recall(ranked: Sequence[str], grades: Mapping[str, float], k: int) -> float:
    """Return the share of the relevant documents that are among the first ``k``.

    Args:
        ranked: Ids, best first, each at most once.
        grades: Grade of each relevant document, above 0. Without any the recall is 0.
        k: Documents looked at.
    """
    found = sum(one in grades for one in ranked[:k])
    return found / len(grades) if grades else 0.0


def ndcg(ranked: Sequence[str], grades: Mapping[str, float], k: int) -> float:
    """Return the discounted gain of the first ``k`` over the best that was possible, 0 to 1.

    A document gains its grade over ``log2(rank + 1)``, as in trec_eval.

    Source: Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", 2002.
    """
    best = _gain(sorted(grades.values(), reverse=True)[:k])
    return _gain([grades.get(one, 0.0) for one in ranked[:k]]) / best if best else 0.0


def reciprocal_rank(ranked: Sequence[str], grades: Mapping[str, float]) -> float:
    """Return 1 over the rank of the first relevant document; 0 if there is none."""
    return next((1 / rank for rank, one in enumerate(ranked, 1) if one in grades), 0.0)


def scores(ranked: Sequence[str], grades: Mapping[str, float]) -> dict[str, float]:
    """Return all :data:`METRICS` of the first 25 of one ranking, 0 to 1 each."""
    top = ranked[:DEPTH]
    values = [recall(top, grades, k) for k in RECALL_DEPTHS]
    values += [ndcg(top, grades, NDCG_DEPTH), reciprocal_rank(top, grades)]
    return dict(zip(METRICS, values, strict=True))


def mean_scores(questions: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of each metric over questions; of no questions, 0."""
    count = len(questions)
    return {
        name: math.fsum(one[name] for one in questions) / count if count else 0.0
        for name in METRICS
    }


@dataclass(frozen=True, slots=True)
class Paired:
    """How two systems differ on the same questions.

    Attributes:
        difference: Mean of ours minus theirs.
        low: Lower end of its 95 % bootstrap interval.
        high: Upper end.
        p: How often a difference at least as large, either way, would come about if each
            question had been as likely to favour the other system; above 0, at most 1.
    """

    difference: float
    low: float
    high: float
    p: float


def paired_test(ours: Sequence[float], theirs: Sequence[float]) -> Paired:
    """Compare two systems question by question; the same input gives the same answer.

    The interval is of 2,000 bootstrap resamples of the questions, p of 10,000 random sign flips
    of the differences.

    Args:
        ours: A metric of each question, at least one.
        theirs: The same metric of the same questions, in the same order.

    Source: Smucker, Allan and Carterette, "A comparison of statistical significance tests for
    information retrieval evaluation", 2007.
    """
    differences = np.asarray(ours, dtype=np.float64) - np.asarray(theirs, dtype=np.float64)
    generator = np.random.default_rng(SEED)
    means = _resampled_means(differences, generator)
    low, high = np.percentile(means, _INTERVAL)
    return Paired(
        difference=float(differences.mean()),
        low=float(low),
        high=float(high),
        p=_sign_flip_p(differences, generator),
    )


def _gain(grades: Sequence[float]) -> float:
    return math.fsum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades, 1))


def _resampled_means(
    differences: NDArray[np.float64], generator: np.random.Generator
) -> NDArray[np.float64]:
    count = len(differences)
    return np.concatenate(
        [
            differences[generator.integers(0, count, (_BLOCK, count))].mean(axis=1)
            for _ in range(RESAMPLES // _BLOCK)
        ]
    )


def _sign_flip_p(differences: NDArray[np.float64], generator: np.random.Generator) -> float:
    moved = differences[np.abs(differences) > _ROUNDING]  # a zero stays zero under any sign
    observed = abs(moved.sum()) - _ROUNDING
    as_extreme = 0
    for _ in range(FLIPS // _BLOCK):
        signs = generator.integers(0, 2, (_BLOCK, len(moved)), dtype=np.int8) * 2 - 1
        as_extreme += int((np.abs(signs @ moved) >= observed).sum())
    return (as_extreme + 1) / (FLIPS + 1)  # the observed signs are one of the ways
