"""The commands that tidy up a memory: consolidate, revisions, undo."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from langchain_memengine.answers import as_json
from langchain_memengine.cli import options
from langchain_memengine.cli.opening import opened, opened_fresh, warn
from langchain_memengine.cli.terminal import bar, output, print_json, print_shown, say
from langchain_memengine.text.printable import clean

_PLACE = re.compile(r"record:(.*?)(?::\d+-\d+)?")


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
        print_shown(report)
        if dry_run:
            _print_diff(report.diff())
    warn((*problems, *report.degraded))


def revisions(
    record: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID]", help="Of a record, or its place in a hit. Default: what was done last."
        ),
    ] = None,
    *,
    limit: Annotated[
        int, typer.Option("-n", min=1, metavar="N", help="Revisions, at most, newest first.")
    ] = 50,
    root: options.Root = options.DEFAULT_ROOT,
    user: options.User = None,
    as_json_wanted: options.Json = False,
) -> None:
    """Show what was done to records and hidden texts, with the ids that `undo` takes."""
    actor = options.actor_of(user)
    with opened(root, None) as engine:
        if record is None:
            found = engine.latest_revisions(limit=limit, actor=actor)
        else:
            found = engine.revisions(_record_id(record), actor=actor)[::-1][:limit]
    if as_json_wanted:
        print_json(as_json(found))
    elif found:
        print_shown(found)
    else:
        say("Nothing was changed yet: there are no revisions.")


def undo(
    revision: Annotated[
        str,
        typer.Argument(
            metavar="REVISION", help="From `memengine revisions`, consolidate or DREAMS.md."
        ),
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


def _record_id(name: str) -> str:
    """Return the id of a record that its place in a hit, like ``record:nuts:1-1``, names."""
    place = _PLACE.fullmatch(name.strip())
    return place[1] if place else name.strip()


def _print_diff(diff: str) -> None:
    styles = {"-": "red", "+": "green", "@": "cyan"}
    for line in clean(diff).split("\n") if diff else ():
        output().print(line, style=styles.get(line[:1]), soft_wrap=True)
