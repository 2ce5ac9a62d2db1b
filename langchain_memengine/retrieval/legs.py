"""The legs of a search over a view: who matches, how well, and what is known of the candidates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from langchain_memengine.rankings import Ranking
from langchain_memengine.retrieval.fusion import ABSENT, Candidates, Context
from langchain_memengine.retrieval.keyword_index import CorpusStatistics
from langchain_memengine.retrieval.surroundings import NOBODY
from langchain_memengine.retrieval.top import top_newest
from langchain_memengine.retrieval.vector_matrix import NO_COSINE
from langchain_memengine.retrieval.view import View
from langchain_memengine.types import VectorPath

Floats = NDArray[np.float64]
FloatArray = NDArray[np.float32]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


SEARCHED_FROM = 5000
"""Chunks from which on the nearest are searched for; below, the product with all is as fast."""


@dataclass(frozen=True, slots=True)
class VectorLeg:
    """The answer of the vector leg.

    Attributes:
        positions: Nearest first.
        cosine_of: Exact cosines of any positions.
        path: Which index answered.
    """

    positions: Ints
    cosine_of: Callable[[Ints], FloatArray]
    path: VectorPath


@dataclass(frozen=True, slots=True)
class KeywordLeg:
    """The answer of the keyword leg.

    Attributes:
        scores: BM25 of every position.
        session_of: BM25 of the whole file or conversation of any positions; ``None`` if nothing
            stands around any chunk, or nobody asks.
    """

    scores: Floats
    session_of: Callable[[Ints], Floats] | None


def both(one: Mask | None, other: Mask | None) -> Mask | None:
    """Return which positions pass two masks; ``None`` lets all pass."""
    if one is None or other is None:
        return other if one is None else one
    return one & other


@dataclass(frozen=True, slots=True)
class GraphScores:
    """The answer of the graph leg.

    Attributes:
        positions: Ascending, each once.
        scores: Above 0 up to 1.
        trust: Share of its weight that the leg deserves for this query, 0 to 1.
    """

    positions: Ints
    scores: Floats
    trust: float

    def trusted(self, ranking: Ranking) -> Ranking:
        """Return the ranking with the weight that the leg deserves."""
        return ranking.model_copy(update={"graph_weight": ranking.graph_weight * self.trust})


def outside(view: View, mask: Mask | None) -> frozenset[int]:
    """Return the chunk numbers of what does not pass a mask."""
    if mask is None:
        return frozenset()
    nums = view.take((~mask).nonzero()[0], lambda p, slots: p.nums[slots])
    return frozenset(nums.tolist())


def graph_scores(
    view: View, found: Mapping[int, float], mask: Mask | None, trust: float
) -> GraphScores:
    """Return scores by chunk number as scores by position, of what passes the mask."""
    nums = np.asarray(sorted(found), np.int64)
    positions = np.sort(
        np.concatenate(
            [view.positions_of(i, one.slots_of(nums)) for i, one in enumerate(view.partitions)]
        )
    )
    if mask is not None:
        positions = positions[mask[positions]]
    nums = view.take(positions, lambda p, slots: p.nums[slots])
    scores = np.asarray([found[num] for num in nums.tolist()], np.float64)
    return GraphScores(positions, scores, trust)


def keyword_leg(view: View, words: Sequence[str], *, context: bool) -> KeywordLeg:
    """Score every position by keyword, and the files and conversations if ``context`` is asked for.

    The statistics are summed over the view, so that scores of different partitions compare.
    """
    terms = set(words)
    total = _total([partition.keyword.statistics(terms) for partition in view.partitions], terms)
    scores: Floats = view.join([p.keyword.scores(words, total) for p in view.partitions])
    if not (context and view.has_context):
        return KeywordLeg(scores, None)
    groups = _total([partition.context.statistics(terms) for partition in view.partitions], terms)
    by_key = {p.key: p.context.scores(words, groups) for p in view.partitions}

    def session_of(positions: Ints) -> Floats:
        found: Floats = view.take(
            positions, lambda p, slots: by_key[p.key][p.surroundings.codes[slots]]
        )
        return found

    return KeywordLeg(scores, session_of)


def _total(each: Sequence[CorpusStatistics], terms: set[str]) -> CorpusStatistics:
    if len(each) == 1:
        return each[0]
    return CorpusStatistics(
        documents=sum(statistics.documents for statistics in each),
        words=sum(statistics.words for statistics in each),
        document_frequency={
            term: sum(statistics.document_frequency[term] for statistics in each) for term in terms
        },
    )


def exact_leg(view: View, query: FloatArray, k: int, mask: Mask | None) -> VectorLeg:
    """Return the ``k`` nearest positions that pass the mask, of equal ones the newest."""
    if len(view) < SEARCHED_FROM:
        cosines: FloatArray = view.join([p.vectors.cosines(query) for p in view.partitions])
        shown = cosines if mask is None else np.where(mask, cosines, np.float32(NO_COSINE))
        best = top_newest(shown, k, above=NO_COSINE, newness=view.newness)
        return VectorLeg(best, lambda p: cosines[p], "exact")
    masks = [None] * len(view.partitions) if mask is None else view.split(mask)
    found = [
        view.positions_of(number, partition.vectors.nearest(query, k, allowed))
        for number, (partition, allowed) in enumerate(zip(view.partitions, masks, strict=True))
    ]
    return _nearest_of(view, query, k, np.concatenate(found), "exact")


def chroma_leg(
    view: View, query: FloatArray, k: int, nearest: Sequence[Ints], mask: Mask | None = None
) -> VectorLeg:
    """Return the ``k`` nearest positions among Chroma's candidates, by exact cosine.

    Args:
        view: The partitions.
        query: Normalised vector.
        k: How many positions.
        nearest: Chunk numbers that Chroma found, one array a partition.
        mask: Positions that may be returned; ``None`` is all.
    """
    found = [
        view.positions_of(number, partition.slots_of(nums))
        for number, (partition, nums) in enumerate(zip(view.partitions, nearest, strict=True))
    ]
    positions = np.concatenate(found)
    if mask is not None:
        positions = positions[mask[positions]]
    return _nearest_of(view, query, k, positions, "chroma")


def _nearest_of(
    view: View, query: FloatArray, k: int, positions: Ints, path: VectorPath
) -> VectorLeg:
    """Return the nearest of some positions, of equal ones the newest."""

    def cosine_of(positions: Ints) -> FloatArray:
        found: FloatArray = view.take(
            positions, lambda p, slots: p.vectors.cosines_of(slots, query)
        )
        return found

    positions = np.sort(positions)
    best = top_newest(
        cosine_of(positions), k, above=NO_COSINE, newness=lambda at: view.newness(positions[at])
    )
    return VectorLeg(positions[best], cosine_of, path)


def candidates(
    view: View,
    keyword: KeywordLeg,
    vector: VectorLeg | None,
    fetch_k: int,
    mask: Mask | None,
    now_ms: int,
    graph: GraphScores | None = None,
) -> tuple[Candidates, Ints]:
    """Return the candidates of all legs, and their positions.

    Args:
        view: The partitions.
        keyword: Answer of the keyword leg.
        vector: Answer of the vector leg, if there was one.
        fetch_k: Candidates of the keyword leg.
        mask: Positions that pass the filter; ``None`` lets all pass.
        now_ms: Ages count back from here.
        graph: Answer of the graph leg, if there was one.
    """
    bm25 = keyword.scores
    matching = bm25 if mask is None else np.where(mask, bm25, 0.0)
    by_keyword = top_newest(matching, fetch_k, above=0.0, newness=view.newness)
    by_vector = vector.positions if vector else np.zeros(0, np.int64)
    positions = _union(len(view), by_keyword, by_vector)
    if graph is not None:
        positions = np.union1d(positions, graph.positions)
    cosine = _cosines(vector, positions)
    return (
        Candidates(
            nums=view.take(positions, lambda p, slots: p.nums[slots]),
            keyword_rank=_ranks(positions, by_keyword, bm25[by_keyword]),
            bm25=bm25[positions],
            vector_rank=_ranks(positions, by_vector, cosine[positions.searchsorted(by_vector)]),
            cosine=cosine,
            age_days=view.take(positions, lambda p, slots: p.age_days(slots, now_ms)),
            accesses=view.take(positions, lambda p, slots: p.accesses[slots]),
            context=_context(view, keyword, vector, positions),
            graph=None if graph is None else _placed(positions, graph),
        ),
        positions,
    )


def _placed(positions: Ints, graph: GraphScores) -> Floats:
    scores = np.zeros(len(positions))
    scores[np.searchsorted(positions, graph.positions)] = graph.scores
    return scores


def _context(
    view: View, keyword: KeywordLeg, vector: VectorLeg | None, positions: Ints
) -> Context | None:
    if keyword.session_of is None or not len(positions):
        return None
    around = view.neighbours(positions)
    nobody = around == NOBODY
    bm25 = np.where(nobody, 0.0, keyword.scores[around])
    cosine = _cosines(vector, np.where(nobody, 0, around).ravel()).reshape(around.shape)
    cosine[nobody] = np.nan
    return Context(keyword.session_of(positions), bm25, cosine)


def _cosines(vector: VectorLeg | None, positions: Ints) -> Floats:
    """Return cosines as numbers that say "none" with NaN."""
    if vector is None:
        return np.full(len(positions), np.nan)
    cosines = vector.cosine_of(positions).astype(np.float64)
    cosines[cosines == NO_COSINE] = np.nan
    return cosines


def _union(size: int, left: Ints, right: Ints) -> Ints:
    """Return the positions, below ``size``, that are in either list, ascending."""
    chosen = np.zeros(size, np.bool_)
    chosen[left] = True
    chosen[right] = True
    return chosen.nonzero()[0]


def _ranks(positions: Ints, leg: Ints, scores: NDArray[Any]) -> Ints:
    """Return the rank of each position in a leg, from 1, ``ABSENT`` where it is not in it.

    Equal scores have equal ranks: which of them the leg lists first means nothing.
    """
    ranks = np.full(len(positions), ABSENT, np.int64)
    rising = -scores
    ranks[positions.searchsorted(leg)] = rising.searchsorted(rising) + 1
    return ranks
