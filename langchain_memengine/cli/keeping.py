"""The commands that keep a memory: init, add, sync, stats."""

from __future__ import annotations

import dataclasses
import shlex
from pathlib import Path
from typing import Annotated

import typer

from langchain_memengine.answers import IndexReport, as_json
from langchain_memengine.cli import options
from langchain_memengine.cli.failing import exit_if, usage_error
from langchain_memengine.cli.opening import blank_advice, opened, opened_fresh, warn
from langchain_memengine.cli.piping import read_input
from langchain_memengine.cli.terminal import (
    bar,
    print_json,
    print_rows,
    print_shown,
    say,
)


def init(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="DIR", help="Folder to use; default: that of --root."),
    ] = None,
    *,
    root: options.Root = options.DEFAULT_ROOT,
    as_json_wanted: options.Json = False,
) -> None:
    """Make a folder a memory. Files that are there stay as they are."""
    from langchain_memengine.workspace.blank_memory import BLANK_MEMORY
    from langchain_memengine.workspace.files import write_atomic
    from langchain_memengine.workspace.layout import Layout

    chosen = (folder or root).expanduser()
    if chosen.exists() and not chosen.is_dir():
        usage_error(f"{shlex.quote(str(chosen))} is a file, not a folder. Name a folder.")
    layout = Layout(chosen)
    layout.create()
    path = layout.memory_path
    is_new = not path.exists()
    if is_new:
        write_atomic(path, BLANK_MEMORY)
    if as_json_wanted:
        print_json({"root": str(chosen), "created": [layout.name(path)] if is_new else []})
        return
    name = shlex.quote(str(chosen))
    at = options.root_option(chosen)
    pinned = f"{path.name} is for pinned facts." if is_new else f"Your {path.name} is kept."
    say(
        f"{name} is a memory now. {pinned} Next:\n"
        f'  memengine add "Deploys happen on Tuesdays."{at}\n'
        f"  memengine sync{at}\n"
        f'  memengine search "when do we deploy?"{at}'
    )


def add(  # noqa: PLR0913  # every parameter is an option of the command
    text: Annotated[
        list[str],
        typer.Argument(metavar="TEXT", help="Words to remember; - reads standard input."),
    ],
    *,
    document_id: Annotated[
        str | None, typer.Option("--id", help="Id of the text; the same id replaces it.")
    ] = None,
    meta: Annotated[
        list[str] | None,
        typer.Option("--meta", metavar="KEY=VALUE", help="A value to filter by; repeat it."),
    ] = None,
    daily: Annotated[
        str | None,
        typer.Option("--daily", metavar="STAGE", help="Append to today's log, under this title."),
    ] = None,
    root: options.Root = options.DEFAULT_ROOT,
    user: options.User = None,
    embeddings: options.Embeddings = None,
    as_json_wanted: options.Json = False,
) -> None:
    """Remember a text: the words of one call are one memory."""
    words = read_input() if text == ["-"] else " ".join(text)
    if not words.strip():
        usage_error("There is nothing to remember. Give a text, or - and standard input.")
    metadata = dict(options.key_values(meta or (), "--meta"))
    actor = options.actor_of(user)
    if daily is not None and (document_id is not None or metadata):
        usage_error("--daily writes to the log, where --id and --meta have no place. Leave it out.")
    with opened(root, embeddings) as engine:
        if daily is not None:
            kept = {"path": engine.append_daily(daily, words, owner=user or "")}
        else:
            kept = {"id": engine.add_texts([words], [metadata], ids=[document_id], actor=actor)[0]}
    if as_json_wanted:
        print_json(kept)
    else:
        say("Written to " + kept["path"] if daily is not None else "Remembered as " + kept["id"])


def sync(
    *,
    root: options.Root = options.DEFAULT_ROOT,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only count; nothing is embedded or written.")
    ] = False,
    reembed: Annotated[
        bool, typer.Option("--reembed", help="Embed all texts again, after the model was changed.")
    ] = False,
    embeddings: options.Embeddings = None,
    as_json_wanted: options.Json = False,
) -> None:
    """Index the files that changed and report what was done and what was left out."""
    if dry_run and reembed:
        usage_error("--dry-run and --reembed exclude each other. Give one of them.")
    with opened(root, embeddings) as engine:
        again = IndexReport()
        if reembed:
            with bar("Embedding") as progress:
                again = engine.reembed(progress=progress or False)
        with bar("Indexing") as progress:
            report = engine.sync(dry_run=dry_run, progress=progress or False)
    report = dataclasses.replace(
        report,
        embedded=again.embedded + report.embedded,
        tokens=again.tokens + report.tokens,
        degraded=tuple(dict.fromkeys((*again.degraded, *report.degraded))),
    )
    partial = bool(report.failed or report.degraded) or not (dry_run or report.complete)
    if as_json_wanted:
        print_json({**as_json(report), "complete": report.complete})
    else:
        print_shown(report)
    warn(report.degraded)
    exit_if(partial)


def stats(
    *,
    root: options.Root = options.DEFAULT_ROOT,
    embeddings: options.Embeddings = None,
    as_json_wanted: options.Json = False,
) -> None:
    """Show how much is remembered, over all users."""
    from langchain_memengine.faces.display.reports import stats_rows

    with opened_fresh(root, embeddings) as (engine, problems):
        found = engine.stats()
        ranking, language = engine.config.ranking.name, engine.config.language
    if as_json_wanted:
        print_json({"root": str(root), **as_json(found), "ranking": ranking, "language": language})
    else:
        print_rows(
            [
                ("root", str(root)),
                *stats_rows(found),
                ("ranking", ranking),
                ("language", language),
            ]
        )
        if not found.chunks:
            say(blank_advice(root))
    warn(problems)
    exit_if(problems)
