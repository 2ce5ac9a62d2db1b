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
from langchain_memengine.conversation.context import CompactionResult
from langchain_memengine.errors import ConfigurationError
from langchain_memengine.faces.display import hits, lists, reports
from langchain_memengine.faces.display.html import html
from langchain_memengine.faces.display.plain import plain
from langchain_memengine.faces.display.sheets import Sheet
from langchain_memengine.knowledge.consolidation_report import ConsolidationReport
from langchain_memengine.knowledge.fact_history import FactVersion
from langchain_memengine.retrieval.recall import Recalled
from langchain_memengine.storage.experience_values import Experience
from langchain_memengine.storage.graph_values import Relation, Subgraph
from langchain_memengine.storage.job_values import Job
from langchain_memengine.storage.record_values import MemoryRecord, Revision
from langchain_memengine.storage.sessions import Session, SessionRecall

_SINGLE: Mapping[type, Callable[[Any], tuple[Sheet, ...]]] = {
    SearchResult: hits.search_sheets,
    Recalled: hits.recalled_sheets,
    Explanation: hits.explanation_sheets,
    Hit: hits.hit_sheets,
    IndexReport: reports.index_sheets,
    Stats: reports.stats_sheets,
    CompactionResult: reports.compaction_sheets,
    ConsolidationReport: reports.consolidation_sheets,
    Subgraph: lists.subgraph_sheets,
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

    A notebook shows single values so by itself; this is for lists, for ``print``, and for links.

    ```python
    show(engine.jobs())
    print(show(engine.search("tea")))
    ```

    Args:
        value: What an engine returned, or a list of jobs, experiences, records, revisions,
            versions of facts, relations, sessions, or what a session was shown.
        root: The memory's folder, as the notebook's page sees it: places of files become links.

    Raises:
        ConfigurationError: There is no table for such a value, or the list mixes several kinds.
    """
    return Display(_sheets(value), None if root is None else str(root))


def _sheets(value: object) -> tuple[Sheet, ...]:
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
