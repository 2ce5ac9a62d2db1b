"""The values that the graph's rows become."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from langchain_memengine.shown import Shown
from langchain_memengine.storage.times import to_ms
from langchain_memengine.text.names import entity_key


@dataclass(frozen=True, slots=True)
class Entity(Shown):
    """A person, place, thing or idea that memories speak of.

    Two entities are the same when their ids are: equal names of different types stay apart.

    Attributes:
        name: As it is shown.
        type: Kind of entity, like ``Person``; ``""`` if nobody said.
        aliases: Other names, without ``name`` itself.
        id: Made from the name and the type, unless it is given.
    """

    name: str
    type: str = ""
    aliases: tuple[str, ...] = ()
    id: str = ""

    def __post_init__(self) -> None:
        """Fill in the id."""
        if not self.id:
            object.__setattr__(self, "id", entity_id(self.name, self.type))


@dataclass(frozen=True, slots=True)
class Relation(Shown):
    """What one entity has to do with another.

    Attributes:
        source: Where the relation starts.
        type: What it says, like ``works with``.
        target: Where it leads.
        confidence: 0 to 1; that of the surest evidence.
        valid_from: Holds from this time on (aware), if known.
        valid_to: Holds before this time only, if known.
        evidence: Ids of the memories that say so, sorted.
    """

    source: Entity
    type: str
    target: Entity
    confidence: float = 1.0
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    evidence: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the relation as a sentence of three parts."""
        return f"{self.source.name} —{self.type}→ {self.target.name}"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A memory that speaks of entities, and who may read it.

    Attributes:
        id: Chunk id, or the URI of a text: ``record:<id>``, ``message:<thread>/<id>``, …
        partition: Visibility partition of the memory, see ``chunk_values.partition_key``.
        commit_id: Memory commit it belongs to, if any.
    """

    id: str
    partition: str
    commit_id: str | None = None


@dataclass(frozen=True, slots=True)
class Subgraph(Shown):
    """A piece of the graph.

    Attributes:
        entities: The entities asked for first, then by hop and name.
        relations: Between these entities, by hop, then as they read.
        hops: How many relations an entity is away, by its id; 0 for those asked for.
        is_cut: Whether there is more than was read: a limit was reached.
    """

    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()
    hops: Mapping[str, int] = field(default_factory=dict)
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class GraphCounts(Shown):
    """Size of a graph.

    Attributes:
        entities: Entities.
        relations: Relations.
        evidence: Memories that support them.
    """

    entities: int
    relations: int
    evidence: int


def entity_id(name: str, entity_type: str = "") -> str:
    """Return the id of an entity: the same in every store for the same name and type."""
    return _digest(entity_key(name), entity_key(entity_type))


def relation_id(relation: Relation, partition: str) -> str:
    """Return the id of a relation in a partition: the same statement has the same id."""
    ends = (to_ms(relation.valid_from), to_ms(relation.valid_to))
    return _digest(
        partition,
        relation.source.id,
        relation.type.replace("_", " ").casefold(),
        relation.target.id,
        *("" if end is None else str(end) for end in ends),
    )


def _digest(*parts: str) -> str:
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=12).hexdigest()
