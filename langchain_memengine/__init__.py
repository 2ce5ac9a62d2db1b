"""Memory for LangChain and LangGraph agents: Markdown and SQL as the truth, search on top.

How the package reads, from the bottom up::

    errors, types, config     what goes wrong, what is passed around, what can be set
    text                      strings to tokens, words and chunks
    workspace                 the Markdown files on disk
    storage                   the database, the only place with SQL
    models                    embedders, local and remote, checked and retried
    retrieval                 keyword and vector indexes, fusion, search, recall, indexing
    jobs                      the worker that does what was queued
    engine                    MemoryEngine: all of the above behind one object
    faces, evaluation, cli    what LangChain sees, how well it finds, what a terminal sees
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from langchain_memengine.config import RANKINGS, MemEngineConfig, Ranking
    from langchain_memengine.engine.memory_engine import MemoryEngine
    from langchain_memengine.errors import MemEngineError
    from langchain_memengine.faces.retriever import MemEngineRetriever
    from langchain_memengine.jobs.reports import JobsReport
    from langchain_memengine.retrieval.recall import Recalled
    from langchain_memengine.storage.job_values import Job
    from langchain_memengine.types import (
        Actor,
        Explanation,
        Fact,
        Filter,
        Hit,
        IndexReport,
        Receipt,
        SearchResult,
        Stats,
    )
    from langchain_memengine.workspace.watcher import WatchState

# Names are resolved when they are first used, so that `import langchain_memengine` costs nothing.
_HOMES = {
    "RANKINGS": "config",
    "Actor": "types",
    "Explanation": "types",
    "Fact": "types",
    "Filter": "types",
    "Hit": "types",
    "IndexReport": "types",
    "Job": "storage.job_values",
    "JobsReport": "jobs.reports",
    "MemEngineConfig": "config",
    "MemEngineError": "errors",
    "MemEngineRetriever": "faces.retriever",
    "MemoryEngine": "engine.memory_engine",
    "Ranking": "config",
    "Recalled": "retrieval.recall",
    "Receipt": "types",
    "SearchResult": "types",
    "Stats": "types",
    "WatchState": "workspace.watcher",
}

__all__ = [
    "RANKINGS",
    "Actor",
    "Explanation",
    "Fact",
    "Filter",
    "Hit",
    "IndexReport",
    "Job",
    "JobsReport",
    "MemEngineConfig",
    "MemEngineError",
    "MemEngineRetriever",
    "MemoryEngine",
    "Ranking",
    "Recalled",
    "Receipt",
    "SearchResult",
    "Stats",
    "WatchState",
]


def __getattr__(name: str) -> object:
    """Import a public name when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__
