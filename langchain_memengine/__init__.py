"""Memory for LangChain and LangGraph agents: Markdown and SQL as the truth, search on top.

How the package reads, from the bottom up::

    errors, shown             what goes wrong; that values can be printed and looked at
    types, given              what is passed around, numbers that are checked
    answers, reports          what comes back
    rankings, config          how a search ranks, what can be set
    text                      strings to tokens, words and chunks
    workspace                 the Markdown files on disk
    storage                   the database, the only place with SQL
    models                    embedders, local and remote, checked and retried
    retrieval                 keyword and vector indexes, fusion, search, recall, indexing
    conversation              compaction, archive, histories, sessions; how memory follows branches
    graph                     entities and relations that memories tell of, asked and drawn
    knowledge                 facts learnt from what people say, and experiences of agents
    jobs                      the worker that does what was queued
    engine                    MemoryEngine: all of the above behind one object
    faces, evaluation, cli    what LangChain and LangGraph see, how well it finds, the terminal
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from langchain_memengine.answers import (
        Explanation,
        Hit,
        IndexReport,
        Receipt,
        SearchResult,
        Stats,
    )
    from langchain_memengine.config import MemEngineConfig
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
    from langchain_memengine.faces.display.showing import Display, show
    from langchain_memengine.faces.document_index import MemEngineDocumentIndex
    from langchain_memengine.faces.experience_tools import experience_tools
    from langchain_memengine.faces.graph_nodes import graph_extraction
    from langchain_memengine.faces.graph_tools import graph_tools
    from langchain_memengine.faces.history import MemEngineChatMessageHistory
    from langchain_memengine.faces.lab.ranking_lab import RankingLab
    from langchain_memengine.faces.middleware import MemoryMiddleware
    from langchain_memengine.faces.nodes import MemoryState, flush_node, summarization_node
    from langchain_memengine.faces.recall_node import RecallState, recall_node
    from langchain_memengine.faces.reranker import DecayReranker
    from langchain_memengine.faces.retriever import MemEngineRetriever
    from langchain_memengine.faces.store import MemEngineStore
    from langchain_memengine.faces.tools import memory_tools
    from langchain_memengine.graph.documents import GraphDocument
    from langchain_memengine.jobs.reports import JobsReport
    from langchain_memengine.knowledge.consolidation_report import (
        Consolidated,
        ConsolidationReport,
    )
    from langchain_memengine.knowledge.experience import ExperienceStore
    from langchain_memengine.knowledge.fact_history import FactVersion
    from langchain_memengine.rankings import RANKINGS, Ranking
    from langchain_memengine.reports import ExportReport, ForgetReport
    from langchain_memengine.retrieval.diagnosis import DoctorReport
    from langchain_memengine.retrieval.recall import Recalled
    from langchain_memengine.storage.auditing import AuditReport
    from langchain_memengine.storage.experience_values import Experience
    from langchain_memengine.storage.graph_values import Entity, Relation
    from langchain_memengine.storage.job_values import Job
    from langchain_memengine.storage.record_values import MemoryRecord, Quarantine
    from langchain_memengine.text.chunking import chunk_markdown
    from langchain_memengine.text.markdown import extract_decisions
    from langchain_memengine.text.tokens import estimate_tokens
    from langchain_memengine.types import (
        Actor,
        Chunk,
        Fact,
        Filter,
    )
    from langchain_memengine.workspace.layout import (
        ARCHIVE_DIR,
        DAILY_DIR,
        DREAMS_FILE,
        MEMORY_FILE,
        TASKS_DIR,
        USERS_DIR,
        Layout,
    )
    from langchain_memengine.workspace.watcher import WatchState

# Names are resolved when they are first used, so that `import langchain_memengine` costs nothing.
_HOMES = {
    "ARCHIVE_DIR": "workspace.layout",
    "DAILY_DIR": "workspace.layout",
    "DREAMS_FILE": "workspace.layout",
    "MEMORY_FILE": "workspace.layout",
    "RANKINGS": "rankings",
    "TASKS_DIR": "workspace.layout",
    "USERS_DIR": "workspace.layout",
    "Actor": "types",
    "AuditReport": "storage.auditing",
    "Chunk": "types",
    "CompactionLimits": "conversation.compaction",
    "Consolidated": "knowledge.consolidation_report",
    "ConsolidationReport": "knowledge.consolidation_report",
    "DecayReranker": "faces.reranker",
    "Display": "faces.display.showing",
    "DoctorReport": "retrieval.diagnosis",
    "Entity": "storage.graph_values",
    "Experience": "storage.experience_values",
    "ExperienceStore": "knowledge.experience",
    "Explanation": "answers",
    "ExportReport": "reports",
    "Fact": "types",
    "FactVersion": "knowledge.fact_history",
    "Filter": "types",
    "GraphDocument": "graph.documents",
    "ForgetReport": "reports",
    "Hit": "answers",
    "IndexReport": "answers",
    "Job": "storage.job_values",
    "JobsReport": "jobs.reports",
    "Layout": "workspace.layout",
    "MemEngineChatMessageHistory": "faces.history",
    "MemEngineConfig": "config",
    "MemEngineDocumentIndex": "faces.document_index",
    "MemEngineError": "errors",
    "MemEngineRetriever": "faces.retriever",
    "MemEngineStore": "faces.store",
    "MemoryEngine": "engine.memory_engine",
    "MemoryMiddleware": "faces.middleware",
    "MemoryState": "faces.nodes",
    "MemoryRecord": "storage.record_values",
    "Quarantine": "storage.record_values",
    "Ranking": "rankings",
    "RankingLab": "faces.lab.ranking_lab",
    "RecallState": "faces.recall_node",
    "Recalled": "retrieval.recall",
    "Receipt": "answers",
    "Relation": "storage.graph_values",
    "SearchResult": "answers",
    "Stats": "answers",
    "WatchState": "workspace.watcher",
    "chunk_markdown": "text.chunking",
    "compact_messages": "conversation.context",
    "estimate_tokens": "text.tokens",
    "experience_tools": "faces.experience_tools",
    "extract_decisions": "text.markdown",
    "flush_node": "faces.nodes",
    "get_memory_stats": "conversation.context",
    "graph_extraction": "faces.graph_nodes",
    "graph_tools": "faces.graph_tools",
    "join_heads": "conversation.lineage",
    "memory_flush": "conversation.flush",
    "memory_tools": "faces.tools",
    "needs_compaction": "conversation.context",
    "recall_node": "faces.recall_node",
    "show": "faces.display.showing",
    "summarization_node": "faces.nodes",
    "with_previous_context": "conversation.summaries",
}

__all__ = [
    "ARCHIVE_DIR",
    "DAILY_DIR",
    "DREAMS_FILE",
    "MEMORY_FILE",
    "RANKINGS",
    "TASKS_DIR",
    "USERS_DIR",
    "Actor",
    "AuditReport",
    "Chunk",
    "CompactionLimits",
    "Consolidated",
    "ConsolidationReport",
    "DecayReranker",
    "Display",
    "DoctorReport",
    "Entity",
    "Experience",
    "ExperienceStore",
    "Explanation",
    "ExportReport",
    "Fact",
    "FactVersion",
    "Filter",
    "ForgetReport",
    "GraphDocument",
    "Hit",
    "IndexReport",
    "Job",
    "JobsReport",
    "Layout",
    "MemEngineChatMessageHistory",
    "MemEngineConfig",
    "MemEngineDocumentIndex",
    "MemEngineError",
    "MemEngineRetriever",
    "MemEngineStore",
    "MemoryEngine",
    "MemoryMiddleware",
    "MemoryRecord",
    "MemoryState",
    "Quarantine",
    "Ranking",
    "RankingLab",
    "RecallState",
    "Recalled",
    "Receipt",
    "Relation",
    "SearchResult",
    "Stats",
    "WatchState",
    "chunk_markdown",
    "compact_messages",
    "estimate_tokens",
    "experience_tools",
    "extract_decisions",
    "flush_node",
    "get_memory_stats",
    "graph_extraction",
    "graph_tools",
    "join_heads",
    "memory_flush",
    "memory_tools",
    "needs_compaction",
    "recall_node",
    "show",
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
