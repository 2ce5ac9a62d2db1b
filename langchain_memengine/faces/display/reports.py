"""What operations on memories report, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from langchain_core.messages import BaseMessage

from langchain_memengine.answers import (
    IndexReport,
    Stats,
)
from langchain_memengine.conversation.context import CompactionResult, MemoryStats
from langchain_memengine.conversation.flush import FlushResult
from langchain_memengine.conversation.transcript import role_of, tokens_of
from langchain_memengine.faces.display.sheets import Cell, Sheet, Words, excerpt, table
from langchain_memengine.knowledge.consolidation_report import Consolidated, ConsolidationReport
from langchain_memengine.reports import ExportReport, ForgetReport, ImportReport
from langchain_memengine.text.counting import counted, counted_kinds

Rows = tuple[tuple[str, str], ...]

_MAX_LINES = 5
"""Line numbers that are shown of what was left out for one reason."""


def index_sheets(report: IndexReport) -> tuple[Sheet, ...]:
    """Return what a sync did, and the files that were left out, or are not trusted."""
    title = "What a sync would do" if report.dry_run else "What the sync did"
    files, chunks = counted(report.indexed, "file"), counted(report.chunks, "chunk")
    embedded = f"{counted(report.embedded, 'text')}, about {counted(report.tokens, 'token')}"
    counts = _said(
        ("indexed", f"{files}, {chunks}"),
        ("unchanged", counted(report.unchanged, "file")),
        ("removed", counted(report.removed, "file")),
        ("embedded", embedded),
        ("reused", counted(report.reused, "embedding")),
        ("without embedding", counted(report.pending, "chunk") if report.pending else ""),
    )
    problems = chain(
        ((one, "skipped") for one in report.skipped), ((one, "failed") for one in report.failed)
    )
    left_out = [(kind, Words(one.path), Words(one.reason)) for one, kind in problems]
    odd = [("", Words(one.path), Words(one.reason)) for one in report.suspicious]
    done = Sheet(title, ("", ""), counts, warnings=report.degraded)
    tables = (("Left out", left_out), ("Indexed, and not trusted", odd))
    columns = ("", "file", "reason")
    return done, *(
        table(f"{told}: {counted(len(rows), 'file')}", columns, rows)
        for told, rows in tables
        if rows
    )


def stats_rows(stats: Stats) -> Rows:
    """Return the size of a store, a line each."""
    jobs = (stats.jobs_ready, stats.jobs_running, stats.jobs_dead)
    waiting = "{} ready, {} running, {} dead".format(*jobs)
    share = f" of {counted(stats.chunks, 'chunk')}" if stats.embedding_model else ""
    return _said(
        ("files", f"{stats.files:,}"),
        ("chunks", f"{stats.chunks:,}"),
        ("embeddings", f"{stats.embeddings:,}{share}"),
        ("model", stats.embedding_model or "none: keyword search only"),
        ("changes", f"{stats.change_counter:,}"),
        ("refused", counted(stats.refused, "text") if stats.refused else ""),
        ("jobs", waiting if any(jobs) else ""),
        ("not done here", counted(stats.jobs_unknown, "job") if stats.jobs_unknown else ""),
    )


def stats_sheets(stats: Stats) -> tuple[Sheet, ...]:
    """Return the size of a store."""
    return (Sheet("The store", ("", ""), stats_rows(stats)),)


def forget_sheets(report: ForgetReport) -> tuple[Sheet, ...]:
    """Return what was forgotten, and where the words may still be."""
    counts = tuple((kind, f"{number:,}") for kind, number in report.removed.items())
    gone = Sheet("Forgotten:" if counts else "There was nothing to forget.", ("", ""), counts)
    left = tuple((Words(line),) for line in report.out_of_reach)
    return gone, *((Sheet("Out of reach:", ("",), left),) if left else ())


def export_sheets(report: ExportReport) -> tuple[Sheet, ...]:
    """Return what an export holds, and what it does not."""
    left_out = (f"Left out: {counted_kinds(report.left_out)}.",) if report.left_out else ()
    return (Sheet(f"Exported: {counted_kinds(report.exported)}.", notes=left_out),)


def import_sheets(report: ImportReport) -> tuple[Sheet, ...]:
    """Return what an import took in, and what it left out and why."""
    rows = (
        ("imported", Words(counted_kinds(report.imported))),
        ("unchanged", Words(counted_kinds(report.unchanged))),
        *(
            ("skipped", Words(f"{number:,}: {why}{_lines(report.lines.get(why, ()))}"))
            for why, number in report.skipped.items()
        ),
    )
    return (Sheet("What the import did", ("", ""), rows),)


def _lines(numbers: Sequence[int]) -> str:
    """Return where in the file the first of what was left out stands, if it has lines."""
    if not numbers:
        return ""
    shown = ", ".join(map(str, numbers[:_MAX_LINES]))
    more = f" and {len(numbers) - _MAX_LINES} more" if len(numbers) > _MAX_LINES else ""
    return f" (line {shown}{more})"


def consolidation_sheets(report: ConsolidationReport) -> tuple[Sheet, ...]:
    """Return what is no longer found and what says it all, and the lines that MEMORY.md gets."""
    verb = "would be " if report.dry_run else ""
    done = ", ".join(f"{number:,} {verb}{action}" for action, number in report.counts.items())
    aside = (
        (report.private, "more in other users' memories; their DREAMS.md tells which."),
        (report.no_room, "not folded: MEMORY.md is as long as a recall shows it."),
    )
    changes = table(
        f"{done}; {counted(report.examined, 'text')} examined.",
        ("", "text", "says it all", "undo"),
        [_entry(one) for one in report.entries],
        notes=tuple(f"{number:,} {told}" for number, told in aside if number),
        warnings=report.degraded,
    )
    pinned = [(Words(line),) for line in report.pinned]
    tables = [table("Lines for MEMORY.md", ("",), pinned)] if pinned else []
    return (changes, *tables)


def compaction_sheets(result: CompactionResult) -> tuple[Sheet, ...]:
    """Return which messages went and which stayed, and the summary."""
    over = ("It is over the limit all the same.",) if result.over_limit else ()
    summary = Sheet("Summary", ("",), ((Words(result.summary),),)) if result.summary else None
    return (
        Sheet(
            _shortened(result.archived, result.messages, result.tokens_before, result.tokens_after),
            warnings=(*filter(None, (result.note,)), *over),
        ),
        *([summary] if summary else []),
        *_messages(("Went to the archive", result.archived), ("Stayed", result.messages)),
    )


def flush_sheets(result: FlushResult) -> tuple[Sheet, ...]:
    """Return which messages went and which stayed, and what of them is worth keeping."""
    kept = Sheet("Worth keeping", ("",), ((Words(result.text),),)) if result.text else None
    return (
        Sheet(
            _shortened(result.flushed, result.messages, result.tokens_before, result.tokens_after),
            warnings=tuple(filter(None, (result.note,))),
        ),
        *([kept] if kept else []),
        *_messages(("Went", result.flushed), ("Stayed", result.messages)),
    )


def memory_stats_sheets(stats: MemoryStats) -> tuple[Sheet, ...]:
    """Return how full a context window is, and with whose words."""
    limit = f" of {stats.token_limit:,}" if stats.token_limit else ""
    most = f" of {stats.message_limit:,}" if stats.message_limit else ""
    title = (
        f"{counted(stats.messages, 'message')}{most}, {counted(stats.tokens, 'token')}{limit}: "
        f"{stats.share:.0%} of the limit"
    )
    rows = tuple((str(role), f"{tokens:,}") for role, tokens in stats.by_role.items())
    return (Sheet(title, ("who", "tokens") if rows else (), rows),)


def _said(*rows: tuple[str, str]) -> Rows:
    """Return the rows that say something."""
    return tuple((name, value) for name, value in rows if value)


def _entry(one: Consolidated) -> list[Cell]:
    kept = Words(one.kept_place, f"{one.reason}, similarity {one.similarity:.2f}")
    return [one.action, Words(excerpt(one.text), one.place), kept, one.revision]


def _shortened(
    went: Sequence[BaseMessage], stayed: Sequence[BaseMessage], before: int, after: int
) -> str:
    gone = f"{counted(len(went), 'message')} went, {len(stayed):,} stayed"
    return f"{gone} · {before:,} → {counted(after, 'token')}"


def _messages(*groups: tuple[str, Sequence[BaseMessage]]) -> list[Sheet]:
    return [
        table(name, ("who", "text", "tokens"), [_message(one) for one in messages])
        for name, messages in groups
        if messages
    ]


def _message(message: BaseMessage) -> list[Cell]:
    calls = getattr(message, "tool_calls", ())
    called = f"calls {', '.join(call['name'] for call in calls)}" if calls else ""
    return [str(role_of(message)), Words(excerpt(message.text), called), str(tokens_of(message))]
