"""Pictures of a piece of the graph: SVG, and a page that needs nothing but itself."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from langchain_memengine.graph.layout import force_layout
from langchain_memengine.storage.graph_values import Entity, Relation, Subgraph

Place = tuple[float, float]

_SPACING = 150  # pixels that one entity has to itself, each way, about
_MARGIN = 90
_RADIUS = 9
_LABEL_CHARS = 28
_HOVER_CHARS = 200
_COLOURS = ("#3b6ea5", "#b5562f", "#4a8a4f", "#8a5a9e", "#a58a2b", "#3a8c8c", "#a34b6b", "#6b6b6b")
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#222}"
    ".label{font-size:10px;fill:#555}"
    "text{paint-order:stroke;stroke:#fff;stroke-width:3px}"
    ".relation path{stroke:#999;stroke-width:1.4;fill:none}"
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
    side = _SPACING * max(1.0, math.sqrt(len(entities)) * 1.3)
    places = [
        (_MARGIN + x * side, _MARGIN + y * side)
        for x, y in force_layout(len(entities), edges).tolist()
    ]
    width, height = (
        round(max((place[axis] for place in places), default=_MARGIN) + _MARGIN) for axis in (0, 1)
    )
    types = sorted({entity.type for entity in entities})
    colours = {kind: _COLOURS[place % len(_COLOURS)] for place, kind in enumerate(types)}
    drawn: Counter[tuple[int, int]] = Counter()
    parts = []
    for relation, (one, other) in zip(subgraph.relations, edges, strict=True):
        pair = (min(one, other), max(one, other))
        parts.append(_edge(relation, places[one], places[other], drawn[pair], memories))
        drawn[pair] += 1
    sides = _label_sides(places, edges)
    parts += [
        _node(entity, place, side, colours[entity.type], is_asked=subgraph.hops.get(entity.id) == 0)
        for entity, place, side in zip(entities, places, sides, strict=True)
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img"><style>{_STYLE}</style>'
        '<rect width="100%" height="100%" fill="#fff"/>'  # also where a notebook is dark
        '<defs><marker id="to" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" fill="#999" stroke="none"/>'
        f"</marker></defs>{''.join(parts)}</svg>"
    )


def _label_sides(places: Sequence[Place], edges: Iterable[tuple[int, int]]) -> list[int]:
    """Return where each name stands, 1 below and -1 above: where fewer relations arrive."""
    pull = [0.0] * len(places)
    for one, other in edges:
        down = places[other][1] - places[one][1]
        length = math.dist(places[one], places[other]) or 1.0
        pull[one] += down / length
        pull[other] -= down / length
    return [-1 if one > 0 else 1 for one in pull]


def _edge(
    relation: Relation,
    start: Place,
    end: Place,
    earlier: int,
    memories: Mapping[str, str],
) -> str:
    """Draw a relation; several between the same two bend away from each other."""
    told = [memories.get(one, one)[:_HOVER_CHARS] for one in relation.evidence]
    title = _text("\n".join([str(relation), *told]))
    (x1, y1), (x2, y2) = start, end
    length = math.hypot(x2 - x1, y2 - y1)
    if length < 1:
        line = f'<path d="M{x1:.0f} {y1:.0f}c-40 -60 40 -60 0 0"/>'
        return _group(title, line, x1, y1 - 48, relation.type)
    dx, dy = (x2 - x1) / length, (y2 - y1) / length
    bend = 44 * ((earlier + 1) // 2) * (1 if earlier % 2 else -1) if earlier else 0
    if (x1, y1) > (x2, y2):
        bend = -bend  # the same side, whichever way the relation leads
    half_x, half_y = (x1 + x2) / 2, (y1 + y2) / 2
    mid_x, mid_y = half_x - dy * bend, half_y + dx * bend
    x2, y2 = x2 - dx * (_RADIUS + 2), y2 - dy * (_RADIUS + 2)
    line = (
        f'<path d="M{x1:.0f} {y1:.0f}Q{mid_x:.0f} {mid_y:.0f} {x2:.0f} {y2:.0f}" '
        'marker-end="url(#to)"/>'
    )
    # The curve passes half-way between the line and the point that bends it.
    y = (half_y + mid_y) / 2 - 3 + 13 * ((earlier + 1) // 2) * (1 if earlier % 2 else -1)
    return _group(title, line, (half_x + mid_x) / 2, y, relation.type)


def _group(title: str, line: str, x: float, y: float, label: str) -> str:
    return (
        f'<g class="relation"><title>{title}</title>{line}'
        f'<text class="label" x="{x:.0f}" y="{y:.0f}" text-anchor="middle">'
        f"{_short(label)}</text></g>"
    )


def _node(entity: Entity, place: Place, side: int, colour: str, *, is_asked: bool) -> str:
    x, y = place
    baseline = y + _RADIUS + 13 if side > 0 else y - _RADIUS - 5
    others = f" ({', '.join(entity.aliases)})" if entity.aliases else ""
    kind = f"\n{entity.type}" if entity.type else ""
    asked = ' class="hop0"' if is_asked else ""
    return (
        f'<g class="entity"><title>{_text(entity.name + others + kind)}</title>'
        f'<circle cx="{x:.0f}" cy="{y:.0f}" r="{_RADIUS}" fill="{colour}"{asked}/>'
        f'<text x="{x:.0f}" y="{baseline:.0f}" text-anchor="middle">'
        f"{_short(entity.name)}</text></g>"
    )


def _short(text: str) -> str:
    cut = text if len(text) <= _LABEL_CHARS else f"{text[: _LABEL_CHARS - 1]}…"
    return _text(cut)


def _text(text: str) -> str:
    """Return text for XML: escaped, and without the characters that XML cannot hold."""
    return escape(_NO_XML.sub("\ufffd", text))
