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
    Table,
)

from langchain_memengine.storage.column_types import KEY_TEXT, LONG_TEXT, Words
from langchain_memengine.storage.schema import metadata, store_column, time_column

# Namespace, key and value are JSON in ASCII, so that every database holds every label.
store_items = Table(
    "store_items",
    metadata,
    store_column(),
    Column("source", KEY_TEXT, nullable=False),
    Column("root", Words(32), nullable=False),
    Column("namespace", LONG_TEXT, nullable=False),
    Column("key", LONG_TEXT, nullable=False),
    Column("value", LONG_TEXT, nullable=False),
    Column("indexed", Boolean, nullable=False),
    Column("ttl_ms", BigInteger),
    time_column("expires_at"),
    time_column("created_at", nullable=False),
    time_column("updated_at", nullable=False),
    PrimaryKeyConstraint("store_id", "source"),
    Index("ix_store_items_root", "store_id", "root", "created_at"),
    Index("ix_store_items_expires", "store_id", "expires_at"),
)

originals = Table(
    "originals",
    metadata,
    store_column(),
    Column("source", KEY_TEXT, nullable=False),
    Column("text", LONG_TEXT, nullable=False),
    Column("metadata", LONG_TEXT, nullable=False),
    PrimaryKeyConstraint("store_id", "source"),
)

ITEM_TABLES = (store_items, originals)
