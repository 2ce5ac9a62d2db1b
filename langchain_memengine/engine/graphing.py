"""Where the graph of an engine is kept."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from langchain_memengine.config import MemEngineConfig
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.graph_schema import GRAPH
from langchain_memengine.storage.lazy_database import LazyDatabase
from langchain_memengine.storage.sqlite import file_url
from langchain_memengine.workspace.layout import Layout

GRAPH_FILE = "kg.sqlite"
"""Name of the graph's database beside that of the state."""


def graph_store(
    config: MemEngineConfig,
    layout: Layout | None,
    clock: Callable[[], datetime],
    *,
    read_only: bool,
) -> LazyDatabase:
    """Return the graph's database; nothing is opened or made until somebody uses it."""
    file = layout.state_dir / GRAPH_FILE if layout else None
    url = config.graph_url or (file_url(file) if file else "sqlite://")

    def opened() -> Database:
        return Database(
            url,
            store_id=config.store_id,
            now=clock(),
            busy_timeout_ms=config.busy_timeout_ms,
            read_only=read_only,
            schema=GRAPH,
        )

    def empty() -> Database:
        stand_in = Database(
            "sqlite://",
            store_id=config.store_id,
            now=clock(),
            busy_timeout_ms=config.busy_timeout_ms,
            schema=GRAPH,
        )
        stand_in.read_only = True  # from now on: it needs its tables
        return stand_in

    def was_made() -> bool:
        return config.graph_url is not None or (file is not None and file.exists())

    return LazyDatabase(opened, was_made, empty if read_only else None)
