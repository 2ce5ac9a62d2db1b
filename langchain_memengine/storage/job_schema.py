"""The tables of the queue of background work and its schedules."""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
)

from langchain_memengine.storage.column_types import LONG_TEXT, ROW_NUMBER, Words
from langchain_memengine.storage.schema import metadata, store_column, time_column

jobs = Table(
    "jobs",
    metadata,
    Column("num", ROW_NUMBER, primary_key=True, autoincrement=True),
    store_column(),
    Column("kind", Words(64), nullable=False),
    Column("payload", LONG_TEXT, nullable=False),
    Column("dedupe_key", Words(255)),
    # The key while the job is not finished, then NULL, which every database lets occur often.
    Column("live_key", Words(255)),
    Column("keeps_key", Boolean, nullable=False),
    Column("state", Words(16), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("max_attempts", Integer, nullable=False),
    time_column("run_at", nullable=False),
    time_column("lease_until"),
    Column("token", Words(36)),
    Column("error", LONG_TEXT),
    Column("owner", Words(255), nullable=False, default=""),
    Column("thread_id", Words(255)),
    Column("commit_id", Words(64)),
    time_column("created_at", nullable=False),
    time_column("finished_at"),
    UniqueConstraint("store_id", "live_key", name="uq_jobs_live_key"),
    Index("ix_jobs_state", "store_id", "state", "run_at", "num"),
    # A worker that was given up names its job by number long after the row was pruned.
    sqlite_autoincrement=True,
)

schedules = Table(
    "schedules",
    metadata,
    store_column(),
    Column("name", Words(64), nullable=False),
    Column("kind", Words(64), nullable=False),
    Column("payload", LONG_TEXT, nullable=False),
    Column("at", Words(5), nullable=False),
    Column("timezone", Words(64), nullable=False),
    time_column("next_run_at", nullable=False),
    Column("enabled", Boolean, nullable=False),
    PrimaryKeyConstraint("store_id", "name"),
)

JOB_TABLES = (jobs, schedules)
