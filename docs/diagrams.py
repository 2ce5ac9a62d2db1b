"""Draw the diagrams of the concept pages: boxes in rows, and arrows between them, as SVG.

A diagram is written as text, a row of boxes a line and an arrow a line::

    Markdown file | added text
    chunks
    Markdown file > chunks: cut
    added text > chunks

Pictures of ours, rather than a script that draws in the reader's browser, because such scripts come
from somebody's server.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from itertools import pairwise

WIDTH = 760
BOX_HEIGHT, ROW_HEIGHT, MARGIN = 38, 96, 24
GAP, LETTER, PADDING = 16, 7.4, 24
PAPER = "#fbfdfd"

STYLE = """\
text { font: 14px system-ui, sans-serif; fill: #1b2b2a; text-anchor: middle; }
.note { font-size: 12px; fill: #4a5d5b; }
rect.box { fill: #e0f2f0; stroke: #00796b; }
path { stroke: #4a5d5b; stroke-width: 1.4; fill: none; marker-end: url(#tip); }"""

TIP = """\
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" \
orient="auto"><path d="M0 0 8 4 0 8z" style="fill:#4a5d5b;stroke:none;marker-end:none"/>\
</marker></defs>"""


@dataclass(frozen=True, slots=True)
class Box:
    """A box, by its middle."""

    x: float
    y: float
    width: float

    def edge_towards(self, other: Box) -> tuple[float, float]:
        """Return the point of the edge where an arrow to or from another box begins."""
        if other.y != self.y:
            return self.x, self.y + (BOX_HEIGHT / 2 if other.y > self.y else -BOX_HEIGHT / 2)
        return self.x + (self.width / 2 if other.x > self.x else -self.width / 2), self.y


def draw(description: str) -> str:
    """Return the SVG of a diagram.

    Raises:
        ValueError: A row is wider than the picture, or an arrow names no box.
    """
    lines = [line.strip() for line in description.strip().splitlines()]
    rows = [[name.strip() for name in line.split("|")] for line in lines if " > " not in line]
    boxes = _place(rows)
    height = (len(rows) - 1) * ROW_HEIGHT + BOX_HEIGHT + 2 * MARGIN
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}">',
            f"<style>\n{STYLE}\n</style>",
            TIP,
            f'<rect width="{WIDTH}" height="{height}" rx="10" fill="{PAPER}"/>',
            *(_arrow(line, boxes) for line in lines if " > " in line),
            *(_box(name, box) for name, box in boxes.items()),
            "</svg>\n",
        ]
    )


def _place(rows: list[list[str]]) -> dict[str, Box]:
    boxes = {}
    for number, names in enumerate(rows):
        widths = [len(name) * LETTER + PADDING for name in names]
        free = WIDTH - 2 * MARGIN - sum(widths)
        if free < GAP * (len(names) - 1):
            raise ValueError(
                f"The row {' | '.join(names)!r} is too wide. Use fewer or shorter names."
            )
        gap = free / (len(names) + 1)
        left = MARGIN + gap
        y = MARGIN + BOX_HEIGHT / 2 + number * ROW_HEIGHT
        for name, width in zip(names, widths, strict=True):
            boxes[name] = Box(left + width / 2, y, width)
            left += width + gap
    return boxes


def _arrow(line: str, boxes: dict[str, Box]) -> str:
    names, note = [name.strip() for name in line.split(" > ")], ""
    if names[-1] not in boxes:  # a name may hold a colon, too
        head, colon, tail = names[-1].rpartition(": ")
        names[-1], note = (head, tail) if colon else (tail, "")
    if unknown := [name for name in names if name not in boxes]:
        raise ValueError(f"The arrow {line!r} names {unknown[0]!r}, which is no box.")
    return "\n".join(_line(boxes[start], boxes[end], note) for start, end in pairwise(names))


def _line(start: Box, end: Box, note: str) -> str:
    (x1, y1), (x2, y2) = start.edge_towards(end), end.edge_towards(start)
    drawn = f'<path d="M{x1:.0f} {y1:.0f} {x2:.0f} {y2:.0f}"/>'
    if not note:
        return drawn
    x, y = (x1 + x2) / 2, (y1 + y2) / 2 + (4 if start.y != end.y else -6)
    width = len(note) * LETTER * 12 / 14
    return (
        f'{drawn}\n<rect x="{x - width / 2:.0f}" y="{y - 12:.0f}" width="{width:.0f}" height="16" '
        f'fill="{PAPER}"/><text class="note" x="{x:.0f}" y="{y:.0f}">{escape(note)}</text>'
    )


def _box(name: str, box: Box) -> str:
    left, top = box.x - box.width / 2, box.y - BOX_HEIGHT / 2
    return (
        f'<rect class="box" x="{left:.0f}" y="{top:.0f}" width="{box.width:.0f}" '
        f'height="{BOX_HEIGHT}" rx="6"/>'
        f'<text x="{box.x:.0f}" y="{box.y + 5:.0f}">{escape(name)}</text>'
    )
