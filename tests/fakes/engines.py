"""Engines for tests: by keyword only, on a clock that stands still, syncing before each search."""

import itertools
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel

from langchain_memengine.answers import (
    SearchResult,
)
from langchain_memengine.config import MemEngineConfig
from langchain_memengine.engine.memory_engine import MemoryEngine
from tests.fakes.clock import START, FixedClock

_writes = itertools.count(1)


def make_engine(
    root: Path | None = None,
    *,
    embeddings: Embeddings | None = None,
    chat_model: BaseChatModel | str | None = None,
    clock: FixedClock | None = None,
    read_only: bool = False,
    **settings: Any,
) -> MemoryEngine:
    """Return an engine that has not synced, tries an embedder once and does nothing by itself."""
    given = {
        "stat_interval_seconds": 0,
        "sync_on_open": False,
        "embedding_attempts": 1,
        "worker": "off",
        "graph_learning": "off",
        "consolidate_at": None,
        **settings,
    }
    return MemoryEngine(
        root,
        MemEngineConfig.model_validate(given),
        embeddings=embeddings,
        chat_model=chat_model,
        clock=clock or FixedClock(),
        read_only=read_only,
    )


def write(root: Path, name: str, text: str | bytes, *, at: datetime = START) -> Path:
    """Write a file and date it; no two writes have the same time, however fast they follow."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    mtime_ns = int((at - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds()) * 10**9 + next(_writes)
    os.utime(path, ns=(mtime_ns, mtime_ns))
    return path


def texts(result: SearchResult) -> list[str]:
    """Return the texts of the hits, best first."""
    return [hit.text for hit in result.hits]
