"""A search with everything decided, and its candidates before their rows are read."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from langchain_memengine.config import Ranking
from langchain_memengine.errors import ConfigurationError
from langchain_memengine.retrieval.fusion import Candidates, Ranked
from langchain_memengine.types import Filter, VectorPath


@dataclass(frozen=True, slots=True)
class Query:
    """One search, with everything decided.

    Attributes:
        text: What is asked.
        k: Hits wanted, at most; 0 asks for none.
        ranking: How the legs become one order.
        partitions: Partitions that the actor may read.
        now: Ages count back from here.
        filter: What may be returned.
        max_chars: Characters of all hits together; 0 is unlimited.
        max_tokens: Estimated tokens of all hits together; 0 is unlimited.
        graph_hops: Relations that the graph leg follows; 0 leaves it out.
    """

    text: str
    k: int
    ranking: Ranking
    partitions: tuple[str, ...]
    now: datetime
    filter: Filter = field(default_factory=Filter)
    max_chars: int = 0
    max_tokens: int = 0
    graph_hops: int = 0

    def __post_init__(self) -> None:
        """Reject numbers that mean nothing.

        Raises:
            ConfigurationError: A number is negative.
        """
        for name in ("k", "max_chars", "max_tokens", "graph_hops"):
            if getattr(self, name) < 0:
                raise ConfigurationError(f"{name}={getattr(self, name)} must not be negative.")

    @property
    def asks_nothing(self) -> bool:
        """Whether the answer is empty whatever is stored."""
        return self.k == 0 or not self.text.strip()


class Place(NamedTuple):
    """What is known of one ranked candidate, as plain numbers; see :class:`Candidates`."""

    num: int
    score: float
    keyword_rank: int
    bm25: float
    vector_rank: int
    cosine: float
    age_days: float
    accesses: int
    fused: float
    decay: float
    bonus: float
    context_rank: int
    graph_rank: int


@dataclass(frozen=True, slots=True)
class RankedView:
    """The candidates of a query in their order, before their rows are read.

    Attributes:
        candidates: What the legs know.
        ranked: Their order and scores.
        vector_path: Which index answered the vector leg.
        min_cosine: Cosine that alone makes a hit.
        degraded: What made the answer poorer than asked.
    """

    candidates: Candidates
    ranked: Ranked
    vector_path: VectorPath | None
    min_cosine: float
    degraded: tuple[str, ...]

    def places(self, positions: NDArray[np.int64]) -> list[Place]:
        """Return what is known of these candidates, in this order."""
        known, scores = self.candidates, self.ranked
        columns = (
            known.nums,
            scores.score,
            known.keyword_rank,
            known.bm25,
            known.vector_rank,
            known.cosine,
            known.age_days,
            known.accesses,
            scores.fused,
            scores.decay,
            scores.bonus,
            scores.context_rank,
            scores.graph_rank,
        )
        return list(map(Place, *(column[positions].tolist() for column in columns)))


class Stopwatch:
    """Milliseconds by stage."""

    def __init__(self) -> None:
        self.timings: dict[str, float] = {}
        self._started = self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        """Book the time since the last lap on a stage."""
        now = time.perf_counter()
        self.timings[stage] = self.timings.get(stage, 0.0) + (now - self._last) * 1000
        self.timings["total"] = (now - self._started) * 1000
        self._last = now
