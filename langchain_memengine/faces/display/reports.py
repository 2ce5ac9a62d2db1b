"""What operations report, as tables."""

from __future__ import annotations

from dataclasses import fields
from itertools import chain

from langchain_core.messages import BaseMessage

from langchain_memengine.answers import (
    IndexReport,
    Stats,
)
from langchain_memengine.conversation.context import CompactionResult
from langchain_memengine.conversation.transcript import role_of, tokens_of
from langchain_memengine.faces.display.sheets import Cell, Sheet, Words, excerpt, table
from langchain_memengine.knowledge.consolidation_report import Consolidated, ConsolidationReport

_COUNTS = ("indexed", "unchanged", "removed", "chunks", "embedded", "reused", "pending", "tokens")


def index_sheets(report: IndexReport) -> tuple[Sheet, ...]:
    """Return what a sync did, and the files that were left out, or are not trusted."""
    title = "What a sync would do" if report.dry_run else "What the sync did"
    counts = [(name, str(getattr(report, name))) for name in _COUNTS]
    problems = chain(
        ((one, "skipped") for one in report.skipped), ((one, "failed") for one in report.failed)
    )
    left_out = [(kind, Words(one.path), Words(one.reason)) for one, kind in problems]
    odd = [("", Words(one.path), Words(one.reason)) for one in report.suspicious]
    done = Sheet(title, ("", ""), tuple(counts), warnings=report.degraded)
    tables = (("Left out", left_out), ("Indexed, and not trusted", odd))
    columns = ("", "file", "reason")
    return done, *(table(f"{told}: {len(rows)}", columns, rows) for told, rows in tables if rows)


def stats_sheets(stats: Stats) -> tuple[Sheet, ...]:
    """Return the size of a store."""
    rows = tuple((f.name.replace("_", " "), str(getattr(stats, f.name))) for f in fields(stats))
    return (Sheet("The store", ("", ""), rows),)


def consolidation_sheets(report: ConsolidationReport) -> tuple[Sheet, ...]:
    """Return what is no longer found and what says it all, and the lines that MEMORY.md gets."""
    counts = ", ".join(f"{number} {action}" for action, number in report.counts.items())
    others = f", {report.private} in other users' memories" if report.private else ""
    would = "Nothing was changed yet: " if report.dry_run else ""
    title = f"{would}{counts}{others}, of {report.examined} examined"
    done = table(
        title, ("", "text", "says it all", "undo"), [_entry(one) for one in report.entries]
    )
    pinned = [(Words(line),) for line in report.pinned]
    tables = [table("Lines for MEMORY.md", ("",), pinned)] if pinned else []
    return (done, *tables)


def _entry(one: Consolidated) -> list[Cell]:
    kept = Words(one.kept_place, f"{one.reason}, similarity {one.similarity:.2f}")
    return [one.action, Words(excerpt(one.text), one.place), kept, one.revision]


def compaction_sheets(result: CompactionResult) -> tuple[Sheet, ...]:
    """Return which messages went and which stayed, and the summary."""
    went, stayed = result.archived, result.messages
    title = (
        f"{len(went)} messages went, {len(stayed)} stayed · "
        f"{result.tokens_before:,} → {result.tokens_after:,} tokens"
    )
    warnings = [result.note] if result.note else []
    if result.over_limit:
        warnings.append("It is over the limit all the same.")
    summary = Sheet("Summary", ("",), ((Words(result.summary),),)) if result.summary else None
    counted = Sheet(title, warnings=tuple(warnings))
    tables = [
        table(name, ("who", "text", "tokens"), [_message(one) for one in messages])
        for name, messages in (("Went to the archive", went), ("Stayed", stayed))
        if messages
    ]
    return counted, *([summary] if summary else []), *tables


def _message(message: BaseMessage) -> list[Cell]:
    calls = getattr(message, "tool_calls", ())
    called = f"calls {', '.join(call['name'] for call in calls)}" if calls else ""
    return [str(role_of(message)), Words(excerpt(message.text), called), str(tokens_of(message))]
