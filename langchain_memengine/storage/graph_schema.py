"""The tables of the graph, which may be in a database of its own.

They have metadata and migrations of their own, so that they can also share the state database.
Whose a row is stands in ``partition_key``, as with chunks: every query names the partitions that
its actor may read. Entities carry no partition and nothing that is somebody's: who knows of them
is told by their names, each of which comes from one piece of evidence.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Index,
    MetaData,
    PrimaryKeyConstraint,
    Table,
)

from langchain_memengine.storage.column_types import DOUBLE, LONG_BLOB, LONG_TEXT, Words
from langchain_memengine.storage.creating import create_missing
from langchain_memengine.storage.migrations import Schema
from langchain_memengine.text.names import MAX_NAME_CHARS

metadata = MetaData()

MAX_EVIDENCE_CHARS = 255
"""Longest id of evidence that the columns hold."""

MAX_REFERENCE_CHARS = MAX_EVIDENCE_CHARS - 8
"""Longest id of a text, which leaves room for the number of a piece."""

REFERENCE_PART_CHARS = (MAX_REFERENCE_CHARS - len("message:/")) // 2
"""What the two parts of a message's URI have there at most, when all of it is too long."""


def _store() -> Column[str]:
    return Column("store_id", Words(64), nullable=False)


def _partition() -> Column[str]:
    return Column("partition_key", Words(128), nullable=False)


def _evidence() -> Column[str]:
    return Column("evidence_id", Words(MAX_EVIDENCE_CHARS), nullable=False)


def _id(name: str) -> Column[str]:
    return Column(name, Words(24), nullable=False)


graph_meta = Table(
    "graph_meta",
    metadata,
    _store(),
    Column("key", Words(64), nullable=False),
    Column("value", LONG_TEXT, nullable=False),
    PrimaryKeyConstraint("store_id", "key"),
)

graph_entities = Table(
    "graph_entities",
    metadata,
    _store(),
    _id("id"),
    Column("type", Words(MAX_NAME_CHARS), nullable=False),
    PrimaryKeyConstraint("store_id", "id"),
)

graph_names = Table(
    "graph_names",
    metadata,
    _store(),
    _id("entity"),
    _evidence(),
    Column("key", Words(MAX_NAME_CHARS), nullable=False),
    _partition(),
    Column("name", Words(MAX_NAME_CHARS), nullable=False),
    PrimaryKeyConstraint("store_id", "entity", "evidence_id", "key", "partition_key"),
    Index("ix_graph_names_key", "store_id", "key", "partition_key"),
    # Names are read for every entity of an answer: from the index alone.
    Index("ix_graph_names_entity", "store_id", "entity", "partition_key", "key", "name"),
    Index("ix_graph_names_evidence", "store_id", "evidence_id"),
)

graph_relations = Table(
    "graph_relations",
    metadata,
    _store(),
    _id("id"),
    _partition(),
    _id("source"),
    Column("type", Words(MAX_NAME_CHARS), nullable=False),
    _id("target"),
    Column("valid_from", BigInteger),
    Column("valid_to", BigInteger),
    PrimaryKeyConstraint("store_id", "id"),
    Index("ix_graph_relations_source", "store_id", "source"),
    Index("ix_graph_relations_target", "store_id", "target"),
)

graph_evidence = Table(
    "graph_evidence",
    metadata,
    _store(),
    _id("relation"),
    _evidence(),
    _partition(),
    Column("commit_id", Words(64)),
    Column("confidence", DOUBLE, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    PrimaryKeyConstraint("store_id", "relation", "evidence_id"),
    Index("ix_graph_evidence_id", "store_id", "evidence_id"),
)

graph_extracted = Table(
    "graph_extracted",
    metadata,
    _store(),
    _evidence(),
    _partition(),
    Column("text_hash", Words(64), nullable=False),
    PrimaryKeyConstraint("store_id", "evidence_id", "partition_key"),
    Index("ix_graph_extracted_hash", "store_id", "text_hash"),
)

graph_name_vectors = Table(
    "graph_name_vectors",
    metadata,
    _store(),
    Column("key", Words(MAX_NAME_CHARS), nullable=False),
    Column("model", Words(255), nullable=False),
    Column("vector", LONG_BLOB, nullable=False),
    PrimaryKeyConstraint("store_id", "key"),
)

graph_migrations = Table(
    "graph_migrations",
    metadata,
    Column("name", Words(64), primary_key=True),
    Column("applied_at", BigInteger),
)

_INITIAL_TABLES = (
    graph_meta,
    graph_entities,
    graph_names,
    graph_relations,
    graph_evidence,
    graph_extracted,
)


def g001_initial(connection: Connection, there: Collection[str]) -> None:
    """Create entities, their names, relations and their evidence."""
    create_missing(connection, _INITIAL_TABLES, there)


def g002_name_vectors(connection: Connection, there: Collection[str]) -> None:
    """Create the vectors of entities' names."""
    create_missing(connection, [graph_name_vectors], there)


GRAPH = Schema(
    (("g001_initial", g001_initial), ("g002_name_vectors", g002_name_vectors)),
    graph_migrations,
    counts_changes=False,
)
"""The tables of the graph."""
