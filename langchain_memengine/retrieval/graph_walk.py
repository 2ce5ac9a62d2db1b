"""A walk over what is around a query in the graph. Pure functions.

It starts at the entities that the query names, at the relations around them that share words with
it, and at the memories that the other legs found best. It follows relations and mentions with equal
chance, prefers mentions in memories that match the query too, and goes back to a start now and
then. How often it visits a memory says how well that is connected: personalised PageRank.

Source: Gutiérrez et al., "HippoRAG" (2024) and "From RAG to Memory" (2025), for walking from
query entities, matching facts and found passages alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, log, sqrt
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from langchain_memengine.storage.graph_statements import RelationRow

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
WordsOf = Callable[[str], frozenset[str]]

_DAMPING = 0.95  # chance to go on instead of back to a start
_STEPS = 15
_NAMED, _FACTS, _CHUNKS = 4.0, 4.0, 1.0  # how often the walk starts from each kind
_SEED_FACTS = 5
_UNMATCHED = 0.1  # weight of a mention in a memory that the other legs did not find
_NONE: frozenset[str] = frozenset()
_ELSEWHERE = 0.02  # chance of a name that is only in memories that they did not find


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """What is around a query in the graph.

    Attributes:
        rows: Relations within the hops.
        mentions: (entity, memory) of all these entities.
        names: A name of each entity.
    """

    rows: list[RelationRow]
    mentions: list[tuple[str, str]]
    names: dict[str, str]


def visits(
    found: Neighbourhood,
    matched: Mapping[str, float],
    best: Mapping[str, float],
    named: Sequence[str],
    text: str,
    words_of: WordsOf,
) -> dict[str, float]:
    """Return how often the walk visits each memory, by its id.

    Args:
        found: What is around the query.
        matched: How near to the query each memory there is, 0 to 1; others are left out.
        best: The same of those that the other legs found best.
        named: Ids of the entities that the query names.
        text: The query.
        words_of: Splits names and queries into words.
    """
    names = found.names
    nodes = {one: place for place, one in enumerate({**names, **matched})}
    # A hub is mentioned thousands of times: mentions are handled as arrays.
    mentions = [pair for pair in found.mentions if pair[1] in matched]
    who, where = (_places(nodes, map(itemgetter(side), mentions)) for side in (0, 1))
    near = np.array([matched.get(one, 0.0) for one in nodes])
    relations = [row for row in found.rows if row.source in names and row.target in names]
    tails = np.concatenate([_places(nodes, (row.source for row in relations)), who])
    heads = np.concatenate([_places(nodes, (row.target for row in relations)), where])
    weights = np.concatenate([np.ones(len(relations)), _UNMATCHED + near[where]])
    frequency = np.bincount(who, minlength=len(nodes))
    starts = np.zeros(len(nodes))
    for share, chances in (
        (_NAMED, {one: _meant(near[where[who == nodes[one]]]) for one in named if one in nodes}),
        (_FACTS, _matching_facts(relations, names, text, words_of)),
        (_CHUNKS, {memory: score**2 for memory, score in best.items() if memory in matched}),
    ):
        _start(starts, nodes, share, chances, frequency)
    often = walk(np.stack([tails, heads], axis=1), weights, starts)
    return {memory: float(often[nodes[memory]]) for memory in matched}


def walk(ends: Ints, weights: Floats, starts: Floats) -> Floats:
    """Return how often a random walk with restarts visits each node; the sum is 1 at most.

    Args:
        ends: Edges, shape (m, 2), walked either way.
        weights: Of each edge, above 0; from a node an edge is taken as its weight says.
        starts: How often the walk starts from each node; all 0 visits nothing.
    """
    total = starts.sum()
    if total <= 0:
        return np.zeros_like(starts)
    tails, heads = np.concatenate([ends, ends[:, ::-1]]).T
    both = np.concatenate([weights, weights])
    out = np.bincount(tails, both, minlength=len(starts))
    chance = both / out[tails]
    often: Floats = starts / total
    for _ in range(_STEPS):
        moved = np.bincount(heads, chance * often[tails], minlength=len(starts))
        often = _DAMPING * moved + (1 - _DAMPING) * starts / total
    return often


def concentration(often: Iterable[float], texts: int) -> float:
    """Return how much a walk says that visits memories so often, 0 to 1.

    It says nothing if it visits all texts alike: an entity of which half of them speak, like a
    person in their own conversation, leads everywhere. It says all it can if the memories that it
    visits, counted by the entropy of its visits, are at most the square root of all texts.

    Args:
        often: How often each memory is visited.
        texts: How many there are to find.
    """
    visited = [one for one in often if one > 0]
    total, most = fsum(visited), log(max(texts, 1))
    if not total or not most:
        return 0.0
    spread = -fsum(one / total * log(one / total) for one in visited)
    return min(max(2 * (1 - spread / most), 0.0), 1.0) ** 2


def _places(nodes: Mapping[str, int], ids: Iterable[str]) -> Ints:
    """Return the numbers of nodes."""
    return np.fromiter(map(nodes.__getitem__, ids), np.int64)


def _meant(near: Floats) -> float:
    """Return the chance of an entity that a query names, by how near its memories are.

    One of which the nearest memories speak is what the query is about. A word like "country" may
    be an entity, too; what is said of it elsewhere has nothing to do with the query.
    """
    return _ELSEWHERE + float(near.max(initial=0.0)) ** 2


def _matching_facts(
    relations: Sequence[RelationRow], names: Mapping[str, str], text: str, words_of: WordsOf
) -> dict[str, float]:
    """Return the ends of those nearest relations that share the rarest words with a query."""
    asked = words_of(text)
    nearest = [row for row in relations if row.hop == 0]
    ends = {end for row in nearest for end in row.ends}
    of_end = {end: common for end in ends if (common := asked & words_of(names[end]))}
    of_type = {kind: asked & words_of(kind) for kind in {row.type for row in nearest}}
    shared = [
        (of_end.get(row.source, _NONE) | of_type[row.type] | of_end.get(row.target, _NONE), row)
        for row in nearest
        if row.source in of_end or row.target in of_end or of_type[row.type]
    ]
    frequency = Counter(word for words, _ in shared for word in words)
    # Exact sums: sets have another order in every process.
    worth = {word: log(1 + len(nearest) / count) for word, count in frequency.items()}
    scored = [(fsum(worth[word] for word in words), row) for words, row in shared]
    scored.sort(key=lambda pair: (-pair[0], pair[1].id))
    chances: dict[str, float] = {}
    for score, row in scored[:_SEED_FACTS]:
        for end in row.ends:
            chances[end] = chances.get(end, 0.0) + score
    return chances


def _start(
    starts: Floats,
    nodes: Mapping[str, int],
    share: float,
    chances: Mapping[str, float],
    frequency: Ints,
) -> None:
    """Spread a share of the starts; what half the memories mention says less than what few do."""
    known = {
        one: chance / sqrt(max(int(frequency[nodes[one]]), 1))
        for one, chance in chances.items()
        if one in nodes and chance > 0
    }
    total = sum(known.values())
    for one, chance in known.items():
        starts[nodes[one]] += share * chance / total
