"""Which table shows which value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_memengine.answers import (
    Explanation,
    Hit,
    IndexReport,
    SearchResult,
    Stats,
)
from langchain_memengine.conversation.context import CompactionResult, MemoryStats
from langchain_memengine.conversation.flush import FlushResult
from langchain_memengine.engine.restoring import Restored
from langchain_memengine.errors import ConfigurationError
from langchain_memengine.faces.display import hits, lists, reports, upkeep
from langchain_memengine.faces.display.html import html
from langchain_memengine.faces.display.plain import plain
from langchain_memengine.faces.display.sheets import Sheet, shortened
from langchain_memengine.jobs.reports import JobsReport
from langchain_memengine.knowledge.consolidation_report import ConsolidationReport
from langchain_memengine.knowledge.experience import RecordedRun
from langchain_memengine.knowledge.fact_history import FactVersion
from langchain_memengine.reports import ExportReport, ForgetReport, ImportReport
from langchain_memengine.retrieval.diagnosis import DoctorReport
from langchain_memengine.retrieval.recall import Recalled
from langchain_memengine.storage.auditing import AuditReport
from langchain_memengine.storage.backup import Contents
from langchain_memengine.storage.copying import Copied
from langchain_memengine.storage.experience_values import (
    Experience,
    ExperienceImport,
    ExperienceStats,
)
from langchain_memengine.storage.graph_values import Entity, GraphCounts, Relation, Subgraph
from langchain_memengine.storage.job_values import Job
from langchain_memengine.storage.record_values import MemoryRecord, Quarantine, Revision
from langchain_memengine.storage.sessions import Session, SessionRecall
from langchain_memengine.workspace.watcher import WatchState

_SINGLE: Mapping[type, Callable[[Any], tuple[Sheet, ...]]] = {
    SearchResult: hits.search_sheets,
    Recalled: hits.recalled_sheets,
    Explanation: hits.explanation_sheets,
    Hit: hits.hit_sheets,
    IndexReport: reports.index_sheets,
    Stats: reports.stats_sheets,
    ForgetReport: reports.forget_sheets,
    ExportReport: reports.export_sheets,
    ImportReport: reports.import_sheets,
    CompactionResult: reports.compaction_sheets,
    FlushResult: reports.flush_sheets,
    MemoryStats: reports.memory_stats_sheets,
    ConsolidationReport: reports.consolidation_sheets,
    DoctorReport: upkeep.doctor_sheets,
    AuditReport: upkeep.audit_sheets,
    JobsReport: upkeep.jobs_report_sheets,
    Contents: upkeep.backup_sheets,
    Restored: upkeep.restored_sheets,
    Copied: upkeep.copied_sheets,
    WatchState: upkeep.watch_sheets,
    GraphCounts: upkeep.graph_counts_sheets,
    ExperienceStats: upkeep.experience_stats_sheets,
    ExperienceImport: upkeep.experience_import_sheets,
    Subgraph: lists.subgraph_sheets,
    RecordedRun: lists.recorded_run_sheets,
}
_LISTED: Mapping[type, Callable[[Sequence[Any]], Sheet]] = {
    Job: lists.jobs_sheet,
    Experience: lists.experiences_sheet,
    MemoryRecord: lists.records_sheet,
    Revision: lists.revisions_sheet,
    FactVersion: lists.versions_sheet,
    Session: lists.sessions_sheet,
    SessionRecall: lists.recalls_sheet,
    Relation: lists.relations_sheet,
    Entity: lists.entities_sheet,
    Quarantine: upkeep.quarantines_sheet,
}


@dataclass(frozen=True, slots=True)
class Display:
    """Tables to look at: a notebook shows them as HTML, ``print`` as plain text.

    Attributes:
        sheets: The tables, in order.
        root: Folder, as a notebook sees it, that places of files are linked into.
    """

    sheets: tuple[Sheet, ...]
    root: str | None = None

    @property
    def html(self) -> str:
        """A piece of HTML: escaped, without scripts, loading nothing."""
        return html(self.sheets, self.root)

    def __str__(self) -> str:
        """Return plain text, without what could steer a terminal."""
        return plain(self.sheets)

    def _repr_html_(self) -> str:
        return self.html

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: ARG002, FBT001  # IPython's
        printer.text(str(self))


def show(value: object, *, root: str | Path | None = None) -> Display:
    """Return a value of this package, or a list of such values, as tables to look at.

    A notebook and ``print`` show single values so by themselves; this is for lists and for links.

    ```python
    show(engine.jobs())
    print(show(engine.revisions("nuts")))
    ```

    Args:
        value: What an engine returned, or a list of jobs, experiences, records, revisions,
            versions of facts, relations, entities, what is quarantined, sessions, or what a session
            was shown.
        root: The memory's folder, as the notebook's page sees it: places of files become links.

    Raises:
        ConfigurationError: There is no table for such a value, or the list mixes several kinds.
    """
    sheets = tuple(map(shortened, sheets_of(value)))
    return Display(sheets, None if root is None else str(root))


def sheets_of(value: object) -> tuple[Sheet, ...]:
    """Return the tables of a value, or of a list of such values, with all their rows.

    Raises:
        ConfigurationError: There is no table for such a value, or the list mixes several kinds.
    """
    if type(value) in _SINGLE:
        return _SINGLE[type(value)](value)
    if type(value) in _LISTED:
        return (_LISTED[type(value)]([value]),)
    if not isinstance(value, list | tuple):
        raise ConfigurationError(f"show() has no table for a {type(value).__name__}. {_known()}")
    kinds = {type(one) for one in value}
    if not kinds:
        return (Sheet("Nothing to show: the list is empty."),)
    kind = kinds.pop()
    if kinds or kind not in _LISTED:
        names = ", ".join(sorted(one.__name__ for one in {kind, *kinds}))
        raise ConfigurationError(f"show() has no table for a list of {names}. {_known()}")
    return (_LISTED[kind](value),)


def _known() -> str:
    alone = ", ".join(sorted(one.__name__ for one in _SINGLE))
    listed = ", ".join(sorted(one.__name__ for one in _LISTED))
    return f"It shows: {alone}; and lists of one kind of: {listed}."
