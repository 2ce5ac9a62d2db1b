"""The graph of one store, as far as an actor may see it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from langchain_memengine.answers import (
    as_json,
)
from langchain_memengine.errors import NotFoundError
from langchain_memengine.graph.learning import GraphLearning
from langchain_memengine.graph.paths import along, shortest_paths
from langchain_memengine.retrieval import documents
from langchain_memengine.retrieval.standing import told_until
from langchain_memengine.storage import chunk_ids, graph, graph_entities, graph_reading
from langchain_memengine.storage.graph_values import Entity, GraphCounts, Relation, Subgraph
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.text.names import entity_key
from langchain_memengine.text.sanitize import as_utc, clean_text
from langchain_memengine.types import (
    Actor,
)

if TYPE_CHECKING:
    from langchain_memengine.graph.picture import GraphPicture

_SIMILAR = 3


class KnowledgeGraph(GraphLearning):
    """Entities and relations, each with the memories that are its evidence.

    The graph follows the memory: what a memory told goes with it, unless another one tells the
    same. While it is quarantined it tells nothing, and what a fact told ends when another one
    contradicts it. Every question is answered from what its actor may read.
    """

    def find_entities(
        self, name: str, *, limit: int = 10, actor: Actor | None = None
    ) -> list[Entity]:
        """Return entities with a name or an alias that contains this text, equal names first.

        If there is none, those whose names mean nearly the same to the engine's embedder, if it
        has one; a new name is known to it when the job ``graph_sync`` was done.

        Raises:
            EmbeddingError: The embedder failed.
        """
        readable, wanted = self._readable(actor), clean_text(name)
        database, key, aside = self._synced(), entity_key(wanted), self._silenced()
        with database.read() as tx:
            found = graph_entities.search_names(
                tx, wanted, partitions=readable, limit=limit, aside=aside
            )
        if found or not key or not self._names.enabled:
            return found
        vector = self._names.embed([key])
        with database.read() as tx:
            (near,) = self._names.nearest(tx, vector)
            called = graph_entities.ids_called(tx, near, partitions=readable, aside=aside)
            ids = list(dict.fromkeys(one for key in near for one in called.get(key, ())))[:limit]
            known = graph_entities.entities(tx, ids, partitions=readable, aside=aside)
        return [known[one] for one in ids]

    def neighbours(
        self,
        name: str,
        hops: int = 1,
        *,
        as_of: datetime | None = None,
        actor: Actor | None = None,
    ) -> Subgraph:
        """Return what is related to an entity, see :meth:`subgraph`."""
        return self.subgraph([name], hops, as_of=as_of, actor=actor)

    def subgraph(
        self,
        names: Sequence[str],
        hops: int = 2,
        *,
        as_of: datetime | None = None,
        actor: Actor | None = None,
    ) -> Subgraph:
        """Return everything within some relations of entities, in either direction.

        Args:
            names: Names or aliases, in any case; a name of several entities means all of them.
            hops: Relations to follow one after the other, at most 6.
            as_of: Only relations that held then; default: those that hold now.
            actor: Who asks.

        Raises:
            NotFoundError: No entity is called so, as far as the actor may know.
        """
        documents.require_list("names", names)
        readable, at, aside = self._readable(actor), self._at(as_of), self._silenced()
        with self._synced().read() as tx:
            ids = [one for name in names for one in _ids(tx, name, readable, aside)]
            found = graph_reading.around(
                tx, list(dict.fromkeys(ids)), hops, partitions=readable, at=at, aside=aside
            )
        return along(found, self._standing(found.relations, aside, at), hops)

    def paths(
        self,
        source: str,
        target: str,
        *,
        max_hops: int = 4,
        max_paths: int = 10,
        as_of: datetime | None = None,
        actor: Actor | None = None,
    ) -> list[tuple[Relation, ...]]:
        """Return the shortest chains of relations between two entities; none if there is no way.

        Raises:
            NotFoundError: An entity is not there, as far as the actor may know.
        """
        readable, at, aside = self._readable(actor), self._at(as_of), self._silenced()
        database = self._synced()

        def steps(ids: Sequence[str]) -> Sequence[Relation]:
            # Whoever searches reads the state and then the graph: never the other way round.
            with database.read() as tx:
                found = graph_reading.around(tx, ids, 1, partitions=readable, at=at, aside=aside)
            return self._standing(found.relations, aside, at)

        with database.read() as tx:
            starts, goals = (_ids(tx, one, readable, aside) for one in (source, target))
        return shortest_paths(starts, goals, steps, max_hops=max_hops, max_paths=max_paths)

    def picture(self, subgraph: Subgraph, *, actor: Actor | None = None) -> GraphPicture:
        """Return a picture of a piece of the graph, with its memories for the hover."""
        from langchain_memengine.graph.picture import GraphPicture

        ids = sorted({one for relation in subgraph.relations for one in relation.evidence})
        with self._state.read() as tx:
            chunks = chunk_ids.referred(tx, ids, partitions=self._readable(actor))
        texts = {key: one.text for one in reversed(chunks) for key in (one.id, one.source)}
        return GraphPicture(subgraph, texts)

    def counts(self, *, actor: Actor | None = None) -> GraphCounts:
        """Return how much of the graph an actor may see, whenever it holds."""
        aside = self._silenced()
        with self._synced().read() as tx:
            return graph.counts(tx, partitions=self._readable(actor), aside=aside)

    def export(self, *, actor: Actor | None = None) -> dict[str, Any]:
        """Return all relations that an actor may see, whenever they hold, as plain JSON types.

        ``add_triples(exported["relations"])`` reads them back.
        """
        readable, aside = self._readable(actor), self._silenced()
        with self._synced().read() as tx:
            relations = list(graph_reading.relations_of(tx, partitions=readable, aside=aside))
        return {"relations": [as_json(one) for one in self._standing(relations, aside)]}

    def _standing(
        self, relations: Sequence[Relation], aside: Collection[str], at: datetime | None = None
    ) -> tuple[Relation, ...]:
        """Return the relations that memories still tell, and until when what they told holds.

        Args:
            relations: What the graph was told.
            aside: Evidence that tells nothing.
            at: Only what holds at this time.
        """
        told = sorted({one for relation in relations for one in relation.evidence})
        with self._state.read() as tx:
            until = told_until(tx, told, aside)
        left = (_told(one, until) for one in relations)
        return tuple(
            one
            for one in left
            if one.evidence and (at is None or one.valid_to is None or one.valid_to > at)
        )

    def _at(self, as_of: datetime | None) -> datetime:
        return self._clock() if as_of is None else as_utc(as_of)


def _told(relation: Relation, until: Mapping[str, datetime | None]) -> Relation:
    """Return a relation with the evidence that is left, and its end if all of that ended."""
    evidence = tuple(one for one in relation.evidence if one in until)
    ends = [end for one in evidence if (end := until[one]) is not None]
    if not ends or len(ends) < len(evidence):
        return replace(relation, evidence=evidence)
    last = max(ends)
    valid_to = last if relation.valid_to is None else min(last, relation.valid_to)
    return replace(relation, evidence=evidence, valid_to=valid_to)


def _ids(tx: Transaction, name: str, readable: Sequence[str], aside: Collection[str]) -> list[str]:
    """Return the ids of the entities called so.

    Raises:
        NotFoundError: There is none.
    """
    key = entity_key(clean_text(name))
    found = graph_entities.ids_called(tx, [key], partitions=readable, aside=aside).get(key)
    if found:
        return found
    similar = graph_entities.search_names(
        tx, name, partitions=readable, limit=_SIMILAR, aside=aside
    )
    advice = (
        f"Similar: {', '.join(one.name for one in similar)}."
        if similar
        else "No name in it is like that. See: memengine graph stats. What fills it: "
        "add_triples(), graph_extraction, or memengine graph import FILE."
    )
    raise NotFoundError(f"The graph has no entity called {name!r}. {advice}")
