"""Pictures of a piece of the graph: SVG, and a page that needs nothing but itself."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape

from langchain_memengine.graph.labelling import (
    LABEL_SIZE,
    NAME_SIZE,
    Direction,
    Place,
    anchored,
    beside_line,
    free_sides,
    text_width,
)
from langchain_memengine.graph.layout import force_layout, side_for
from langchain_memengine.storage.graph_values import Entity, Subgraph

_WIDER = 1.3  # texts are wider than high, so places are further apart that way
_MARGIN = 20
_RADIUS = 9
_LOOP = 44  # how far a relation of an entity with itself goes out
_LABEL_CHARS = 28
_HOVER_CHARS = 200
COLOURS = ("#3b6ea5", "#b5562f", "#4a8a4f", "#8a5a9e", "#a58a2b", "#3a8c8c", "#a34b6b", "#6b6b6b")
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_STYLE = (
    f"text{{font:{NAME_SIZE}px system-ui,sans-serif;fill:#222}}"
    f".label{{font-size:{LABEL_SIZE}px;fill:#555}}"
    "text{paint-order:stroke;stroke:#fff;stroke-width:3px}"
    ".relation path{stroke:#8a8a8a;stroke-width:1.4;fill:none}"
    ".hop0{stroke:#222;stroke-width:3px}"
    ".relation:hover path{stroke:#d33;stroke-width:2.5}.relation:hover .label{fill:#d33}"
)
# Wheel to zoom, drag to move.
_SCRIPT = """\
const svg=document.querySelector('svg'),box=svg.viewBox.baseVal;
svg.addEventListener('wheel',e=>{e.preventDefault();
const k=e.deltaY<0?0.9:1/0.9,r=svg.getBoundingClientRect();
const x=box.x+box.width*(e.clientX-r.left)/r.width,y=box.y+box.height*(e.clientY-r.top)/r.height;
box.x=x-(x-box.x)*k;box.y=y-(y-box.y)*k;box.width*=k;box.height*=k;},{passive:false});
svg.addEventListener('pointermove',e=>{if(e.buttons!==1)return;
const r=svg.getBoundingClientRect();
box.x-=e.movementX*box.width/r.width;box.y-=e.movementY*box.height/r.height;});
"""


@dataclass(frozen=True, slots=True)
class GraphPicture:
    """A drawn piece of the graph; a notebook shows it as it is.

    Attributes:
        subgraph: What is drawn.
        memories: Texts of the evidence by its id, for the hover; ids stand for missing ones.
    """

    subgraph: Subgraph
    memories: Mapping[str, str] = field(default_factory=dict)

    @property
    def svg(self) -> str:
        """The picture as SVG."""
        return _svg(self.subgraph, self.memories)

    @property
    def html(self) -> str:
        """The picture as a page: wheel to zoom, drag to move; nothing is loaded."""
        names = ", ".join(
            one.name for one in self.subgraph.entities if self.subgraph.hops.get(one.id) == 0
        )
        return (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">'
            '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
            "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">"
            f"<title>{_text(names)}</title>"
            "<style>html,body{margin:0;height:100%}svg{display:block;width:100%;height:100%;cursor:grab}</style>"
            f"</head><body>{self.svg}<script>{_SCRIPT}</script></body></html>\n"
        )

    def _repr_svg_(self) -> str:
        return self.svg


def _svg(subgraph: Subgraph, memories: Mapping[str, str]) -> str:
    entities = subgraph.entities
    number = {entity.id: place for place, entity in enumerate(entities)}
    edges = [(number[one.source.id], number[one.target.id]) for one in subgraph.relations]
    unit = force_layout(len(entities), edges)
    side = side_for(unit, edges)
    margin = _MARGIN + _overhang(subgraph)
    top = _MARGIN + _LOOP
    places = [(margin + x * _WIDER * side, top + y * side) for x, y in unit.tolist()]
    width = round(max((x for x, _ in places), default=margin) + margin)
    height = round(max((y for _, y in places), default=top) + top)
    types = sorted({entity.type for entity in entities})
    colours = {kind: COLOURS[place % len(COLOURS)] for place, kind in enumerate(types)}
    sides = free_sides(places, edges)
    drawn: Counter[tuple[int, int]] = Counter()
    parts = []
    for relation, (one, other) in zip(subgraph.relations, edges, strict=True):
        pair = (min(one, other), max(one, other))
        told = [memories.get(key, key)[:_HOVER_CHARS] for key in relation.evidence]
        title = _text("\n".join([str(relation), *told]))
        drawing = (
            _loop(places[one], sides[one][1], drawn[pair], relation.type)
            if one == other
            else _edge(places[one], places[other], drawn[pair], relation.type)
        )
        parts.append(f'<g class="relation"><title>{title}</title>{drawing}</g>')
        drawn[pair] += 1
    parts += [
        _node(
            entity, place, free[0], colours[entity.type], is_asked=subgraph.hops.get(entity.id) == 0
        )
        for entity, place, free in zip(entities, places, sides, strict=True)
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img"><style>{_STYLE}</style>'
        '<rect width="100%" height="100%" fill="#fff"/>'  # also where a notebook is dark
        '<defs><marker id="to" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" fill="#8a8a8a" stroke="none"/>'
        f"</marker></defs>{''.join(parts)}</svg>"
    )


def _overhang(subgraph: Subgraph) -> float:
    """Return how far a text may reach out to the side of the outermost entities."""
    names = [text_width(_cut(one.name), NAME_SIZE) for one in subgraph.entities]
    loops = [
        _LOOP + text_width(_cut(one.type), LABEL_SIZE)
        for one in subgraph.relations
        if one.source.id == one.target.id
    ]
    return max([*names, *loops], default=0.0)


def _edge(start: Place, end: Place, earlier: int, label: str) -> str:
    """Draw a relation; several between the same two bend away from each other."""
    (x1, y1), (x2, y2) = start, end
    length = math.dist(start, end) or 1.0
    dx, dy = (x2 - x1) / length, (y2 - y1) / length
    step = (earlier + 1) // 2 * (1 if earlier % 2 else -1)
    bend = 44 * (-step if start > end else step)  # the same side, whichever way it leads
    half_x, half_y = (x1 + x2) / 2, (y1 + y2) / 2
    mid_x, mid_y = half_x - dy * bend, half_y + dx * bend
    x2, y2 = x2 - dx * (_RADIUS + 2), y2 - dy * (_RADIUS + 2)
    line = (
        f'<path d="M{x1:.0f} {y1:.0f}Q{mid_x:.0f} {mid_y:.0f} {x2:.0f} {y2:.0f}" '
        'marker-end="url(#to)"/>'
    )
    seen = (x1 + dx * _RADIUS, y1 + dy * _RADIUS)
    off_x, off_y = beside_line(seen, (x2, y2), text_width(_cut(label), LABEL_SIZE))
    # The curve passes half-way between the line and the point that bends it.
    x, y = (half_x + mid_x) / 2 + off_x, (half_y + mid_y) / 2 + off_y + LABEL_SIZE / 3
    return f"{line}{_label((x, y + 13 * step, 'middle'), label)}"


def _loop(place: Place, side: Direction, earlier: int, label: str) -> str:
    """Draw a relation of an entity with itself, on a side where there is room."""
    (x, y), (right, down) = place, side
    out_x, out_y, wide_x, wide_y = right * 60, down * 60, down * 40, right * 40
    line = (
        f'<path d="M{x:.0f} {y:.0f}c{out_x - wide_x} {out_y - wide_y} '
        f'{out_x + wide_x} {out_y + wide_y} 0 0"/>'
    )
    away = _LOOP + 4 + (13 * earlier if down else 0)
    x, y, anchor = anchored(place, side, away, LABEL_SIZE)
    return f"{line}{_label((x, y + (0 if down else 13 * earlier), anchor), label)}"


def _label(where: tuple[float, float, str], text: str, kind: str = ' class="label"') -> str:
    x, y, anchor = where
    return f'<text{kind} x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{_text(_cut(text))}</text>'


def _node(entity: Entity, place: Place, side: Direction, colour: str, *, is_asked: bool) -> str:
    x, y = place
    others = f" ({', '.join(entity.aliases)})" if entity.aliases else ""
    kind = f"\n{entity.type}" if entity.type else ""
    asked = ' class="hop0"' if is_asked else ""
    name = _label(anchored(place, side, _RADIUS + 5, NAME_SIZE), entity.name, "")
    return (
        f'<g class="entity"><title>{_text(entity.name + others + kind)}</title>'
        f'<circle cx="{x:.0f}" cy="{y:.0f}" r="{_RADIUS}" fill="{colour}"{asked}/>{name}</g>'
    )


def _cut(text: str) -> str:
    return text if len(text) <= _LABEL_CHARS else f"{text[: _LABEL_CHARS - 1]}…"


def _text(text: str) -> str:
    """Return text for XML: escaped, and without the characters that XML cannot hold."""
    return escape(_NO_XML.sub("\ufffd", text))
