"""A picture of how ranks change from one ranking to the next."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from langchain_memengine.faces.display.html import COLOURS, text

LINES = (
    *COLOURS.values(),
    "#3d8047",
    "#c2505a",
    "#7f7236",
    "#a35e8b",
    "#5f6fc4",
    "#757575",
)
"""Colours of the memories, in turn, for the same reasons as those of the bars."""

_COLUMN, _ROW = 108, 26  # pixels between two rankings, and between two ranks
_LEFT, _TOP, _RIGHT = 195, 34, 215
_LABEL_CHARS = 28

Ranks = Mapping[str, int]
"""Rank by chunk id, from 1."""


def rank_flow(columns: Mapping[str, Ranks], labels: Mapping[str, str]) -> str:
    """Return an SVG: a column a ranking, a line a chunk, in the colours of its page.

    Args:
        columns: Ranks by name of the ranking, in order.
        labels: What each chunk is called; they are drawn in this order.
    """
    deepest = max((rank for ranks in columns.values() for rank in ranks.values()), default=0)
    width = _LEFT + _COLUMN * (len(columns) - 1) + _RIGHT
    height = _TOP + _ROW * deepest + 6
    heads = "".join(
        f'<text x="{_x(at)}" y="14" text-anchor="middle" font-weight="600">{text(name)}</text>'
        for at, name in enumerate(columns)
    )
    lines = "".join(
        _line([ranks.get(key) for ranks in columns.values()], label, LINES[at % len(LINES)])
        for at, (key, label) in enumerate(labels.items())
    )
    return (
        f'<div class="memengine-flow" style="overflow-x:auto"><svg viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" aria-label="ranks by ranking" '
        f'font-family="system-ui,sans-serif" font-size="12" fill="currentColor">'
        f"{heads}{lines}</svg></div>"
    )


def _line(ranks: list[int | None], label: str, colour: str) -> str:
    steps = "".join(
        _step(at, before, after)
        for at, (before, after) in enumerate(pairwise(ranks))
        if before is not None and after is not None
    )
    dots = "".join(
        f'<circle cx="{_x(at)}" cy="{_y(rank)}" r="9" fill="{colour}"/>'
        f'<text x="{_x(at)}" y="{_y(rank) + 4}" text-anchor="middle" fill="#fff">{rank}</text>'
        for at, rank in enumerate(ranks)
        if rank is not None
    )
    return (
        f"<g><title>{text(label)}</title>"
        f'<path d="{steps}" fill="none" stroke="{colour}" stroke-width="2.5"/>'
        f"{dots}{_ends(ranks, label)}</g>"
    )


def _step(at: int, before: int, after: int) -> str:
    """Return a curve between two columns that leaves and arrives level."""
    start, end = _x(at), _x(at + 1)
    middle = (start + end) // 2
    return f"M{start} {_y(before)}C{middle} {_y(before)} {middle} {_y(after)} {end} {_y(after)}"


def _ends(ranks: list[int | None], label: str) -> str:
    short = text(label if len(label) <= _LABEL_CHARS else f"…{label[1 - _LABEL_CHARS :]}")
    first, last = ranks[0], ranks[-1]
    left = right = ""
    if first is not None:
        left = f'<text x="{_x(0) - 16}" y="{_y(first) + 4}" text-anchor="end">{short}</text>'
    if last is not None:
        right = f'<text x="{_x(len(ranks) - 1) + 16}" y="{_y(last) + 4}">{short}</text>'
    return left + right


def _x(column: int) -> int:
    return _LEFT + _COLUMN * column


def _y(rank: int) -> int:
    return _TOP + _ROW * rank - _ROW // 2
