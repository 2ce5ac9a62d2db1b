"""The table of what agents learnt from their runs."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, PrimaryKeyConstraint, Table

from langchain_memengine.storage.column_types import DOUBLE, LONG_TEXT, Words
from langchain_memengine.storage.schema import metadata, store_column, time_column

experiences = Table(
    "experiences",
    metadata,
    store_column(),
    Column("id", Words(64), nullable=False),
    Column("kind", Words(32), nullable=False),
    Column("intent", LONG_TEXT, nullable=False),
    Column("solution", LONG_TEXT, nullable=False),
    Column("success_score", DOUBLE, nullable=False),
    Column("tags", LONG_TEXT, nullable=False),
    Column("user", Words(255), nullable=False),
    Column("session", Words(255), nullable=False),
    Column("weight", DOUBLE, nullable=False),
    Column("use_count", BigInteger, nullable=False),
    time_column("created_at", nullable=False),
    time_column("last_used_at"),
    time_column("decayed_at"),
    Column("seq", BigInteger, nullable=False),
    PrimaryKeyConstraint("store_id", "id"),
    Index("ix_experiences_user", "store_id", "user", "created_at"),
    Index("ix_experiences_seq", "store_id", "seq"),
)

EXPERIENCE_TABLES = (experiences,)
