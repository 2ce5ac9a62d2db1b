"""Graphs in LangChain's shape."""

from datetime import UTC, datetime

import pytest
from langchain_core.documents import Document

from langchain_memengine.errors import ConfigurationError, MissingDependencyError
from langchain_memengine.graph import documents
from langchain_memengine.graph.documents import GraphDocument, Node, Relationship
from langchain_memengine.graph.triples import read_triples
from langchain_memengine.storage.graph_values import Entity, Relation, Subgraph

ANNA, DB = Entity("Anna", "Person", ("A. Smith",)), Entity("PostgreSQL")
CHOSE = Relation(ANNA, "chose", DB, 0.5, datetime(2026, 1, 1, tzinfo=UTC), None, ("e1",))
SUBGRAPH = Subgraph((ANNA, DB), (CHOSE,), {ANNA.id: 0, DB.id: 1})


def test_a_piece_of_the_graph_has_langchains_shape():
    document = GraphDocument.from_subgraph(SUBGRAPH, Document("Anna chose it."))
    anna = Node(id="Anna", type="Person", properties={"aliases": ["A. Smith"]})
    known = {"confidence": 0.5, "evidence": ["e1"], "valid_from": "2026-01-01T00:00:00+00:00"}
    assert document == GraphDocument(
        nodes=[anna, Node(id="PostgreSQL", type="Node")],
        relationships=[
            Relationship(source=anna, target=Node(id="PostgreSQL"), type="chose", properties=known)
        ],
        source=Document("Anna chose it."),
    )


def test_what_is_read_back_are_the_same_entities_and_statements():
    (relation,) = GraphDocument.from_subgraph(SUBGRAPH).relations()
    assert (relation.source, relation.type, relation.target) == (ANNA, "chose", DB)
    assert relation.confidence == 0.5


def test_unknown_and_missing_packages_are_named(monkeypatch):
    document = GraphDocument.from_subgraph(SUBGRAPH)
    with pytest.raises(ConfigurationError, match="no converter for 'excel'"):
        document.to_langchain("excel")
    monkeypatch.setitem(documents._CONVERTERS, "neo4j", "no_such_package")
    with pytest.raises(MissingDependencyError, match=r"langchain-memengine\[neo4j\]"):
        document.to_langchain("neo4j")


def test_langchain_neo4j_takes_it():
    theirs = pytest.importorskip(
        "langchain_neo4j.graphs.graph_document", reason="langchain-neo4j is not installed"
    )
    document = GraphDocument.from_subgraph(SUBGRAPH, Document("Anna chose it."))
    converted = document.to_langchain("neo4j")
    assert isinstance(converted, theirs.GraphDocument)
    assert [(node.id, node.type) for node in converted.nodes] == [
        ("Anna", "Person"),
        ("PostgreSQL", "Node"),
    ]
    (relationship,) = converted.relationships
    assert isinstance(relationship, theirs.Relationship)
    assert relationship.source is converted.nodes[0]
    assert converted.source == Document("Anna chose it.")


@pytest.mark.parametrize(
    ("given", "aliases"),
    [("Annie", ("Annie",)), (None, ()), ([], ()), (["Annie", 7], ("Annie", "7"))],
)
def test_properties_that_other_extractors_wrote_are_read(given, aliases):
    node = Node(id="Anna", properties={"aliases": given})
    document = GraphDocument(
        nodes=[node],
        relationships=[
            Relationship(
                source=node, target=Node(id="tea"), type="likes", properties={"confidence": "high"}
            )
        ],
    )
    (relation,) = read_triples(document.relations())
    assert (relation.source.aliases, relation.confidence) == (aliases, 1.0)
