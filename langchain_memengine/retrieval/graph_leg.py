"""The graph leg of a search: memories that the query's entities lead to.

What is around the query is read from the graph: its entities, those of the memories that the other
legs found best, and what these have to do with others. A walk over it, see ``graph_walk``, says how
well each memory there is connected with all of that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from langchain_memengine.errors import EmbeddingError, StorageError
from langchain_memengine.retrieval.fusion import Candidates
from langchain_memengine.retrieval.graph_walk import Neighbourhood, concentration, visits
from langchain_memengine.retrieval.name_index import NameIndex
from langchain_memengine.storage import chunk_ids, graph_entities, graph_reading
from langchain_memengine.storage.graph_statements import RelationRow
from langchain_memengine.storage.lazy_database import LazyDatabase
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.text.names import keys_in, phrases_in

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = Callable[[str], list[str]]

SEED_CHUNKS = 10
"""Best memories of the other legs that the walk starts from."""

MAX_PHRASES = 8
"""Phrases of a query that no entity is called by and that are compared with names."""

MAX_FRONTIER = 50
"""Entities that a hop after the first goes on from: those that most relations led to."""

MAX_RELATIONS = 2_000
"""Relations that one hop reads, at most."""

_REMEMBERED = 16_384  # names and types of relations whose words are remembered


@dataclass(frozen=True, slots=True)
class GraphQuery:
    """What the leg looks for.

    Attributes:
        text: The query.
        hops: Relations to follow from an entity.
        partitions: What the actor may read.
        now: Only relations that hold now count.
        named: Ids of the entities that the text names.
        texts: How many texts the actor may find.
        hidden: Numbers of chunks that cannot be seen: what they tell is not walked over.
    """

    text: str
    hops: int
    partitions: tuple[str, ...]
    now: datetime
    named: tuple[str, ...]
    texts: int
    hidden: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class LedTo:
    """Where the graph leads.

    Attributes:
        scores: Above 0 up to 1 by chunk number.
        trust: How much they say, 0 to 1.
    """

    scores: dict[int, float] = field(default_factory=dict)
    trust: float = 0.0


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
        self._words_of = lru_cache(_REMEMBERED)(lambda text: frozenset(words(text)))
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
                called = graph_entities.ids_called(tx, keys, partitions=partitions)
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
                visible = graph_entities.ids_called(tx, near, partitions=partitions)
                key = next((key for key in near if key in visible), None)
                if key is not None:
                    found[key] = visible[key]
        return found

    def scores(self, state: Transaction, query: GraphQuery, best: Mapping[int, float]) -> LedTo:
        """Return the memories that the walk visits, and how much that says.

        Args:
            state: A view of the state database.
            query: What to look for.
            best: Score of the best memories of the other legs by chunk number.

        Raises:
            StorageError: The graph's database failed.
        """
        if not self._store.is_there:
            return LedTo()
        known = dict(sorted(best.items(), key=lambda pair: -pair[1])[:SEED_CHUNKS])
        by_id = {chunk_id: known[num] for num, chunk_id in chunk_ids.ids_of(state, known).items()}
        with self._store.get().read() as tx:
            found = self._neighbourhood(tx, state, query, list(by_id))
        if not found.mentions:
            return LedTo()
        references = sorted({evidence for _, evidence in found.mentions})
        pairs = [
            (reference, num)
            for reference, num in chunk_ids.nums_of(state, references, partitions=query.partitions)
            if num not in query.hidden
        ]
        matched = {
            reference: max(best.get(num, 0.0), by_id.get(reference, 0.0))
            for reference, num in pairs
        }
        often = visits(found, matched, by_id, query.named, query.text, self._words_of)
        scores = {num: often[reference] for reference, num in pairs if often[reference] > 0}
        highest = max(scores.values(), default=1.0)
        # Visits fall off so steeply that the third memory would hardly count.
        fair = {num: sqrt(score / highest) for num, score in scores.items()}
        return LedTo(fair, concentration(scores.values(), query.texts))

    def _neighbourhood(
        self, tx: Transaction, state: Transaction, query: GraphQuery, evidence: Sequence[str]
    ) -> Neighbourhood:
        partitions = query.partitions
        told = graph_entities.named_by(tx, evidence, partitions=partitions)
        starts = list(dict.fromkeys([*query.named, *told]))
        rows = self._rows(tx, state, query, starts)
        entities = dict.fromkeys([*starts, *(end for row in rows for end in row.ends)])
        mentions = graph_entities.mentions(tx, list(entities), partitions=partitions)
        names = {entity: key for entity, _, key in mentions}
        by_memory = dict.fromkeys((entity, one) for entity, one, _ in mentions)
        return Neighbourhood(rows, list(by_memory), names)

    def _rows(
        self, tx: Transaction, state: Transaction, query: GraphQuery, starts: Sequence[str]
    ) -> list[RelationRow]:
        """Return relations within the hops, nearest first.

        In a dense graph two relations lead to most of it: the ways on are bounded.
        """
        found: dict[str, RelationRow] = {}
        known = set(starts)
        frontier: Sequence[str] = starts
        for hop in range(query.hops):
            rows, _ = graph_reading.rows_around(
                tx,
                frontier,
                1,
                partitions=query.partitions,
                at=query.now,
                max_relations=MAX_RELATIONS,
            )
            new = [row._replace(hop=hop) for row in rows if row.id not in found]
            new = _told(tx, state, new, query)
            found.update((row.id, row) for row in new)
            reached = Counter(end for row in new for end in row.ends if end not in known)
            order = sorted(reached, key=lambda one: (-reached[one], one))
            known.update(order)
            frontier = order[:MAX_FRONTIER]
        return list(found.values())


def _told(
    tx: Transaction, state: Transaction, rows: list[RelationRow], query: GraphQuery
) -> list[RelationRow]:
    """Return the relations that a memory tells which can be seen."""
    if not query.hidden:
        return rows
    told = graph_reading.evidence_of(tx, [row.id for row in rows])
    every = sorted({one for some in told.values() for one in some})
    nums = chunk_ids.nums_of(state, every, partitions=query.partitions)
    unseen = {reference for reference, num in nums if num in query.hidden}
    return [row for row in rows if not unseen.issuperset(told[row.id])]
