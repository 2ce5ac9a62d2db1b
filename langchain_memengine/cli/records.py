"""The commands about records: forget, export, import, audit."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.table import Table

from langchain_memengine.answers import (
    ForgetReport,
    as_json,
)
from langchain_memengine.cli import options
from langchain_memengine.cli.failing import exit_if, usage_error
from langchain_memengine.cli.opening import opened
from langchain_memengine.cli.terminal import (
    counted,
    output,
    print_json,
    print_rows,
    say,
)
from langchain_memengine.text.printable import clean_line

_STANDARD = Path("-")


def forget(  # noqa: PLR0913  # every parameter is an option of the command
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="ID", help="Of records or added texts.")
    ] = None,
    *,
    source: Annotated[
        str | None,
        typer.Option("--source", metavar="URI", help="What is of this source; * ends a prefix."),
    ] = None,
    thread: Annotated[
        str | None, typer.Option("--thread", metavar="ID", help="All of this conversation.")
    ] = None,
    owner: Annotated[
        str | None, typer.Option("--owner", metavar="ID", help="All that is this user's.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    root: options.Root = options.DEFAULT_ROOT,
    user: options.User = None,
    as_json_wanted: options.Json = False,
) -> None:
    """Forget for good, everywhere the engine keeps it; say where else it may be."""
    given = [one for one in (ids, source, thread, owner) if one]
    if len(given) != 1:
        usage_error("Give ids, --source, --thread or --owner: one of them.")
    if not (ids or yes):
        _ask(source, thread, owner)
    actor = options.actor_of(user)
    with opened(root, None) as engine:
        report = engine.forget(ids or None, source=source, thread=thread, owner=owner, actor=actor)
    if as_json_wanted:
        print_json({**as_json(report), "total": report.total})
    else:
        _print_forgotten(report)


def export(
    target: Annotated[
        Path, typer.Argument(metavar="FILE", help="Where to write; - is standard output.")
    ],
    *,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Markdown for people, not lines of JSON.")
    ] = False,
    root: options.Root = options.DEFAULT_ROOT,
    user: options.User = None,
    as_json_wanted: options.Json = False,
) -> None:
    """Write everything a user may read to a file."""
    if as_json_wanted and target == _STANDARD:
        usage_error("--json prints counts where - prints the export. Give one of them.")
    form: Literal["jsonl", "markdown"] = "markdown" if markdown else "jsonl"
    actor = options.actor_of(user)
    with opened(root, None) as engine:
        found = engine.export(
            sys.stdout if target == _STANDARD else target, format=form, actor=actor
        )
    if as_json_wanted:
        print_json(found)
    elif target != _STANDARD:
        say(f"Written to {target}: {_list(found)}.")


def import_(
    origin: Annotated[Path, typer.Argument(metavar="FILE", help="An export; - is standard input.")],
    *,
    root: options.Root = options.DEFAULT_ROOT,
    user: options.User = None,
    embeddings: options.Embeddings = None,
    as_json_wanted: options.Json = False,
) -> None:
    """Take in an export of memengine, mem0 or ChatGPT; twice is once."""
    actor = options.actor_of(user)
    with opened(root, embeddings) as engine:
        report = engine.import_(sys.stdin if origin == _STANDARD else origin, actor=actor)
    if as_json_wanted:
        print_json(as_json(report))
    else:
        rows = [
            ("imported", _list(report.imported)),
            ("unchanged", _list(report.unchanged)),
            *(("skipped", f"{number}: {why}") for why, number in report.skipped.items()),
        ]
        print_rows(rows)
    exit_if(report.skipped)


def audit(
    *,
    root: options.Root = options.DEFAULT_ROOT,
    user: options.User = None,
    as_json_wanted: options.Json = False,
) -> None:
    """Show how many records there are by scope, owner, origin and trust: who wrote what."""
    actor = options.actor_of(user)
    with opened(root, None) as engine:
        found = engine.audit(actor=actor)
    if as_json_wanted:
        print_json(as_json(found))
        return
    if not found:
        say("There are no records.")
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("scope", "owner", "origin", "trust", "first", "last"):
        table.add_column(name)
    table.add_column("records", justify="right")
    for one in found:
        days = (f"{at:%Y-%m-%d}" for at in (one.first_at, one.last_at))
        table.add_row(
            one.scope, clean_line(one.owner), one.origin, one.trust, *days, str(one.records)
        )
    output().print(table)


def _ask(source: str | None, thread: str | None, owner: str | None) -> None:
    named = {"source": source, "conversation": thread, "user": owner}
    what = next(f"the {kind} {name!r}" for kind, name in named.items() if name)
    if not sys.stdin.isatty():
        usage_error(f"This forgets {what} for good. Add --yes.")
    typer.confirm(f"Forget {clean_line(what)} for good?", abort=True, err=True)


def _print_forgotten(report: ForgetReport) -> None:
    if report.total:
        print_rows([(kind, str(number)) for kind, number in report.removed.items()])
    else:
        say("There was nothing to forget.")
    say("Out of reach:")
    for line in report.out_of_reach:
        say(f"  {line}")


def _list(found: Mapping[str, int]) -> str:
    return ", ".join(counted(n, kind.removesuffix("s")) for kind, n in found.items()) or "nothing"
