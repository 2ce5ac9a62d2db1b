"""The graph of one store, as far as an actor may see it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from langchain_memengine.answers import (
    as_json,
)
from langchain_memengine.errors import NotFoundError
from langchain_memengine.graph.learning import GraphLearning
from langchain_memengine.graph.paths import shortest_paths
from langchain_memengine.retrieval import documents
from langchain_memengine.storage import chunk_ids, graph, graph_reading
from langchain_memengine.storage.database import Transaction
from langchain_memengine.storage.graph_values import Entity, GraphCounts, Relation, Subgraph
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
    same, and is not told while it is quarantined. Every question is answered from what its actor
    may read.
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
        database, key = self._synced(), entity_key(wanted)
        with database.read() as tx:
            found = graph_reading.search_names(tx, wanted, partitions=readable, limit=limit)
        if found or not key or not self._names.enabled:
            return found
        vector = self._names.embed([key])
        with database.read() as tx:
            (near,) = self._names.nearest(tx, vector)
            called = graph_reading.ids_called(tx, near, partitions=readable)
            ids = list(dict.fromkeys(one for key in near for one in called.get(key, ())))[:limit]
            known = graph_reading.entities(tx, ids, partitions=readable)
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
        readable = self._readable(actor)
        with self._synced().read() as tx:
            ids = [one for name in names for one in _ids(tx, name, readable)]
            found = graph_reading.around(
                tx, list(dict.fromkeys(ids)), hops, partitions=readable, at=self._at(as_of)
            )
        standing = self._standing(found.relations)
        if standing == found.relations:
            return found
        ends = {end.id for one in standing for end in (one.source, one.target)}
        near = {one: hop for one, hop in found.hops.items() if not hop or one in ends}
        entities = tuple(one for one in found.entities if one.id in near)
        return replace(found, entities=entities, relations=standing, hops=near)

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
        readable, at = self._readable(actor), self._at(as_of)
        with self._synced().read() as tx:

            def steps(ids: Sequence[str]) -> Sequence[Relation]:
                found = graph_reading.around(tx, ids, 1, partitions=readable, at=at)
                return self._standing(found.relations)

            return shortest_paths(
                _ids(tx, source, readable),
                _ids(tx, target, readable),
                steps,
                max_hops=max_hops,
                max_paths=max_paths,
            )

    def picture(self, subgraph: Subgraph, *, actor: Actor | None = None) -> GraphPicture:
        """Return a picture of a piece of the graph, with its memories for the hover."""
        from langchain_memengine.graph.picture import GraphPicture

        ids = sorted({one for relation in subgraph.relations for one in relation.evidence})
        with self._state.read() as tx:
            chunks = chunk_ids.referred(tx, ids, partitions=self._readable(actor))
        texts = {key: one.text for one in reversed(chunks) for key in (one.id, one.source)}
        return GraphPicture(subgraph, texts)

    def counts(self, *, actor: Actor | None = None) -> GraphCounts:
        """Return how much of the graph an actor may see."""
        with self._synced().read() as tx:
            return graph.counts(tx, partitions=self._readable(actor))

    def export(self, *, actor: Actor | None = None) -> dict[str, Any]:
        """Return all relations that an actor may see as plain JSON types.

        ``add_triples(exported["relations"])`` reads them back.
        """
        with self._synced().read() as tx:
            relations = list(graph_reading.relations_of(tx, partitions=self._readable(actor)))
        return {"relations": [as_json(relation) for relation in self._standing(relations)]}

    def _standing(self, relations: Sequence[Relation]) -> tuple[Relation, ...]:
        """Return the relations without quarantined evidence, and without those of no other."""
        told = sorted({one for relation in relations for one in relation.evidence})
        with self._state.read() as tx:
            aside = chunk_ids.quarantined(tx, told)
        if not aside:
            return tuple(relations)
        left = (
            replace(one, evidence=tuple(e for e in one.evidence if e not in aside))
            for one in relations
        )
        return tuple(one for one in left if one.evidence)

    def _at(self, as_of: datetime | None) -> datetime:
        return self._clock() if as_of is None else as_utc(as_of)


def _ids(tx: Transaction, name: str, readable: Sequence[str]) -> list[str]:
    """Return the ids of the entities called so.

    Raises:
        NotFoundError: There is none.
    """
    key = entity_key(clean_text(name))
    found = graph_reading.ids_called(tx, [key], partitions=readable).get(key)
    if found:
        return found
    similar = graph_reading.search_names(tx, name, partitions=readable, limit=_SIMILAR)
    advice = (
        f"Similar: {', '.join(one.name for one in similar)}."
        if similar
        else "No name in it is like that. See: memengine graph stats. What fills it: "
        "add_triples(), graph_extraction, or memengine graph import FILE."
    )
    raise NotFoundError(f"The graph has no entity called {name!r}. {advice}")
