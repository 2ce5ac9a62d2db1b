"""From the legs of a search to one order. Pure functions over parallel arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from langchain_memengine.rankings import Ranking
from langchain_memengine.retrieval.decay import Floats, rescore

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

ABSENT = 0
"""Rank of a candidate in a leg that does not have it; ranks start at 1."""


@dataclass(frozen=True, slots=True)
class Context:
    """What stands around each candidate.

    Attributes:
        session: BM25 of the whole file or conversation; 0 if no word occurs in it.
        bm25: BM25 of the chunks before and after it there, shape (n, 2); 0 at the ends.
        cosine: Their cosines, shape (n, 2); NaN at the ends and without an embedding.
    """

    session: Floats
    bm25: Floats
    cosine: Floats


@dataclass(frozen=True, slots=True)
class Mentions:
    """What of each candidate the query names.

    Attributes:
        author: Whether it names who wrote it.
        date: Whether it names when it happened.
    """

    author: Mask
    date: Mask


@dataclass(frozen=True, slots=True)
class Candidates:
    """What the legs know, one entry a candidate in every array.

    Attributes:
        nums: Chunk numbers, all different.
        keyword_rank: Rank in the keyword leg, ``ABSENT`` if it did not get there.
        bm25: BM25 score; 0 if no word matches.
        vector_rank: Rank in the vector leg, ``ABSENT`` if it did not get there.
        cosine: Cosine to the query; NaN without an embedding.
        age_days: Age; NaN never ages.
        accesses: Access counts.
        context: What stands around them; ``None`` when it was not asked for, or is nothing.
        mentions: What of them the query names; ``None`` when that is nothing.
        graph: Scores of the graph leg, 0 to 1; ``None`` without that leg.
    """

    nums: Ints
    keyword_rank: Ints
    bm25: Floats
    vector_rank: Ints
    cosine: Floats
    age_days: Floats
    accesses: Ints
    context: Context | None = None
    mentions: Mentions | None = None
    graph: Floats | None = None

    def __len__(self) -> int:
        """Return the number of candidates."""
        return len(self.nums)


@dataclass(frozen=True, slots=True)
class Ranked:
    """Candidates in their final order.

    Attributes:
        order: Positions in the candidates, best first, only those with a reason to be a hit.
        score: Final score of each candidate (by position, not by order).
        fused: Score before decay and bonus.
        decay: Factor of the age.
        bonus: Added for accesses.
        context_rank: Rank by what stands around, ``ABSENT`` without any.
        author_boost: Part of ``fused`` that is there because the query names the author.
        date_boost: Part of it because the query names the time.
        graph_rank: Rank in the graph leg, ``ABSENT`` where that did not lead.
    """

    order: Ints
    score: Floats
    fused: Floats
    decay: Floats
    bonus: Floats
    context_rank: Ints
    author_boost: Floats
    date_boost: Floats
    graph_rank: Ints


def rank(
    candidates: Candidates, ranking: Ranking, *, min_cosine: float, chance_cosine: float = 0.0
) -> Ranked:
    """Fuse, decay, and order candidates.

    A candidate is a hit only with a reason: a keyword match, a cosine of at least ``min_cosine``,
    or a way to it in the graph. Ties go to the newer one, then to the lower chunk number.

    Args:
        candidates: What the legs know.
        ranking: How to fuse it.
        min_cosine: Cosine that alone is a reason.
        chance_cosine: Average cosine of unrelated texts; only what exceeds it is evidence.
    """
    around = _surrounding(candidates, ranking, chance_cosine)
    context_rank = (
        np.zeros(len(candidates), np.int64) if around is None else competition_ranks(around)
    )
    fused = _by_method(candidates, context_rank, around, ranking, chance_cosine)
    graph_rank = np.zeros(len(candidates), np.int64)
    if candidates.graph is not None:
        graph_rank = competition_ranks(candidates.graph)
        fused = fused + _share_of_graph(fused, candidates.graph, graph_rank, ranking)
    author_boost, date_boost = _boosts(candidates, ranking)
    fused += author_boost + date_boost
    score, factor, bonus = rescore(fused, candidates.age_days, candidates.accesses, ranking)
    reason = (candidates.bm25 > 0) | (candidates.cosine >= min_cosine) | (graph_rank != ABSENT)
    may_be_hit = reason & np.isfinite(fused)
    if ranking.min_score is not None:
        may_be_hit &= fused >= ranking.min_score
    (hits,) = may_be_hit.nonzero()
    age = np.fmax(candidates.age_days[hits], 0.0)  # what never ages is as new as can be
    order = np.lexsort((candidates.nums[hits], age, -score[hits]))
    return Ranked(
        hits[order],
        score,
        fused,
        factor,
        bonus,
        context_rank,
        author_boost,
        date_boost,
        graph_rank,
    )


def _by_method(
    candidates: Candidates,
    context_rank: Ints,
    around: Floats | None,
    ranking: Ranking,
    chance: float,
) -> Floats:
    """Return what the ranking's method makes of the keyword and vector legs and what is around."""
    match ranking.method:
        case "rrf":
            return _reciprocal_ranks(candidates, context_rank, ranking)
        case "blend":
            fused = _evidence(candidates.bm25, candidates.cosine, candidates, ranking, chance)
            if around is not None:
                fused += ranking.context_weight * around
            ranks = _reciprocal_ranks(candidates, context_rank, ranking)
            return fused + ranking.rank_weight * (ranking.rrf_k + 1) * ranks
        case "rerank":
            return _reranked(candidates, ranking)
        case "similarity":
            return _similarity(candidates)


