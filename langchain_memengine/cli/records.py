"""The commands about records: forget, export, import."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from langchain_memengine.answers import as_json
from langchain_memengine.cli import options
from langchain_memengine.cli.failing import exit_if, usage_error
from langchain_memengine.cli.opening import opened
from langchain_memengine.cli.piping import read_input, write_output
from langchain_memengine.cli.terminal import (
    print_json,
    print_shown,
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
        print_shown(report)


def export(
    target: Annotated[
        Path, typer.Argument(metavar="FILE", help="Where to write; - is standard output.")
    ],
    *,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Markdown for people, not lines of JSON.")
    ] = False,
    quarantined: Annotated[
        bool, typer.Option("--quarantined", help="Also what is quarantined.")
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
        text = io.StringIO()
        report = engine.export(
            text if target == _STANDARD else target,
            format=form,
            quarantined=quarantined,
            actor=actor,
        )
    if as_json_wanted:
        print_json(as_json(report))
    elif target == _STANDARD:
        write_output(text.getvalue())
    else:
        say(f"Written to {target}.")
        print_shown(report)


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
    given = io.StringIO(read_input()) if origin == _STANDARD else origin
    with opened(root, embeddings) as engine:
        report = engine.import_(given, actor=actor)
    if as_json_wanted:
        print_json(as_json(report))
    else:
        print_shown(report)
    exit_if(report.skipped)


def _ask(source: str | None, thread: str | None, owner: str | None) -> None:
    named = {"source": source, "conversation": thread, "user": owner}
    what = next(f"the {kind} {name!r}" for kind, name in named.items() if name)
    if not sys.stdin.isatty():
        usage_error(f"This forgets {what} for good. Add --yes.")
    typer.confirm(f"Forget {clean_line(what)} for good?", abort=True, err=True)
