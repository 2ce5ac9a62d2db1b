"""One query under several rankings, side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from langchain_memengine.answers import (
    Hit,
    SearchResult,
)
from langchain_memengine.faces.display.hits import place_of
from langchain_memengine.faces.display.sheets import Cell, Sheet, Words, excerpt, shortened, table
from langchain_memengine.rankings import RANKINGS, Ranking

YOURS = "yours"
"""Name of the column of the ranking that is being tried."""

_EXCERPT_CHARS = 100


@dataclass(frozen=True, slots=True)
class Comparison:
    """What one query finds under each preset, and under a ranking that is being tried.

    Attributes:
        base: Name of the preset that was started from.
        results: Answers by name of the ranking: the presets in order, then ``YOURS``.
    """

    base: str
    results: Mapping[str, SearchResult]

    @property
    def hits(self) -> dict[str, Hit]:
        """Every hit by its id: those of ``YOURS`` in order, then what only others found."""
        first: dict[str, Hit] = {}
        for result in (self.results[YOURS], *self.results.values()):
            for hit in result.hits:
                first.setdefault(hit.id, hit)
        return first

    def ranks(self, name: str) -> dict[str, int]:
        """Return the rank of each chunk that a ranking found, from 1."""
        return {hit.id: rank for rank, hit in enumerate(self.results[name].hits, start=1)}


def compare(
    search: Callable[[Ranking, int], SearchResult], base: str, yours: Ranking
) -> Comparison:
    """Ask under every preset and under a ranking of one's own, for as many hits each.

    Args:
        search: Asks with a ranking, for at most so many hits.
        base: Name of the preset that was started from.
        yours: The ranking that is being tried.
    """
    results = {name: search(ranking, yours.k) for name, ranking in RANKINGS.items()}
    return Comparison(base, {**results, YOURS: search(yours, yours.k)})


def comparison_sheet(comparison: Comparison) -> Sheet:
    """Return the ranks of every chunk that was found; those that yours left out are faded."""
    names = [name for name in comparison.results if name != YOURS]
    ranks = {name: comparison.ranks(name) for name in comparison.results}
    hits = comparison.hits
    rows = [
        [
            _moved(ranks[YOURS].get(key), ranks[comparison.base].get(key)),
            Words(excerpt(hit.text, _EXCERPT_CHARS), place_of(hit), hit.path),
            *(_rank(ranks[name].get(key)) for name in names),
        ]
        for key, hit in hits.items()
    ]
    found = len(ranks[YOURS])
    title = f"Yours finds {found} of {len(hits)}; arrows compare it with {comparison.base}"
    problems = dict.fromkeys(one for all_ in comparison.results.values() for one in all_.degraded)
    sheet = table(title, (YOURS, "memory", *names), rows, warnings=tuple(problems))
    return shortened(replace(sheet, faded=frozenset(range(found, len(hits)))))


def _rank(rank: int | None) -> Cell:
    return "–" if rank is None else str(rank)


def _moved(now: int | None, before: int | None) -> Cell:
    if now is None:
        return "–" if before is None else f"– (was {before})"
    if before is None:
        return f"{now} new"
    if now == before:
        return str(now)
    return f"{now} {'▲' if now < before else '▼'}{abs(now - before)}"
