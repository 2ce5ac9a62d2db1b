"""Which items of a store answer a query, best first; without one, which there are."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from langchain_memengine.rankings import Ranking
from langchain_memengine.retrieval.embedding_cache import FloatArray
from langchain_memengine.retrieval.hit_rows import read_hits
from langchain_memengine.retrieval.item_filters import matches
from langchain_memengine.retrieval.query import Query, Stopwatch
from langchain_memengine.retrieval.search import Searcher
from langchain_memengine.storage import store_items
from langchain_memengine.storage.chunk_values import partition_key
from langchain_memengine.storage.item_values import Namespace, StoredItem, root_of, source_prefix
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.text.sanitize import clean_text
from langchain_memengine.types import Filter

_ANY_COSINE = -1.0
_FETCH_GROWTH = 4


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which items a search returns.

    Attributes:
        prefix: In and under this namespace.
        query: What is asked; without it the order is that of creation.
        filter: Conditions on the value, see :func:`item_filters.matches`.
        limit: Items, at most.
        offset: Items that are passed over.
    """

    prefix: Namespace
    query: str = ""
    filter: Mapping[str, Any] = field(default_factory=dict)
    limit: int = 10
    offset: int = 0

    @property
    def is_asked(self) -> bool:
        """Whether the order is that of answers."""
        return bool(self.limit and self.query.strip())

    @property
    def end(self) -> int:
        """Items up to the last one wanted."""
        return self.offset + self.limit


Scored = tuple[StoredItem, float | None]


def listed(tx: Transaction, wanted: Wanted, now: datetime) -> list[StoredItem]:
    """Return items in the order of creation.

    Raises:
        ConfigurationError: The filter has an unknown operator.
    """
    if wanted.filter:
        return _in_order(tx, _passing(tx, wanted, now)[wanted.offset : wanted.end], now)
    return store_items.under(tx, wanted.prefix, now, limit=wanted.limit, offset=wanted.offset)


def ranked(
    tx: Transaction,
    searcher: Searcher,
    ranking: Ranking,
    wanted: Wanted,
    vector: FloatArray | None,
    now: datetime,
) -> list[Scored]:
    """Return items with their scores: those that answer the query best first, then the others.

    Args:
        tx: A view of the database.
        searcher: Ranks the chunks of items.
        ranking: How.
        wanted: Which items; it has a query.
        vector: Of the query, if there is an embedder that answers.
        now: What expired before is not there.

    Raises:
        ConfigurationError: The filter has an unknown operator.
    """
    passing = _passing(tx, wanted, now) if wanted.filter else None
    scores: dict[str, float] = {}
    if (query := _query(tx, ranking, wanted, passing, now)) is not None:
        scores = _scores(tx, searcher, query, vector)
    best = list(scores)[wanted.offset : wanted.end]
    answers: list[Scored] = [(item, scores[item.source]) for item in _in_order(tx, best, now)]
    if len(scores) < wanted.end:
        answers += _unscored(tx, wanted, passing, scores, now)
    return answers


def _query(
    tx: Transaction, ranking: Ranking, wanted: Wanted, passing: Sequence[str] | None, now: datetime
) -> Query | None:
    """Return what is asked of the index; ``None`` where nothing could answer."""
    roots = [root_of(wanted.prefix)] if wanted.prefix else store_items.roots(tx)
    if not roots or (passing is not None and not passing):
        return None
    only = Filter()
    if passing is not None:
        only = Filter(sources=tuple(passing))
    elif len(wanted.prefix) > 1:  # a whole partition needs no filter
        only = Filter(source=f"{source_prefix(wanted.prefix)}*")
    return Query(
        text=clean_text(wanted.query),
        k=wanted.end,
        ranking=ranking,
        partitions=tuple(partition_key("store", root) for root in roots),
        now=now,
        filter=only,
        min_cosine=_ANY_COSINE,
    )


def _scores(
    tx: Transaction, searcher: Searcher, query: Query, vector: FloatArray | None
) -> dict[str, float]:
    """Return the scores of the ``k`` best items by their best chunk, or of all there are.

    They stand by source, best first.
    """
    fetch = query.ranking.fetch_k(query.k)
    while True:
        found = searcher.rank(tx, query, vector, fetch, Stopwatch())
        best: dict[str, float] = {}
        for hit in read_hits(tx, query, found):
            best.setdefault(hit.source, hit.score)
            if len(best) == query.k:
                return best
        if len(found.candidates) < fetch:
            return best
        fetch *= _FETCH_GROWTH  # some items have many chunks


def _passing(tx: Transaction, wanted: Wanted, now: datetime) -> list[str]:
    """Return the sources of the items whose values satisfy the filter, oldest first."""
    values = store_items.values_under(tx, wanted.prefix, now)
    return [source for source, value in values if matches(json.loads(value), wanted.filter)]


def _in_order(tx: Transaction, sources: Sequence[str], now: datetime) -> list[StoredItem]:
    found = store_items.by_sources(tx, sources, now)
    return [found[source] for source in sources]


def _unscored(
    tx: Transaction,
    wanted: Wanted,
    passing: Sequence[str] | None,
    scored: Collection[str],
    now: datetime,
) -> list[Scored]:
    """Return the items after the scored ones."""
    start = max(0, wanted.offset - len(scored))
    end = wanted.end - len(scored)
    if passing is None:
        items = store_items.under(tx, wanted.prefix, now, limit=wanted.end + len(scored))
        others = [item for item in items if item.source not in scored][start:end]
    else:
        page = [source for source in passing if source not in scored][start:end]
        others = _in_order(tx, page, now)
    return [(item, None) for item in others]
