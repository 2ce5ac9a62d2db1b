"""Where a Markdown text is cut.

Sections under headings come first; a section that is too long is cut between blocks
(paragraphs, fenced code, tables), then lines, sentences, words, and only then anywhere. A
following chunk of the same section starts a little earlier, so that what stands at a cut is found
from both sides. Time is linear in the text, whatever it holds.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import pairwise

from langchain_memengine.text.code_fences import fences
from langchain_memengine.text.markdown import (
    HEADING_JOINER,
    FrontMatter,
    Heading,
    find_headings,
    front_matter,
    line_starts,
    split_lines,
)
from langchain_memengine.text.tokens import QUARTERS, WEIGHTS, quarter_tokens

_CHARS_PER_QUARTER = 2
"""Bound on the characters of a quarter token: combining marks weigh nothing."""

# Ends of sentences: stops before white space, and the full-width ones before anything.
_SENTENCE = re.compile(r"(?<![.!?…।؟۔])[.!?…।؟۔]++[\"'”’»)\]]*+\s++|[。！？｡]++[」』”’）]*+\s*+")
_LINE_END = re.compile(r"\r\n|\r|\n")
_WORD_GAP = re.compile(r"\s++")

_Span = tuple[int, int]
_Piece = tuple[int, int, int]  # start, end, weight


class Cutter:
    """One text, its lines and headings, and the bounds its chunks must keep.

    Weights are in quarter tokens, offsets in characters.
    """

    def __init__(
        self, content: str, size_tokens: int, overlap_tokens: int, *, skip_front_matter: bool
    ) -> None:
        self.content = content
        self.size = size_tokens * QUARTERS
        self.overlap = overlap_tokens * QUARTERS
        self.step = self.size - self.overlap
        self.starts = line_starts(content)
        self.lines = split_lines(content)
        front = front_matter(content) if skip_front_matter else FrontMatter()
        self.body_line = 1 if front.error else front.body_line  # what is unread is text
        self.fences = fences(self.lines, self.body_line)
        self.headings = find_headings(self.lines, self.fences, self.body_line)
        self.heading_lines = [heading.line for heading in self.headings]
        self.is_heading = frozenset(self.heading_lines)
        self.paths = _paths(self.headings)

    def line_at(self, offset: int) -> int:
        """Return the line an offset lies in, 1-based."""
        return bisect_right(self.starts, offset)

    def spans(self, *, split_on_headers: bool) -> Iterator[tuple[int, int, str]]:
        """Yield start, end and heading path of every chunk."""
        if split_on_headers:
            for start, end, path in self._sections():
                for first, last in self._pack(start, end):
                    yield first, last, path
        else:
            for first, last in self._pack(self._offset(self.body_line), len(self.content)):
                at = bisect_right(self.heading_lines, self.line_at(first))
                yield first, last, self.paths[at]

    def _offset(self, line: int) -> int:
        return self.starts[line - 1] if line <= len(self.starts) else len(self.content)

    def _sections(self) -> Iterator[tuple[int, int, str]]:
        """Yield the text under each heading; a bare one is joined with its sub-section."""
        begins = [self._offset(line) for line in (self.body_line, *self.heading_lines)]
        carried: int | None = None
        for at, (start, end) in enumerate(pairwise([*begins, len(self.content)])):
            start = start if carried is None else carried  # noqa: PLW2901 (moved to the front)
            carried = start if self._is_bare(at, end) else None
            if carried is None:
                yield start, end, self.paths[at]

    def _is_bare(self, at: int, end: int) -> bool:
        """Whether section ``at`` is nothing but a heading above a deeper one."""
        if (
            not 0 < at < len(self.headings)
            or self.headings[at].level <= self.headings[at - 1].level
        ):
            return False
        return not self.content[self._offset(self.headings[at - 1].line + 1) : end].strip()

    def _pack(self, start: int, end: int) -> Iterator[_Span]:
        """Yield the chunks of a section: pieces as long as they fit, then an overlap."""
        begin, weight, fresh = start, 0, start
        for first, last, piece in self._pieces(start, end):
            if first > begin and not self._fits(weight + piece, last - begin, self.size):
                yield from self._trimmed(begin, fresh, first)
                begin, fresh = self._overlap_start(begin, first, last, self.size - piece), first
                weight = quarter_tokens(self.content[begin:first])
            weight += piece
        yield from self._trimmed(begin, fresh, end)

    def _fits(self, weight: int, chars: int, room: int) -> bool:
        return weight <= room and chars <= _CHARS_PER_QUARTER * self.size

    def _trimmed(self, begin: int, fresh: int, end: int) -> Iterator[_Span]:
        """Yield the span without blank edges, unless all that is new in it is blank."""
        end = fresh + len(self.content[fresh:end].rstrip())
        if end == fresh:
            return
        text = self.content[begin:end]
        first = end - len(text.lstrip())
        line = self.starts[self.line_at(first) - 1]
        yield max(begin, line), end  # the first line keeps its indentation

    def _overlap_start(self, begin: int, end: int, next_end: int, room: int) -> int:
        """Return where the chunk after ``content[begin:end]`` starts: before ``end``, if it may."""
        left = min(self.overlap, room)
        lowest = max(
            begin + 1,
            end - _CHARS_PER_QUARTER * left,
            next_end - _CHARS_PER_QUARTER * self.size,
        )
        at = end
        while at > lowest and WEIGHTS[self.content[at - 1]] <= left:
            at -= 1
            left -= WEIGHTS[self.content[at]]
        while at < end and not WEIGHTS[self.content[at]]:
            at += 1  # a combining mark stays with its letter
        return self._natural_start(at, end)

    def _natural_start(self, at: int, end: int) -> int:
        """Move a start to that of a line, sentence or word, giving up at most half."""
        half = (at + end) // 2
        if at == end or self.content[at - 1] in "\r\n":
            return at
        for boundary in (_LINE_END, _SENTENCE, _WORD_GAP):
            found = boundary.search(self.content, at, half)
            if found:
                return found.end()
        return at

    def _pieces(self, start: int, end: int) -> Iterator[_Piece]:
        """Yield what a section is packed from: whole blocks, or what too long ones are cut to."""
        lead = 0  # a heading wants some of its text beside it
        for first, last, kind in self._blocks(start, end):
            weight = quarter_tokens(self.content[first:last])
            whole = kind in {"fence", "table"}
            room = self.size if whole or lead > self.size // 2 else self.size - lead
            if self._fits(weight, last - first, room):
                yield first, last, weight
            else:
                yield from self._finer(first, last, 0)
            lead = lead + weight if kind == "heading" else 0

    def _blocks(self, start: int, end: int) -> Iterator[tuple[int, int, str]]:
        """Yield headings, paragraphs, fences and tables, each with the blank lines after it."""
        begin, block, gap = start, ("", 0), False
        for at in range(self.line_at(start) - 1, bisect_left(self.starts, end)):
            key = self._block_key(at)
            if not key[0]:
                gap = True
                continue
            if block[0] and (gap or key != block):
                yield begin, self.starts[at], block[0]
                begin = self.starts[at]
            block, gap = key, False
        if begin < end:
            yield begin, end, block[0]

    def _block_key(self, at: int) -> tuple[str, int]:
        """Return kind and number of the block that line ``at`` (0-based) belongs to."""
        if self.fences[at]:
            return "fence", self.fences[at]
        line = self.lines[at].lstrip()
        if not line:
            return "", 0
        if at + 1 in self.is_heading:
            return "heading", at
        return ("table" if line.startswith("|") else "text"), 0

    def _finer(self, start: int, end: int, level: int) -> Iterator[_Piece]:
        """Cut a span that is too long into lines, those into sentences, those anywhere."""
        if level == 0:
            cuts = self.starts[bisect_right(self.starts, start) : bisect_left(self.starts, end)]
        else:
            cuts = [found.end() for found in _SENTENCE.finditer(self.content, start, end)]
        for first, last in pairwise([start, *cuts, end]):
            weight = quarter_tokens(self.content[first:last])
            if self._fits(weight, last - first, self.step):
                yield first, last, weight
            elif level == 0:
                yield from self._finer(first, last, 1)
            else:
                yield from self._cut_anywhere(first, last)

    def _cut_anywhere(self, start: int, end: int) -> Iterator[_Piece]:
        """Cut a span at the last word gap that leaves room for an overlap, or inside a word."""
        while start < end:
            left, at = self.step, start
            limit = min(end, start + _CHARS_PER_QUARTER * self.step)
            while at < limit and WEIGHTS[self.content[at]] <= left:
                left -= WEIGHTS[self.content[at]]
                at += 1
            if at < end:
                at = self._word_start(start, at)
            yield start, at, quarter_tokens(self.content[start:at])
            start = at

    def _word_start(self, start: int, at: int) -> int:
        """Return the start of the word that a cut at ``at`` would break, unless it is too far."""
        if self.content[at].isspace() or self.content[at - 1].isspace():
            return at
        tail = len(self.content[start:at].rsplit(maxsplit=1)[-1])
        return at - tail if tail <= (at - start) // 2 else at


def _paths(headings: Iterable[Heading]) -> list[str]:
    """Return the path before any heading (empty), then the one at each heading."""
    paths = [""]
    above: list[Heading] = []
    for heading in headings:
        while above and above[-1].level >= heading.level:
            above.pop()
        above.append(heading)
        paths.append(HEADING_JOINER.join(one.title for one in above))
    return paths
