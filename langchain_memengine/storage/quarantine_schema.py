"""The table of what is quarantined."""

from __future__ import annotations

from sqlalchemy import Column, PrimaryKeyConstraint, Table

from langchain_memengine.storage.column_types import LONG_TEXT, MAX_KEY_CHARS, Words
from langchain_memengine.storage.schema import (
    metadata,
    store_column,
    time_column,
)

quarantines = Table(
    "quarantines",
    metadata,
    store_column(),
    Column("target_id", Words(64), nullable=False),
    Column("source", Words(MAX_KEY_CHARS), nullable=False),
    Column("reason", LONG_TEXT, nullable=False),
    Column("by_user", Words(255), nullable=False),
    time_column("at", nullable=False),
    PrimaryKeyConstraint("store_id", "target_id"),
)

QUARANTINE_TABLES = (quarantines,)
