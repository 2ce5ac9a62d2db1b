"""The tables of what is kept as it was given: items of a store, and documents of an index.

Their texts are searched as chunks of the same source; what stands here is given back.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Index,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
)

from langchain_memengine.storage.schema import (
    metadata,
)


def _store() -> Column[str]:
    return Column("store_id", String(64), nullable=False)


# Namespace, key and value are JSON in ASCII, so that every database holds every label.
store_items = Table(
    "store_items",
    metadata,
    _store(),
    Column("source", String(1024), nullable=False),
    Column("root", String(32), nullable=False),
    Column("namespace", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("value", Text, nullable=False),
    Column("indexed", Boolean, nullable=False),
    Column("ttl_ms", BigInteger),
    Column("expires_at", BigInteger),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    PrimaryKeyConstraint("store_id", "source"),
    Index("ix_store_items_root", "store_id", "root", "created_at"),
    Index("ix_store_items_expires", "store_id", "expires_at"),
)

originals = Table(
    "originals",
    metadata,
    _store(),
    Column("source", String(1024), nullable=False),
    Column("text", Text, nullable=False),
    Column("metadata", Text, nullable=False),
    PrimaryKeyConstraint("store_id", "source"),
)

ITEM_TABLES = (store_items, originals)
