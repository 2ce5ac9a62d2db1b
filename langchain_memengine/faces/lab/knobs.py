"""The numbers of a ranking that can be turned, and the ranking that they make."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from langchain_memengine.rankings import FusionMethod, Ranking

Settings = Mapping[str, float]
"""Values by the names of the knobs."""

_ALL: tuple[FusionMethod, ...] = ("rrf", "blend", "rerank", "similarity")
_LISTS: tuple[FusionMethod, ...] = ("rrf", "blend")


@dataclass(frozen=True, slots=True)
class Knob:
    """A number that can be turned.

    Attributes:
        name: A field of :class:`Ranking`, or ``half_life_days``, which stands for ``decay_rate``.
        label: What it is called on the screen.
        low: Lowest value.
        high: Highest value.
        step: Smallest change; a whole number makes whole values.
        methods: Ways of fusion that look at it; for others it does nothing.
        tip: What turning it up does.
    """

    name: str
    label: str
    low: float
    high: float
    step: float
    methods: tuple[FusionMethod, ...]
    tip: str


KNOBS = (
    Knob("k", "k", 1, 20, 1, _ALL, "More results."),
    Knob("alpha", "α, share of words", 0, 1, 0.05, ("rerank",), "1 is BM25 alone, 0 cosine."),
    Knob("keyword_weight", "weight of words", 0, 2, 0.05, _LISTS, "Equal words count for more."),
    Knob("vector_weight", "weight of meaning", 0, 2, 0.05, _LISTS, "Near meaning counts for more."),
    Knob("context_weight", "weight of context", 0, 2, 0.05, _LISTS, "The file around it counts."),
    Knob("rrf_k", "rank constant", 1, 100, 1, _LISTS, "First places matter less."),
    Knob("decay_weight", "weight of age", 0, 1, 0.05, _ALL, "Old memories lose more."),
    Knob("half_life_days", "half-life in days", 1, 365, 1, _ALL, "Memories age more slowly."),
)
"""All knobs, in the order in which they are shown."""


def settings_of(ranking: Ranking) -> dict[str, float]:
    """Return where the knobs stand for a ranking, within their limits and on their steps."""
    values = {**ranking.model_dump(), "half_life_days": _half_life(ranking.decay_rate)}
    return {knob.name: _on_knob(knob, values[knob.name]) for knob in KNOBS}


def ranking_of(base: Ranking, settings: Settings) -> Ranking:
    """Return a ranking with the knobs where they stand.

    A knob that was not turned leaves the number of ``base`` as it is, however fine that is.
    """
    change = changes(base, settings)
    return base.model_copy(update={**change, "name": "yours"}) if change else base


def changes(base: Ranking, settings: Settings) -> dict[str, float]:
    """Return the fields of ``base`` that the knobs change, with their new values."""
    before = settings_of(base)
    turned = {name: value for name, value in settings.items() if value != before[name]}
    if "half_life_days" in turned:
        turned["decay_rate"] = round(math.log(2) / turned.pop("half_life_days"), 6)
    return turned


def as_code(base: Ranking, settings: Settings) -> str:
    """Return the line of Python that makes this ranking."""
    change = changes(base, settings)
    preset = f'RANKINGS["{base.name}"]'
    if not change:
        return preset
    values = ", ".join(f'"{name}": {value:g}' for name, value in change.items())
    return f"{preset}.model_copy(update={{{values}}})"


def _half_life(rate: float) -> float:
    return math.log(2) / rate if rate else math.inf


def _on_knob(knob: Knob, value: float) -> float:
    inside = min(max(value, knob.low), knob.high)
    return round(round(inside / knob.step) * knob.step, 6)