def normalised(bm25: Floats) -> Floats:
    """Return scores divided by the highest one; all 0 if that is 0."""
    highest = bm25.max(initial=0.0)
    return bm25 / highest if highest > 0 else np.zeros_like(bm25)


def competition_ranks(scores: Floats) -> Ints:
    """Return the rank of each positive score, 1 for the highest; equal scores share a rank.

    Scores that are not positive have the rank ``ABSENT``.
    """
    falling = -np.sort(-scores)
    ranks = 1 + np.searchsorted(-falling, -scores, side="left")
    return np.where(scores > 0, ranks, ABSENT).astype(np.int64)


def _share_of_graph(fused: Floats, graph: Floats, ranks: Ints, ranking: Ranking) -> Floats:
    """Return what the graph leg adds: reciprocal ranks to ranks, a score to scores."""
    if ranking.method == "rrf":
        return np.where(ranks == ABSENT, 0.0, ranking.graph_weight / (ranking.rrf_k + ranks))
    best = fused[np.isfinite(fused)].max(initial=0.0) or 1.0
    return ranking.graph_weight * best * graph


def _surrounding(candidates: Candidates, ranking: Ranking, chance: float) -> Floats | None:
    """Return the evidence around each candidate: its whole session and its two neighbours."""
    context = candidates.context
    if context is None or ranking.context_weight == 0:
        return None
    near = _evidence(context.bm25, context.cosine, candidates, ranking, chance)
    weights = np.asarray([ranking.before_weight, ranking.after_weight])
    around: Floats = normalised(context.session) + near @ weights
    return around


def _evidence(
    bm25: Floats, cosine: Floats, candidates: Candidates, ranking: Ranking, chance: float
) -> Floats:
    """Return keyword_weight * bm25_norm + vector_weight * how far the cosine exceeds chance.

    The second is 0 for what is no nearer to the query than any text, and 1 for the same text: a
    model that cannot tell the texts apart, or does not know the language, has no say.
    """
    highest = candidates.bm25.max(initial=0.0) or 1.0
    beyond = np.fmax((cosine - chance) / (1.0 - chance), 0.0)  # fmax prefers a number to NaN
    return ranking.keyword_weight * bm25 / highest + ranking.vector_weight * beyond


def _boosts(candidates: Candidates, ranking: Ranking) -> tuple[Floats, Floats]:
    """Return what each candidate gets for its author and for its date."""
    mentions = candidates.mentions
    by_author, by_date = np.zeros(len(candidates)), np.zeros(len(candidates))
    if mentions is not None:
        by_author[mentions.author] = ranking.author_boost
        by_date[mentions.date] = ranking.date_boost
    return by_author, by_date


def _reciprocal_ranks(candidates: Candidates, context_rank: Ints, ranking: Ranking) -> Floats:
    """Return the sum of weight / (rrf_k + rank) over the legs that have the candidate."""
    fused = np.zeros(len(candidates))
    legs = (
        (candidates.keyword_rank, ranking.keyword_weight),
        (candidates.vector_rank, ranking.vector_weight),
        (context_rank, ranking.context_weight),
    )
    for ranks, weight in legs:
        if np.count_nonzero(ranks):
            fused += weight * (ranks != ABSENT) / (ranking.rrf_k + ranks)
    return fused


def _reranked(candidates: Candidates, ranking: Ranking) -> Floats:
    """Return alpha * bm25_norm + (1 - alpha) * cosine of the keyword leg's candidates.

    Others have no score (minus infinity). Without any embedding, bm25_norm alone.
    """
    bm25_norm = normalised(candidates.bm25)
    cosine = np.nan_to_num(candidates.cosine, nan=0.0)
    blended = (
        bm25_norm
        if np.isnan(candidates.cosine).all()
        else ranking.alpha * bm25_norm + (1 - ranking.alpha) * cosine
    )
    return np.where(candidates.keyword_rank == ABSENT, -np.inf, blended)


def _similarity(candidates: Candidates) -> Floats:
    """Return the cosine; bm25_norm of what has no embedding."""
    bm25_norm = normalised(candidates.bm25)
    return np.where(np.isnan(candidates.cosine), bm25_norm, candidates.cosine)


def diversify(
    order: Ints, score: Floats, vectors: NDArray[np.float32], k: int, relevance: float
) -> Ints:
    """Choose ``k`` of an order by maximal marginal relevance.

    Args:
        order: Positions, best first.
        score: Final score by position; scaled to 0..1 over ``order``.
        vectors: Normalised vectors, one row for each entry of ``order``.
        k: How many to choose.
        relevance: 1 keeps the order, 0 looks at diversity only.

    Source: Carbonell and Goldstein 1998.
    """
    if not len(order):
        return order
    raw = score[order]
    scaled = (raw - raw.min()) / max(float(np.ptp(raw)), 1e-12)
    nearest = np.zeros(len(order))
    left = np.ones(len(order), np.bool_)
    chosen: list[int] = []
    while len(chosen) < min(k, len(order)):
        value = np.where(left, relevance * scaled - (1 - relevance) * nearest, -np.inf)
        pick = int(np.argmax(value))
        chosen.append(pick)
        left[pick] = False
        nearest = np.maximum(nearest, np.vecdot(vectors, vectors[pick]))
    return order[chosen]
