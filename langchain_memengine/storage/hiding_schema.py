"""The table of chunks that no search returns, because another one says the same."""

from __future__ import annotations

from sqlalchemy import Column, Index, PrimaryKeyConstraint, Table

from langchain_memengine.storage.column_types import Words
from langchain_memengine.storage.schema import (
    metadata,
    store_column,
    time_column,
)

# By id and not by number: a sync that brings the same chunk again does not bring it back.
hidden_chunks = Table(
    "hidden_chunks",
    metadata,
    store_column(),
    Column("chunk_id", Words(64), nullable=False),
    Column("kept_id", Words(64), nullable=False),
    time_column("at", nullable=False),
    PrimaryKeyConstraint("store_id", "chunk_id"),
    Index("ix_hidden_chunks_kept", "store_id", "kept_id"),
)

HIDING_TABLES = (hidden_chunks,)
