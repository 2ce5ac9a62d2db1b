"""Where the state of an engine is kept."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from langchain_memengine.config import MemEngineConfig
from langchain_memengine.errors import ConfigurationError
from langchain_memengine.storage.beside_clickhouse import DatabaseBesideClickHouse
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.dialects import is_transactional
from langchain_memengine.storage.sqlite import file_url


def state_store(
    config: MemEngineConfig, file: Path | None, now: datetime, *, read_only: bool
) -> Database:
    """Return the database of a store's state; beside ClickHouse if the settings say so.

    Args:
        config: The settings.
        file: Of SQLite, where no URL is set; ``None`` is in memory.
        now: The time of a migration.
        read_only: Whether nothing is ever written.

    Raises:
        ConfigurationError: The URLs are malformed, or do not go together.
        StorageError: A database cannot be opened.
    """
    url = config.database_url
    default = file_url(file) if file else None
    clickhouse_url = None if url is None or is_transactional(url) else url
    if clickhouse_url is None and config.jobs_url is not None:
        raise ConfigurationError(
            "jobs_url stands beside ClickHouse only, and database_url does not name that. Leave "
            "jobs_url out: all of the store is in one database."
        )
    if clickhouse_url is None:
        return Database(
            url or default or "sqlite://",
            store_id=config.store_id,
            now=now,
            busy_timeout_ms=config.busy_timeout_ms,
            read_only=read_only,
        )
    jobs_url = config.jobs_url or default
    if jobs_url is None:
        raise ConfigurationError(
            "ClickHouse has no transactions, and an engine without a folder keeps no file for what "
            "needs them. Set jobs_url to a SQLite, PostgreSQL or MySQL database that lasts."
        )
    return DatabaseBesideClickHouse(
        jobs_url,
        clickhouse_url,
        store_id=config.store_id,
        now=now,
        busy_timeout_ms=config.busy_timeout_ms,
        read_only=read_only,
    )
