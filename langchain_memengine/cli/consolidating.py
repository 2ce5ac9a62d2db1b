"""The commands that tidy up a memory: consolidate, undo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from langchain_memengine.answers import as_json
from langchain_memengine.cli import options
from langchain_memengine.cli.opening import opened, opened_fresh, warn
from langchain_memengine.cli.terminal import bar, counted, output, print_json, say
from langchain_memengine.text.printable import clean

if TYPE_CHECKING:
    from langchain_memengine.knowledge.consolidation_report import ConsolidationReport


def consolidate(
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Change nothing; show what would be, as a diff.")
    ] = False,
    fold: Annotated[
        bool, typer.Option("--fold", help="Also pin old records and decisions in MEMORY.md.")
    ] = False,
    root: options.Root = options.DEFAULT_ROOT,
    user: options.User = None,
    embeddings: options.Embeddings = None,
    as_json_wanted: options.Json = False,
) -> None:
    """Hide and merge what is remembered twice; the digest is in DREAMS.md."""
    actor = options.actor_of(user)
    with opened_fresh(root, embeddings) as (engine, problems), bar("Consolidating") as progress:
        report = engine.consolidate(
            actor=actor, dry_run=dry_run, fold=fold, progress=progress or False
        )
    if as_json_wanted:
        diff = {"diff": report.diff()} if dry_run else {}
        print_json({**report.counts, **as_json(report), **diff})
    else:
        _print_report(report)
    warn((*problems, *report.degraded))


def undo(
    revision: Annotated[
        str, typer.Argument(metavar="REVISION", help="From consolidate, DREAMS.md or an export.")
    ],
    *,
    root: options.Root = options.DEFAULT_ROOT,
    user: options.User = None,
    as_json_wanted: options.Json = False,
) -> None:
    """Make a record, or a hidden text, what it was before a revision."""
    actor = options.actor_of(user)
    with opened(root, None) as engine:
        record = engine.undo(revision, actor=actor)
    if as_json_wanted:
        print_json({"revision": revision, "record": as_json(record)})
    elif record is None:
        say("Undone.")
    else:
        say(f"Undone; the record {record.id} is: {record.text}")


def _print_report(report: ConsolidationReport) -> None:
    verb = "would be " if report.dry_run else ""
    done = ", ".join(f"{number} {verb}{action}" for action, number in report.counts.items())
    say(f"{done}; {counted(report.examined, 'text')} examined.")
    if report.private:
        say(f"{report.private} more in other users' memories; their DREAMS.md tells which.")
    if report.no_room:
        say(f"{report.no_room} not folded: MEMORY.md is as long as a recall shows it.")
    if report.dry_run:
        _print_diff(report.diff())
        return
    for one in report.entries:
        say(f"  {one}")


def _print_diff(diff: str) -> None:
    styles = {"-": "red", "+": "green", "@": "cyan"}
    for line in clean(diff).split("\n") if diff else ():
        output().print(line, style=styles.get(line[:1]), soft_wrap=True)
