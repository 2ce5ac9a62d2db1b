"""Tell which texts hold forgotten words, and take those out of Markdown."""

from __future__ import annotations

import json
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

from langchain_memengine.text.comments import unescaped_comments
from langchain_memengine.text.markdown import headings, line_starts

MIN_CHARS = 12
"""Shorter texts count only where they stand alone: many other texts hold "tea"."""

_LIST_MARK = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
_SOURCE = re.compile(r"\([^()]*\)$")


class Erasure:
    """A set of texts that are to be found nowhere, as :func:`flat` makes them.

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
        return self.is_in_value(value)

    def is_in_value(self, value: Any) -> bool:
        """Return whether some text within a JSON value holds one of them."""
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
    """The words of all blocks in a row, and in which of them each stands.

    Attributes:
        blocks: Those that have words.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self.blocks = [number for number, text in enumerate(words) if text]
        self._ends = list(accumulate(len(words[number]) + 1 for number in self.blocks))
        self._all = " ".join(words[number] for number in self.blocks)

    def ends_of(self, text: str) -> list[int]:
        """Return the places, among the blocks, of those that a text ends in."""
        found = []
        at = self._all.find(text)
        while at >= 0:
            place = bisect_right(self._ends, at + len(text) - 1)
            found.append(place)
            at = self._all.find(text, max(at, self._ends[place] - len(text)) + 1)
        return found


def _empty(blocks: list[_Block], texts: Iterable[str]) -> None:
    """Take out the fewest neighbouring blocks, or entries of a list, that hold one of the texts."""
    words = [flat("".join(block.lines)) for block in blocks]
    row = _Row(words)
    for text in texts:
        if ends := row.ends_of(text):
            _take_out(blocks, words, text, row.blocks, ends)
            row = _Row(words)


def _take_out(
    blocks: Sequence[_Block],
    words: list[str],
    text: str,
    numbers: Sequence[int],
    ends: Sequence[int],
) -> None:
    """Take out the blocks, or entries of a list, that hold a text, also where a gap joins them.

    Linear: each block is looked at with the few before it that stay.

    Args:
        blocks: All blocks.
        words: Their words; kept up to date.
        text: What goes.
        numbers: The blocks that have words.
        ends: Places, among these, of those that it ends in.
    """
    stay = list(numbers[: ends[0]])
    ending = set(ends)
    unsettled = 0  # characters behind a gap that may complete the text with what is before it
    for place in range(ends[0], len(numbers)):
        stay.append(numbers[place])
        if place not in ending and unsettled <= 0:
            if place > ends[-1]:
                return
            continue
        unsettled -= len(words[numbers[place]]) + 1
        while held := _last_holders(words, stay, text):
            del stay[-len(held) :]
            is_entry = len(held) == 1 and blocks[held[0]].is_list
            for one in held:
                lines = _without(blocks[one].lines, text) if is_entry else []
                blocks[one].lines, words[one] = lines, flat("".join(lines))
            stay += [one for one in held if words[one]]
            unsettled = len(text)


def _last_holders(words: Sequence[str], stay: Sequence[int], text: str) -> Sequence[int]:
    """Return the fewest blocks at the end of some that hold a text; none if they do not."""
    first, length = len(stay), 0
    while first and length < len(text) + len(words[stay[-1]]):
        first -= 1
        length += len(words[stay[first]]) + 1
    at = " ".join(words[number] for number in stay[first:]).rfind(text)
    if at < 0:
        return []
    while at > len(words[stay[first]]):
        at -= len(words[stay[first]]) + 1
        first += 1
    return stay[first:]


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
    """Return a text without what does not matter when words are looked for.

    That is case, how wide white space is, whether an accent is a character of its own, and how
    marks of comments are written.
    """
    folded = unicodedata.normalize("NFD", unescaped_comments(text)).casefold()
    return " ".join(unicodedata.normalize("NFC", folded).split())


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
