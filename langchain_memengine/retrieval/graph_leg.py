"""The graph leg of a search: memories that the query's entities lead to.

A walk starts at the entities that the query names, at the relations around them that share words
with it, and at the memories that the other legs found best. It follows relations and mentions
with equal chance, prefers mentions in memories that match the query too, and goes back to a start
now and then. How often it visits a memory is that memory's score: personalised PageRank.

Source: Gutiérrez et al., "HippoRAG" (2024) and "From RAG to Memory" (2025), for walking from
query entities, matching facts and found passages alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from math import fsum, log, sqrt

import numpy as np
from numpy.typing import NDArray

from langchain_memengine.errors import EmbeddingError, StorageError
from langchain_memengine.retrieval.fusion import Candidates
from langchain_memengine.retrieval.name_index import NameIndex
from langchain_memengine.storage import chunk_ids, graph_reading
from langchain_memengine.storage.database import Transaction
from langchain_memengine.storage.graph_statements import RelationRow
from langchain_memengine.storage.lazy_database import LazyDatabase
from langchain_memengine.text.names import keys_in, phrases_in

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = Callable[[str], list[str]]

SEED_CHUNKS = 10
"""Best memories of the other legs that the walk starts from."""

MAX_PHRASES = 8
"""Phrases of a query that no entity is called by and that are compared with names."""

_REMEMBERED = 16_384  # names and types of relations whose words are remembered
_DAMPING = 0.8  # chance to go on instead of back to a start
_STEPS = 15
_NAMED, _FACTS, _CHUNKS = 2.0, 4.0, 1.0  # how often the walk starts from each kind
_SEED_FACTS = 5
_UNMATCHED = 0.1  # weight of a mention in a memory that the other legs did not find


@dataclass(frozen=True, slots=True)
class GraphQuery:
    """What the leg looks for.

    Attributes:
        text: The query.
        hops: Relations to follow from an entity.
        partitions: What the actor may read.
        now: Only relations that hold now count.
        named: Ids of the entities that the text names.
    """

    text: str
    hops: int
    partitions: tuple[str, ...]
    now: datetime
    named: tuple[str, ...]


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


def nearness(
    found: Candidates, order: Ints, fused: Floats, chance_cosine: float
) -> dict[int, float]:
    """Return how near to the query the candidates are, 0 to 1, by chunk number.

    Their cosines say that, as far as they exceed chance; without any, what they were ranked by.
    """
    beyond = np.fmax(found.cosine[order] - chance_cosine, 0.0)  # fmax prefers a number to NaN
    near = fused[order] if np.isnan(found.cosine[order]).all() else beyond
    highest = max(float(near.max(initial=0.0)), 1e-12)
    return dict(zip(found.nums[order].tolist(), (near / highest).tolist(), strict=True))


class GraphLeg:
    """Finds memories by way of the graph.

    Args:
        store: The graph's database; without one nothing is found.
        words: Splits names and queries into words.
        names: Finds names that are spelt otherwise.
    """

    def __init__(self, store: LazyDatabase, words: Words, names: NameIndex) -> None:
        self._store = store
        self._words = words
        self._words_of = lru_cache(_REMEMBERED)(lambda name: frozenset(words(name)))
        self._names = names

    def named(
        self, text: str, partitions: Sequence[str], *, by_vector: bool
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the ids of the entities that a query names, and what went wrong.

        Args:
            text: The query.
            partitions: What the actor may read.
            by_vector: Also ask the embedder for names that are spelt otherwise.
        """
        if not self._store.is_there:
            return (), ()
        keys = [key for key in keys_in(text) if self._words(key)]
        called: dict[str, list[str]] = {}
        problems: tuple[str, ...] = ()
        try:
            with self._store.get().read() as tx:
                called = graph_reading.ids_called(tx, keys, partitions=partitions)
            if by_vector:
                called |= self._spelt_otherwise(text, called, partitions)
        except (StorageError, EmbeddingError) as error:
            problems = (f"graph: {error}",)
        return tuple(dict.fromkeys(one for ids in called.values() for one in ids)), problems

    def _spelt_otherwise(
        self, text: str, called: Mapping[str, Sequence[str]], partitions: Sequence[str]
    ) -> dict[str, list[str]]:
        """Return the entities of the names that are nearest to phrases that name nobody."""
        asked = set(self._words(text))
        phrases = phrases_in(text, lambda word: not asked.isdisjoint(self._words(word)))
        unknown = [phrase for phrase in phrases if phrase not in called][:MAX_PHRASES]
        if not unknown:
            return {}
        vectors = self._names.embed(unknown)
        found: dict[str, list[str]] = {}
        with self._store.get().read() as tx:
            for near in self._names.nearest(tx, vectors):
                visible = graph_reading.ids_called(tx, near, partitions=partitions)
                key = next((key for key in near if key in visible), None)
                if key is not None:
                    found[key] = visible[key]
        return found

    def scores(
        self, state: Transaction, query: GraphQuery, best: Mapping[int, float]
    ) -> dict[int, float]:
        """Return scores above 0 up to 1 by chunk number.

        Args:
            state: A view of the state database.
            query: What to look for.
            best: Score of the best memories of the other legs by chunk number.

        Raises:
            StorageError: The graph's database failed.
        """
        if not self._store.is_there:
            return {}
        known = dict(sorted(best.items(), key=lambda pair: -pair[1])[:SEED_CHUNKS])
        by_id = {chunk_id: known[num] for num, chunk_id in chunk_ids.ids_of(state, known).items()}
        with self._store.get().read() as tx:
            found = self._neighbourhood(tx, query, list(by_id))
        if not found.mentions:
            return {}
        references = sorted({evidence for _, evidence in found.mentions})
        pairs = chunk_ids.nums_of(state, references, partitions=query.partitions)
        matched = {
            reference: max(best.get(num, 0.0), by_id.get(reference, 0.0))
            for reference, num in pairs
        }
        visits = self._visits(found, matched, by_id, query)
        scores = {num: visits[reference] for reference, num in pairs if visits[reference] > 0}
        highest = max(scores.values(), default=1.0)
        return {num: score / highest for num, score in scores.items()}

    def _neighbourhood(
        self, tx: Transaction, query: GraphQuery, evidence: Sequence[str]
    ) -> Neighbourhood:
        partitions = query.partitions
        told = graph_reading.named_by(tx, evidence, partitions=partitions)
        starts = list(dict.fromkeys([*query.named, *told]))
        rows, _ = graph_reading.rows_around(
            tx, starts, query.hops, partitions=partitions, at=query.now
        )
        entities = dict.fromkeys([*starts, *(end for row in rows for end in row.ends)])
        mentions = graph_reading.mentions(tx, list(entities), partitions=partitions)
        names = {entity: key for entity, _, key in mentions}
        by_memory = dict.fromkeys((entity, one) for entity, one, _ in mentions)
        return Neighbourhood(rows, list(by_memory), names)

    def _visits(
        self,
        found: Neighbourhood,
        matched: Mapping[str, float],
        best: Mapping[str, float],
        query: GraphQuery,
    ) -> dict[str, float]:
        """Return how often the walk visits each memory, by its id."""
        nodes = {one: place for place, one in enumerate({**found.names, **matched})}
        mentions = [(one, memory) for one, memory in found.mentions if memory in matched]
        names = found.names
        relations = [row for row in found.rows if row.source in names and row.target in names]
        tails = [row.source for row in relations] + [entity for entity, _ in mentions]
        heads = [row.target for row in relations] + [memory for _, memory in mentions]
        weights = [1.0] * len(relations)
        weights += [_UNMATCHED + matched[memory] for _, memory in mentions]
        frequency = Counter(one for one, _ in mentions)
        facts = self._matching_facts(relations, names, query.text)
        starts = np.zeros(len(nodes))
        for share, chances in (
            (_NAMED, dict.fromkeys(query.named, 1.0)),
            (_FACTS, facts),
            (_CHUNKS, {memory: score**2 for memory, score in best.items() if memory in matched}),
        ):
            _start(starts, nodes, share, chances, frequency)
        ends = np.array([[nodes[one] for one in side] for side in (tails, heads)], np.int64)
        visits = walk(ends.T, np.asarray(weights), starts)
        return {memory: float(visits[nodes[memory]]) for memory in matched}

    def _matching_facts(
        self, relations: Sequence[RelationRow], names: Mapping[str, str], text: str
    ) -> dict[str, float]:
        """Return the ends of those nearest relations that share the rarest words with a query."""
        asked = set(self._words(text))
        nearest = [row for row in relations if row.hop == 0]
        entity_words = {
            end: asked & self._words_of(names[end]) for row in nearest for end in row.ends
        }
        type_words = {kind: asked & self._words_of(kind) for kind in {r.type for r in nearest}}
        shared = [
            entity_words[row.source] | type_words[row.type] | entity_words[row.target]
            for row in nearest
        ]
        frequency = Counter(word for words in shared for word in words)
        # Exact sums: sets have another order in every process.
        worth = {word: log(1 + len(shared) / count) for word, count in frequency.items()}
        scored = [
            (fsum(worth[word] for word in words), row)
            for words, row in zip(shared, nearest, strict=True)
        ]
        scored.sort(key=lambda pair: (-pair[0], pair[1].id))
        ends: dict[str, float] = {}
        for score, row in scored[:_SEED_FACTS]:
            for end in row.ends:
                ends[end] = ends.get(end, 0.0) + score
        return ends


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
    visits: Floats = starts / total
    for _ in range(_STEPS):
        moved = np.bincount(heads, chance * visits[tails], minlength=len(starts))
        visits = _DAMPING * moved + (1 - _DAMPING) * starts / total
    return visits


def _start(
    starts: Floats,
    nodes: Mapping[str, int],
    share: float,
    chances: Mapping[str, float],
    frequency: Mapping[str, int],
) -> None:
    """Spread a share of the starts; what half the memories mention says less than what few do."""
    known = {
        one: chance / sqrt(frequency.get(one, 1))
        for one, chance in chances.items()
        if one in nodes and chance > 0
    }
    total = sum(known.values())
    for one, chance in known.items():
        starts[nodes[one]] += share * chance / total
