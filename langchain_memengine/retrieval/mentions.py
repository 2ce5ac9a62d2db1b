"""Which candidates are by somebody, or of a time, that the query names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from langchain_memengine.retrieval.fusion import Candidates, Mentions
from langchain_memengine.retrieval.query import Query
from langchain_memengine.retrieval.view import View
from langchain_memengine.storage.times import to_ms
from langchain_memengine.text.dates import Period, periods_named

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

MAX_QUERY_CHARS = 1000
"""Characters of a query in which dates are looked for: its last ones."""

_MS_PER_DAY = 86_400_000.0


def with_mentions(
    found: Candidates, positions: Ints, view: View, words: Sequence[str], query: Query
) -> Candidates:
    """Return the candidates with what the query names, as far as its ranking wants to know.

    Args:
        found: The candidates.
        positions: Their positions in the view.
        view: The partitions.
        words: Words of the query.
        query: What is asked.
    """
    authors = named_authors(view, words) if query.ranking.author_boost else frozenset()
    text = query.text[-MAX_QUERY_CHARS:]
    periods = periods_named(text, query.now) if query.ranking.date_boost else ()
    if not (authors or periods):
        return found
    by_author = view.take(positions, lambda p, slots: p.authors.wrote(slots, authors))
    days = view.take(positions, lambda p, slots: p.event_days(slots))
    return replace(found, mentions=Mentions(by_author, _within(days, periods)))


def named_authors(view: View, words: Sequence[str]) -> frozenset[str]:
    """Return the authors that a query names; nobody if it names all there are.

    Anna Weber is not meant where the query says "Anna Schmidt" and there is one.
    """
    called: dict[str, set[str]] = {}
    for partition in view.partitions:
        for name, by in partition.authors.called(words).items():
            called.setdefault(name, set()).update(by)
    if not called:
        return frozenset()
    ways = {frozenset(by) for by in called.values()}
    meant = {way for way in ways if not any(way < other for other in ways)}
    named = frozenset(name for name, by in called.items() if by in meant)
    everybody = set().union(*(partition.authors.names for partition in view.partitions))
    return named if len(named) < len(everybody) else frozenset()


def _within(event_days: NDArray[np.float64], periods: Sequence[Period]) -> Mask:
    """Return which days since 1970 are in any of the periods; what has no date is in none."""
    inside = np.zeros(len(event_days), np.bool_)
    for period in periods:
        since, until = (to_ms(moment) / _MS_PER_DAY for moment in period)
        inside |= (event_days >= since) & (event_days < until)
    return inside
