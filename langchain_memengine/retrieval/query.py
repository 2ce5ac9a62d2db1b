"""A search with everything decided, and its candidates before their rows are read."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.given import whole
from langchain_memengine.rankings import Ranking
from langchain_memengine.retrieval.fusion import Candidates, Ranked
from langchain_memengine.storage.graph_reading import MAX_HOPS
from langchain_memengine.types import (
    Filter,
    VectorPath,
)

MAX_QUERY_CHARS = 4000
"""Characters of a query that are read at all: its last ones."""


@dataclass(frozen=True, slots=True)
class Vantage:
    """From where memory is looked at: what conversations learnt is not visible from everywhere.

    Attributes:
        thread_id: Conversation that asks; with ``head``.
        head: Memory commits that its branch ends with, ``a+b``; ``""`` before the first one.
            ``None`` looks from outside: every conversation as its newest branch has it.
        as_of: Only what was known then (aware); ``None`` is now.
    """

    thread_id: str | None = None
    head: str | None = None
    as_of: datetime | None = None

    def __post_init__(self) -> None:
        """Reject a branch of no conversation.

        Raises:
            ConfigurationError: There is a head and no thread.
        """
        if self.head is not None and self.thread_id is None:
            raise ConfigurationError(
                f"head={self.head!r} is a branch of a thread. Pass its thread_id as well."
            )


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
        vantage: From where it is looked at what conversations learnt.
        graph_hops: Relations that the graph leg follows; 0 leaves it out.
        min_cosine: Similarity that alone makes a hit; ``None`` as the settings say.
    """

    text: str
    k: int
    ranking: Ranking
    partitions: tuple[str, ...]
    now: datetime
    filter: Filter = field(default_factory=Filter)
    max_chars: int = 0
    max_tokens: int = 0
    vantage: Vantage = Vantage()
    graph_hops: int = 0
    min_cosine: float | None = None

    def __post_init__(self) -> None:
        """Reject numbers that mean nothing.

        Raises:
            ConfigurationError: One is no whole number from 0 on, or there are too many hops.
        """
        for name in ("k", "max_chars", "max_tokens"):
            whole(name, getattr(self, name))
        whole("graph_hops", self.graph_hops, most=MAX_HOPS)

    @property
    def tail(self) -> str:
        """What of the text is read: its end, where the question stands."""
        return self.text[-MAX_QUERY_CHARS:]

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
    author_boost: float
    date_boost: float
    graph_rank: int


@dataclass(frozen=True, slots=True)
class RankedView:
    """The candidates of a query in their order, before their rows are read.

    Attributes:
        candidates: What the legs know.
        ranked: Their order and scores.
        vector_path: Which index answered the vector leg.
        vector_weight: Weight of the vector leg; ``None`` without one.
        min_cosine: Cosine that alone makes a hit.
        degraded: What made the answer poorer than asked.
        hidden: Memory commits, and sources of superseded and quarantined memories, that cannot be
            seen from the query's vantage.
    """

    candidates: Candidates
    ranked: Ranked
    vector_path: VectorPath | None
    vector_weight: float | None
    min_cosine: float
    degraded: tuple[str, ...]
    hidden: frozenset[str] = frozenset()

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
            scores.author_boost,
            scores.date_boost,
            scores.graph_rank,
        )
        values = [column[positions].tolist() for column in columns]
        return list(map(Place._make, zip(*values, strict=True)))


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
