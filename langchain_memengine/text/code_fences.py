"""Fenced code in Markdown: which lines are in a block, and what would close one."""

from __future__ import annotations

import re
from collections.abc import Sequence

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")


def fences(lines: Sequence[str], first_line: int = 1) -> list[int]:
    """Return for each line the number of the fenced code block it belongs to, 0 for none.

    The fences themselves belong to their block. A block never closed reaches to the end. Lines
    before ``first_line`` (front matter) belong to none.
    """
    return _fenced(lines, first_line)[0]


def closing_fence(lines: Sequence[str]) -> str:
    """Return what closes the block that lines leave open; ``""`` if they leave none open."""
    return _fenced(lines, 1)[1]


def _fenced(lines: Sequence[str], first_line: int) -> tuple[list[int], str]:
    """Return the number of each line's block, and what would close the last one."""
    marks = [0] * (first_line - 1)
    count = 0
    closing = ""
    for line in lines[first_line - 1 :]:
        found = _FENCE.match(line)
        fence = found[1] if found else ""
        if closing:
            marks.append(count)
            if fence.startswith(closing) and line.strip() == fence:
                closing = ""
        elif fence and not (fence[0] == "`" and "`" in line[line.index(fence) + len(fence) :]):
            count += 1
            closing = fence
            marks.append(count)
        else:
            marks.append(0)
    return marks, closing
