"""Tell which texts hold forgotten words, and take those out of Markdown."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

from langchain_memengine.text.markdown import headings, line_starts

MIN_CHARS = 12
"""Shorter texts count only where they stand alone: many other texts hold "tea"."""

_LIST_MARK = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
_SOURCE = re.compile(r"\([^()]*\)$")


class Erasure:
    """A set of texts that are to be found nowhere; case and white space do not matter.

    Args:
        texts: What is forgotten; blank ones are ignored.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        wanted = {flat(text) for text in texts} - {""}
        self._texts = frozenset(wanted)
        long = (text for text in wanted if len(text) >= MIN_CHARS)
        self._long = sorted(long, key=len, reverse=True)

    @property
    def texts(self) -> frozenset[str]:
        """The texts, without what does not matter."""
        return self._texts

    def __bool__(self) -> bool:
        """Whether anything is forgotten."""
        return bool(self._texts)

    def holds(self, text: str) -> bool:
        """Return whether a text is one of them, or holds one that is long enough to tell."""
        words = flat(text)
        return words in self._texts or any(one in words for one in self._long)

    def is_in_json(self, text: str) -> bool:
        """Return whether some text within JSON holds one of them; what is no JSON is a text."""
        try:
            value = json.loads(text)
        except ValueError:
            return self.holds(text)
        return any(map(self.holds, _strings(value)))

    def erase(self, markdown: str) -> str:
        """Return Markdown without what holds one of them: list entries, paragraphs, sections.

        A heading goes when it holds them, and when nothing is left under it.
        """
        # What was around may hold the words now that something between is gone.
        while (left := self._erased_once(markdown)) != markdown:
            markdown = left
        return markdown

    def _erased_once(self, markdown: str) -> str:
        blocks = _blocks(markdown)
        before = [list(block.lines) for block in blocks]
        _empty(blocks, self._long)
        for block in blocks:
            block.lines = [line for line in block.lines if not self._is_entry(line)]
        if [block.lines for block in blocks] == before:
            return markdown
        for block in blocks:
            if not "".join(block.lines).strip():
                block.lines = []
        _empty_headings(blocks, [bool("".join(lines).strip()) for lines in before])
        return "".join(line for block in blocks for line in block.lines)

    def _is_entry(self, line: str) -> bool:
        return flat(_bare(line)) in self._texts


@dataclass(slots=True)
class _Block:
    """A heading, or a paragraph with the blank lines behind it.

    Attributes:
        lines: Its lines with their ends; none when it was taken out.
        level: Of a heading; 0 for a paragraph.
    """

    lines: list[str]
    level: int

    @property
    def is_list(self) -> bool:
        return any(_LIST_MARK.match(line) for line in self.lines)


def _blocks(markdown: str) -> list[_Block]:
    starts = [*line_starts(markdown), len(markdown)]
    levels = {heading.line - 1: heading.level for heading in headings(markdown)}
    blocks: list[_Block] = []
    for number, (start, end) in enumerate(pairwise(starts)):
        line, level = markdown[start:end], levels.get(number, 0)
        last = blocks[-1] if blocks else None
        is_new = (
            last is None or level or last.level or (line.strip() and not last.lines[-1].strip())
        )
        if last is None or (is_new and (line.strip() or last.level == 0)):
            blocks.append(_Block([line], level))
        else:
            last.lines.append(line)
    return blocks


class _Row:
    """The words of some blocks in a row, and in which of them each stands."""

    def __init__(self, words: Sequence[str]) -> None:
        self._kept = [number for number, text in enumerate(words) if text]
        self._ends = list(accumulate(len(words[number]) + 1 for number in self._kept))
        self._all = " ".join(words[number] for number in self._kept)

    def holders(self, text: str) -> Iterator[range]:
        """Yield the fewest neighbouring blocks that hold a text, wherever they stand apart."""
        at = 0
        while (first := self._all.find(text, at)) >= 0:
            last_block = bisect_right(self._ends, first + len(text) - 1)
            latest = self._all.rfind(text, first, self._ends[last_block] - 1)
            first_block = bisect_right(self._ends, latest)
            yield range(self._kept[first_block], self._kept[last_block] + 1)
            at = self._ends[last_block]


def _empty(blocks: list[_Block], texts: Iterable[str]) -> None:
    """Take out the fewest neighbouring blocks, or entries of a list, that hold one of the texts."""
    words = [flat("".join(block.lines)) for block in blocks]
    row = _Row(words)
    for text in texts:
        while holding := list(row.holders(text)):
            for held in holding:
                for number in held:
                    block = blocks[number]
                    is_entry = len(held) == 1 and block.is_list
                    block.lines = _without(block.lines, text) if is_entry else []
                    words[number] = flat("".join(block.lines))
            row = _Row(words)


def _without(entries: list[str], text: str) -> list[str]:
    """Return the entries of a list that do not hold a text, none if it goes over several."""
    left = [line for line in entries if text not in flat(line)]
    return [] if text in flat("".join(left)) else left


def _empty_headings(blocks: list[_Block], had_words: list[bool]) -> None:
    """Take out headings under which everything was taken out."""
    for number in range(len(blocks) - 1, -1, -1):
        level = blocks[number].level
        if not level or not blocks[number].lines:
            continue
        below = range(number + 1, len(blocks))
        end = next((i for i in below if 0 < blocks[i].level <= level), len(blocks))
        is_empty = not any("".join(block.lines).strip() for block in blocks[number + 1 : end])
        if is_empty and any(had_words[number + 1 : end]):
            blocks[number].lines = []


def _bare(line: str) -> str:
    """Return a line without its list mark, and without source and comments at its end."""
    text = _LIST_MARK.sub("", line.strip())
    end = len(text)
    while text.endswith("-->", 0, end) and (start := text.rfind("<!--", 0, end)) >= 0:
        end = start
        while end and text[end - 1].isspace():
            end -= 1
    return _SOURCE.sub("", text[:end]).rstrip()


def flat(text: str) -> str:
    """Return a text without what does not matter: case, and how wide white space is."""
    return " ".join(text.split()).casefold()


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
