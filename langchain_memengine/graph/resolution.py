"""Which entity a name means: one that is known already, or a new one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from langchain_memengine.storage.graph_values import Entity, Relation
from langchain_memengine.text.names import entity_key

MERGE_COSINE = 0.92
"""Cosine of two names of one type from which on they mean the same entity."""

Known = Mapping[str, Sequence[Entity]]
"""Entities by the key of each of their names."""


@dataclass(frozen=True, slots=True)
class NameMerge:
    """Merge names that mean the same by their embeddings.

    Attributes:
        embed: Texts to vectors.
        threshold: Least cosine of a merge.
    """

    embed: Callable[[list[str]], Sequence[NDArray[np.float32]] | NDArray[np.float32]]
    threshold: float = MERGE_COSINE

    def merged(
        self, new: Sequence[Entity], candidates: Mapping[str, Sequence[Entity]]
    ) -> dict[str, Entity]:
        """Return, by id, which of its candidates a new entity is.

        Entities of different types are never the same, whatever their names.
        """
        pairs = [
            (entity, candidate)
            for entity in new
            for candidate in candidates.get(entity.id, ())
            if entity_key(candidate.type) == entity_key(entity.type) and candidate.id != entity.id
        ]
        if not pairs:
            return {}
        names = list(dict.fromkeys(one.name for pair in pairs for one in pair))
        vectors = np.asarray(self.embed(names), dtype=np.float64)
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        place = {name: number for number, name in enumerate(names)}
        best: dict[str, tuple[float, Entity]] = {}
        for entity, candidate in pairs:
            cosine = float(vectors[place[entity.name]] @ vectors[place[candidate.name]])
            if cosine >= self.threshold and cosine > best.get(entity.id, (-1.0,))[0]:
                best[entity.id] = (cosine, candidate)
        return {one: candidate for one, (_, candidate) in best.items()}


def mentions(entities: Iterable[Entity], relations: Iterable[Relation]) -> dict[str, Entity]:
    """Return all entities that are spoken of, by id."""
    spoken = {entity.id: entity for one in relations for entity in (one.source, one.target)}
    return spoken | {entity.id: entity for entity in entities}


def resolve(entity: Entity, known: Known) -> Entity:
    """Return an entity under the id of the known one that it means.

    It means the one of the same name and type; else the only one of that type that has its name
    or one of its aliases as a name or an alias. Without a type, the only one that is called so.
    """
    keys = [entity_key(name) for name in (entity.name, *entity.aliases)]
    called = {one.id: one for key in keys for one in known.get(key, ())}
    if entity.id in called:
        return entity
    if entity.type:
        kind = entity_key(entity.type)
        called = {one: other for one, other in called.items() if entity_key(other.type) == kind}
    if len(called) != 1:
        return entity
    (other,) = called.values()
    return replace(entity, type=other.type, id=other.id)


def renamed(relation: Relation, entities: Mapping[str, Entity]) -> Relation:
    """Return a relation whose ends are the entities that they were resolved to."""
    return replace(
        relation,
        source=entities.get(relation.source.id, relation.source),
        target=entities.get(relation.target.id, relation.target),
    )
