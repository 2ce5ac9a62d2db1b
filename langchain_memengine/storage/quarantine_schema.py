"""The table of what is quarantined."""

from __future__ import annotations

from sqlalchemy import Column, PrimaryKeyConstraint, String, Table, Text

from langchain_memengine.storage.schema import (
    metadata,
    store_column,
    time_column,
)

quarantines = Table(
    "quarantines",
    metadata,
    store_column(),
    Column("target_id", String(64), nullable=False),
    Column("source", String(1024), nullable=False),
    Column("reason", Text, nullable=False),
    Column("by_user", String(255), nullable=False),
    time_column("at", nullable=False),
    PrimaryKeyConstraint("store_id", "target_id"),
)

QUARANTINE_TABLES = (quarantines,)
