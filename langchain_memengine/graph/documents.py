"""Graphs in the shape that LangChain's graph stores read and write."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any

from langchain_core.documents import Document
from langchain_core.load.serializable import Serializable
from pydantic import Field

from langchain_memengine.errors import ConfigurationError, MissingDependencyError
from langchain_memengine.storage.graph_values import Entity, Relation, Subgraph

UNTYPED = "Node"
"""Type of a node of which nobody said what it is, as in LangChain."""

_CONVERTERS = {"neo4j": "langchain_neo4j.graphs.graph_document"}


class Node(Serializable):
    """An entity as LangChain's graph stores know it.

    Attributes:
        id: Its name.
        type: Its label.
        properties: What else is known of it.
    """

    id: str | int
    type: str = UNTYPED
    properties: dict[str, Any] = Field(default_factory=dict)


class Relationship(Serializable):
    """A directed relation between two nodes.

    Attributes:
        source: Where it starts.
        target: Where it leads.
        type: What it says.
        properties: What else is known of it.
    """

    source: Node
    target: Node
    type: str
    properties: dict[str, Any] = Field(default_factory=dict)


class GraphDocument(Serializable):
    """Nodes and relationships, and the document they were read from.

    Attributes:
        nodes: Its nodes.
        relationships: Its relationships.
        source: The document; ``None`` if they come from several.
    """

    nodes: list[Node]
    relationships: list[Relationship]
    source: Document | None = None

    @classmethod
    def from_subgraph(cls, subgraph: Subgraph, source: Document | None = None) -> GraphDocument:
        """Return a piece of the graph in this shape."""
        return cls.of(subgraph.entities, subgraph.relations, source)

    @classmethod
    def of(
        cls,
        entities: Iterable[Entity],
        relations: Sequence[Relation],
        source: Document | None = None,
    ) -> GraphDocument:
        """Return entities and relations, with the entities they relate, in this shape."""
        ends = [end for one in relations for end in (one.source, one.target)]
        nodes = {entity.id: _node(entity) for entity in (*entities, *ends)}
        return cls(
            nodes=list(nodes.values()),
            relationships=[
                Relationship(
                    source=nodes[one.source.id],
                    target=nodes[one.target.id],
                    type=one.type,
                    properties=_properties(one),
                )
                for one in relations
            ],
            source=source,
        )

    def entities(self) -> list[Entity]:
        """Return the nodes as entities."""
        return [_entity(node) for node in self.nodes]

    def relations(self) -> list[Relation]:
        """Return the relationships as relations, for a graph to learn."""
        return [
            Relation(
                _entity(one.source),
                one.type,
                _entity(one.target),
                confidence=one.properties.get("confidence", 1.0),
            )
            for one in self.relationships
        ]

    def to_langchain(self, package: str = "neo4j") -> Any:
        """Return the same as an instance of another package's ``GraphDocument``.

        Args:
            package: ``neo4j``, for ``langchain-neo4j``.

        Raises:
            ConfigurationError: There is no such package.
            MissingDependencyError: It is not installed.
        """
        theirs = _their_module(package)
        nodes = {
            (node.id, node.type): theirs.Node(
                id=node.id, type=node.type, properties=dict(node.properties)
            )
            for node in self.nodes
        }
        return theirs.GraphDocument(
            nodes=list(nodes.values()),
            relationships=[
                theirs.Relationship(
                    source=nodes[one.source.id, one.source.type],
                    target=nodes[one.target.id, one.target.type],
                    type=one.type,
                    properties=dict(one.properties),
                )
                for one in self.relationships
            ],
            source=self.source or Document(page_content=""),
        )


def _their_module(package: str) -> Any:
    if package not in _CONVERTERS:
        raise ConfigurationError(
            f"There is no converter for {package!r}. Choose one of: {', '.join(_CONVERTERS)}."
        )
    try:
        return import_module(_CONVERTERS[package])
    except ImportError as error:
        raise MissingDependencyError(
            f"langchain-{package}", extra=package, needed_for=f"to_langchain({package!r})"
        ) from error


def _node(entity: Entity) -> Node:
    known = {"aliases": list(entity.aliases)} if entity.aliases else {}
    return Node(id=entity.name, type=entity.type or UNTYPED, properties=known)


def _entity(node: Node) -> Entity:
    known = node.properties.get("aliases") or ()
    aliases = tuple(map(str, [known] if isinstance(known, str) else known))
    return Entity(str(node.id), "" if node.type == UNTYPED else node.type, aliases)


def _properties(relation: Relation) -> dict[str, Any]:
    known: dict[str, Any] = {
        "confidence": relation.confidence,
        "evidence": list(relation.evidence),
    }
    for name in ("valid_from", "valid_to"):
        moment = getattr(relation, name)
        if moment is not None:
            known[name] = moment.isoformat()
    return known
