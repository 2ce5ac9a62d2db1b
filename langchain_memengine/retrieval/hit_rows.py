"""From ranked positions to hits: their rows, read and checked once more, with receipts."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan

import numpy as np
from numpy.typing import NDArray

from langchain_memengine.answers import Hit, Receipt
from langchain_memengine.retrieval.query import Place, Query, RankedView
from langchain_memengine.storage import stored_chunks
from langchain_memengine.storage.chunk_values import StoredChunk
from langchain_memengine.storage.transaction import Transaction


def read_hits(tx: Transaction, query: Query, ranked: RankedView) -> Iterator[Hit]:
    """Read the rows of ranked candidates, best first, without those the last check drops.

    They are read as many as are wanted at a time, then twice as many; of equal ones all at once.
    """
    order = ranked.ranked.order
    is_chosen = query.ranking.mmr_lambda is not None
    ends = np.arange(1, len(order) + 1) if is_chosen else _ends_of_ties(ranked)
    start, size = 0, query.k
    while start < len(order):
        end = int(ends[np.searchsorted(ends, min(start + size, len(order)))])
        places = ranked.places(order[start:end])
        rows = stored_chunks.visible_by_num(
            tx,
            [p.num for p in places],
            partitions=query.partitions,
            now=query.now,
            hidden=ranked.hidden,
        )
        found = [(place, rows[place.num]) for place in places if place.num in rows]
        if not is_chosen:
            found.sort(key=_by_score_age_id)
        for place, stored in found:
            yield _hit(place, stored, ranked, query.ranking.name)
        start, size = end, 2 * size


def within_budget(hits: Iterator[Hit], query: Query) -> list[Hit]:
    """Return the best hits up to ``k`` whose texts fit into the query's budgets together.

    The first hit that does not fit is left out, and everything after it.
    """
    chosen: list[Hit] = []
    chars = tokens = 0
    for hit in hits:
        chars += len(hit.text)
        tokens += hit.tokens
        if query.max_chars and chars > query.max_chars:
            break
        if query.max_tokens and tokens > query.max_tokens:
            break
        chosen.append(hit)
        if len(chosen) == query.k:
            break
    return chosen


def _ends_of_ties(ranked: RankedView) -> NDArray[np.int64]:
    """Return where runs of candidates with equal score and age end in the order."""
    order = ranked.ranked.order
    age = np.fmax(ranked.candidates.age_days[order], 0.0)
    differs = (np.diff(ranked.ranked.score[order]) != 0) | (np.diff(age) != 0)
    return np.append(np.flatnonzero(differs) + 1, len(order))


def _by_score_age_id(found: tuple[Place, StoredChunk]) -> tuple[float, float, str]:
    """Order equal scores by age, then id: chunk numbers differ between two equal stores."""
    place, stored = found
    age = 0.0 if isnan(place.age_days) else place.age_days
    return -place.score, age, stored.id


def _hit(place: Place, stored: StoredChunk, ranked: RankedView, ranking: str) -> Hit:
    return Hit(
        id=stored.id,
        text=stored.text,
        score=place.score,
        source=stored.source,
        path=stored.path,
        start_line=stored.start_line,
        end_line=stored.end_line,
        heading=stored.heading,
        tokens=stored.tokens,
        scope=stored.scope,
        owner=stored.owner,
        event_at=stored.event_at,
        metadata=stored.metadata,
        receipt=Receipt(
            keyword_rank=place.keyword_rank or None,
            bm25=place.bm25 or None,
            vector_rank=place.vector_rank or None,
            cosine=None if isnan(place.cosine) else place.cosine,
            vector_path=ranked.vector_path if place.vector_rank else None,
            context_rank=place.context_rank or None,
            graph_rank=place.graph_rank or None,
            fused=place.fused,
            age_days=None if isnan(place.age_days) else place.age_days,
            decay=place.decay,
            access_count=place.accesses,
            access_bonus=place.bonus,
            ranking=ranking,
            origin=stored.origin,
            trust=stored.trust,
            author_boost=place.author_boost,
            date_boost=place.date_boost,
            vector_weight=ranked.vector_weight,
        ),
    )
