"""Memory for LangChain and LangGraph agents: Markdown and SQL as the truth, search on top.

How the package reads, from the bottom up::

    errors, types, config     what goes wrong, what is passed around, what can be set
    text                      strings to tokens, words and chunks
    workspace                 the Markdown files on disk
    storage                   the database, the only place with SQL
    models                    embedders, local and remote, checked and retried
    retrieval                 keyword and vector indexes, fusion, search, recall, indexing
    knowledge                 facts learnt from what people say, and which of them hold
    conversation              compaction, archive, histories, sessions; how memory follows branches
    jobs                      the worker that does what was queued
    engine                    MemoryEngine: all of the above behind one object
    faces, evaluation, cli    what LangChain and LangGraph see, how well it finds, the terminal
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from langchain_memengine.config import RANKINGS, MemEngineConfig, Ranking
    from langchain_memengine.conversation.compaction import CompactionLimits
    from langchain_memengine.conversation.context import (
        compact_messages,
        get_memory_stats,
        needs_compaction,
    )
    from langchain_memengine.conversation.flush import memory_flush
    from langchain_memengine.conversation.lineage import join_heads
    from langchain_memengine.conversation.summaries import with_previous_context
    from langchain_memengine.engine.memory_engine import MemoryEngine
    from langchain_memengine.errors import MemEngineError
    from langchain_memengine.faces.history import MemEngineChatMessageHistory
    from langchain_memengine.faces.nodes import MemoryState, flush_node, summarization_node
    from langchain_memengine.faces.retriever import MemEngineRetriever
    from langchain_memengine.jobs.reports import JobsReport
    from langchain_memengine.knowledge.fact_history import FactVersion
    from langchain_memengine.retrieval.diagnosis import DoctorReport
    from langchain_memengine.retrieval.recall import Recalled
    from langchain_memengine.storage.job_values import Job
    from langchain_memengine.storage.record_values import MemoryRecord
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

# Names are resolved when they are first used, so that `import langchain_memengine` costs nothing.
_HOMES = {
    "RANKINGS": "config",
    "Actor": "types",
    "DoctorReport": "retrieval.diagnosis",
    "CompactionLimits": "conversation.compaction",
    "Explanation": "types",
    "Fact": "types",
    "FactVersion": "knowledge.fact_history",
    "Filter": "types",
    "Hit": "types",
    "IndexReport": "types",
    "Job": "storage.job_values",
    "JobsReport": "jobs.reports",
    "MemEngineChatMessageHistory": "faces.history",
    "MemEngineConfig": "config",
    "MemEngineError": "errors",
    "MemEngineRetriever": "faces.retriever",
    "MemoryEngine": "engine.memory_engine",
    "MemoryRecord": "storage.record_values",
    "MemoryState": "faces.nodes",
    "Ranking": "config",
    "Recalled": "retrieval.recall",
    "Receipt": "types",
    "SearchResult": "types",
    "Stats": "types",
    "compact_messages": "conversation.context",
    "flush_node": "faces.nodes",
    "get_memory_stats": "conversation.context",
    "join_heads": "conversation.lineage",
    "memory_flush": "conversation.flush",
    "needs_compaction": "conversation.context",
    "summarization_node": "faces.nodes",
    "with_previous_context": "conversation.summaries",
}

__all__ = [
    "RANKINGS",
    "Actor",
    "CompactionLimits",
    "DoctorReport",
    "Explanation",
    "Fact",
    "FactVersion",
    "Filter",
    "Hit",
    "IndexReport",
    "Job",
    "JobsReport",
    "MemEngineChatMessageHistory",
    "MemEngineConfig",
    "MemEngineError",
    "MemEngineRetriever",
    "MemoryEngine",
    "MemoryRecord",
    "MemoryState",
    "Ranking",
    "Recalled",
    "Receipt",
    "SearchResult",
    "Stats",
    "compact_messages",
    "flush_node",
    "get_memory_stats",
    "join_heads",
    "memory_flush",
    "needs_compaction",
    "summarization_node",
    "with_previous_context",
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
