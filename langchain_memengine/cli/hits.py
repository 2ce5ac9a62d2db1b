"""Hits and their receipts, for people and for programs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from langchain_memengine.answers import (
    Hit,
    SearchResult,
    as_json,
)
from langchain_memengine.faces.display.hits import ID_DIGITS
from langchain_memengine.faces.display.plain import BAR_CELLS, bar_of
from langchain_memengine.text.printable import body_lines, clean_line

EXCERPT_LINES = 3

_INDENT = 4
_BETWEEN = Text(" · ")
_BAR_CELLS = (BAR_CELLS, 4, 0)  # columns of a bar, the widest that fits
_WORD = re.compile(r"\w+")
_FIRST_UNSPACED = "\u0e00"  # Thai; behind it come the scripts written without spaces

Splitter = Callable[[str], list[str]]


def hit_as_json(hit: Hit) -> dict[str, Any]:
    """Return a hit as plain JSON types."""
    names = ("id", "path", "start_line", "end_line", "text", "score", "receipt")
    more = ("source", "heading", "event_at", "scope", "owner", "tokens", "metadata")
    return {name: as_json(getattr(hit, name)) for name in (*names, *more)}


def result_as_json(result: SearchResult) -> dict[str, Any]:
    """Return the answer to a query as plain JSON types."""
    return {
        "hits": [hit_as_json(hit) for hit in result.hits],
        "degraded": list(result.degraded),
        "timings": dict(result.timings),
    }


def print_hits(
    console: Console, hits: Sequence[Hit], query: str, language: str, *, lines: int = EXCERPT_LINES
) -> None:
    """Print a ranked list: where, the first lines of the text, and the receipt of each hit."""
    receipts = receipts_of(hits, console.width - _INDENT)
    for rank, (hit, receipt) in enumerate(zip(hits, receipts, strict=True), start=1):
        print_place(console, hit, rank, query, language, lines=lines)
        for line in receipt:
            console.print(Text(" " * _INDENT) + line, soft_wrap=True)


def print_place(
    console: Console, hit: Hit, rank: int, query: str, language: str, *, lines: int = EXCERPT_LINES
) -> None:
    """Print where a hit stands and the first lines of its text."""
    from langchain_memengine.text.words import WordSplitter

    console.print(_title(hit, rank, console.width), soft_wrap=True)
    for line in excerpt(console, hit.text, query, WordSplitter(language), lines):
        console.print(Text(" " * _INDENT) + line, soft_wrap=True)


def excerpt(
    console: Console, text: str, query: str, splitter: Splitter, max_lines: int
) -> list[Text]:
    """Return the first lines of a text, words of the query highlighted.

    Headings in front are left out. When the first lines have none of the words, the excerpt starts
    where they begin.
    """
    words = set(splitter(query))
    shown = [_highlighted(line, words, splitter) for line in body_lines(text)]
    matching = next((i for i, line in enumerate(shown) if line.spans), 0)
    start = matching if matching >= max_lines else 0
    width = max(20, console.width - _INDENT)
    joined = Text("\n").join(shown[start : start + max_lines])
    wrapped = joined.wrap(console, width - 2)
    excerpted = list(wrapped[:max_lines])
    if excerpted and (len(wrapped) > max_lines or len(shown) > start + max_lines):
        excerpted[-1].rstrip()
        excerpted[-1].append(" …")
    return excerpted


def receipts_of(hits: Sequence[Hit], width: int) -> list[list[Text]]:
    """Return the receipts of hits, each with the digits of its hit's id, on one line if all fit.

    Where they do not, all have shorter bars, or none, and at last several lines, each part whole.
    """
    best_bm25 = max((hit.receipt.bm25 or 0.0 for hit in hits), default=0.0)
    receipts: list[list[Text]] = []
    for bar_cells in _BAR_CELLS:
        receipts = [_folded(_receipt_parts(hit, best_bm25, bar_cells), width) for hit in hits]
        if all(len(lines) == 1 for lines in receipts):
            break
    return receipts


def _folded(parts: Sequence[Text], width: int) -> list[Text]:
    """Return parts on as few lines as hold them; a part that is wider stands alone."""
    lines = [parts[0]]
    for part in parts[1:]:
        longer = _BETWEEN.join([lines[-1], part])
        lines[-1:] = [longer] if longer.cell_len <= width else [lines[-1], part]
    return lines


def _receipt_parts(hit: Hit, best_bm25: float, bar_cells: int) -> list[Text]:
    """Return the parts of a receipt that applied, and the digits of the id.

    What the query names stands in the place of the age: there is no room for both.
    """
    receipt = hit.receipt
    parts: list[Text] = []
    if receipt.bm25 is not None:
        share = receipt.bm25 / best_bm25 if best_bm25 else 0.0
        value = f"{receipt.bm25:.1f} #{receipt.keyword_rank}"
        parts.append(_leg("bm25", bar_of(share, "cyan", bar_cells), value))
    if receipt.cosine is not None:
        place = f" #{receipt.vector_rank}" if receipt.vector_rank else ""
        value = f"{receipt.cosine:.2f}{place}"
        parts.append(_leg("cosine", bar_of(receipt.cosine, "magenta", bar_cells), value))
    if receipt.context_rank is not None:
        parts.append(Text.assemble(("context ", "dim"), f"#{receipt.context_rank}"))
    boosts = (("author", receipt.author_boost), ("date", receipt.date_boost))
    if named := [name for name, boost in boosts if boost]:
        parts.append(Text("".join(f"+{name}" for name in named)))
    elif receipt.age_days is not None:
        factor = f" ×{receipt.decay:.2f}" if receipt.decay < 1 else ""
        parts.append(Text(f"{receipt.age_days:.0f} d{factor}"))
    return [*parts, Text(hit.id[:ID_DIGITS], "dim")]


def _leg(name: str, bar: Text, value: str) -> Text:
    return Text(" ").join([Text(name, "dim"), *([bar] if bar else []), Text(value)])


def _title(hit: Hit, rank: int, width: int) -> Text:
    title = Text.assemble((f"{rank:>2}  ", "bold"), (clean_line(hit.location), "bold green"))
    heading = Text(clean_line(hit.heading).replace(" > ", " › "), "dim")
    room = width - cell_len(title.plain) - 2
    if heading and room >= min(16, cell_len(heading.plain)):
        heading.truncate(room, overflow="ellipsis")
        title = Text.assemble(title, "  ", heading)
    return title


def _highlighted(line: str, words: set[str], splitter: Splitter) -> Text:
    text = Text(line)
    for start, end in _matches(line, words, splitter):
        text.stylize("bold yellow", start, end)
    return text


def _matches(line: str, words: set[str], splitter: Splitter) -> Iterator[tuple[int, int]]:
    """Yield where the words of a query stand, as the keyword index sees them."""
    for found in _WORD.finditer(line):
        if found[0][0] < _FIRST_UNSPACED:
            if not words.isdisjoint(splitter(found[0])):
                yield found.span()
            continue
        for word in words:
            for part in re.finditer(re.escape(word), found[0]) if len(word) > 1 else ():
                yield found.start() + part.start(), found.start() + part.end()
