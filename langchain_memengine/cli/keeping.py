"""The commands that keep a memory: init, add, sync, stats."""

from __future__ import annotations

import dataclasses
import shlex
from pathlib import Path
from typing import Annotated

import typer

from langchain_memengine.answers import (
    FileProblem,
    IndexReport,
    Stats,
    as_json,
)
from langchain_memengine.cli import options
from langchain_memengine.cli.failing import exit_if, usage_error
from langchain_memengine.cli.opening import opened, opened_fresh, warn
from langchain_memengine.cli.piping import read_input
from langchain_memengine.cli.terminal import (
    bar,
    counted,
    output,
    print_json,
    print_rows,
    say,
)
from langchain_memengine.text.printable import clean_line

_MAX_PROBLEMS = 20


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
    at = "" if chosen == options.DEFAULT_ROOT else f" --root {name}"
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
        _print_report(report)
    warn(report.degraded)
    exit_if(partial)


def stats(
    *,
    root: options.Root = options.DEFAULT_ROOT,
    embeddings: options.Embeddings = None,
    as_json_wanted: options.Json = False,
) -> None:
    """Show how much is remembered, over all users."""
    with opened_fresh(root, embeddings) as (engine, problems):
        found = engine.stats()
        ranking, language = engine.config.ranking.name, engine.config.language
    if as_json_wanted:
        print_json({"root": str(root), **as_json(found), "ranking": ranking, "language": language})
    else:
        share = f" of {found.chunks} chunks" if found.embedding_model else ""
        print_rows(
            [
                ("root", str(root)),
                ("files", str(found.files)),
                ("chunks", str(found.chunks)),
                ("embeddings", f"{found.embeddings}{share}"),
                ("model", found.embedding_model or "none: keyword search only"),
                ("ranking", ranking),
                ("language", language),
                ("changes", str(found.change_counter)),
                *_job_rows(found),
            ]
        )
    warn(problems)
    exit_if(problems)


def _job_rows(found: Stats) -> list[tuple[str, str]]:
    """Return rows about jobs and refused texts, for what there is of them."""
    waiting = f"{found.jobs_ready} ready, {found.jobs_running} running, {found.jobs_dead} dead"
    rows = [
        ("refused", counted(found.refused, "text") if found.refused else ""),
        ("jobs", waiting if found.jobs_ready + found.jobs_running + found.jobs_dead else ""),
        ("not done here", counted(found.jobs_unknown, "job") if found.jobs_unknown else ""),
    ]
    return [(name, value) for name, value in rows if value]


def _print_report(report: IndexReport) -> None:
    would = "would be " if report.dry_run else ""
    rows = [
        (
            f"{would}indexed",
            f"{counted(report.indexed, 'file')}, {counted(report.chunks, 'chunk')}",
        ),
        ("unchanged", counted(report.unchanged, "file")),
        (f"{would}removed", counted(report.removed, "file")),
        (f"{would}embedded", f"{counted(report.embedded, 'text')}, about {report.tokens} tokens"),
        ("reused", counted(report.reused, "embedding")),
        ("without embedding", counted(report.pending, "chunk") if report.pending else ""),
        ("skipped", counted(len(report.skipped), "file") if report.skipped else ""),
        ("failed", counted(len(report.failed), "file") if report.failed else ""),
        ("suspicious", counted(len(report.suspicious), "file") if report.suspicious else ""),
    ]
    print_rows([(name, value) for name, value in rows if value])
    _print_problems("skipped", report.skipped)
    _print_problems("failed", report.failed)
    _print_problems("suspicious", report.suspicious)


def _print_problems(kind: str, problems: tuple[FileProblem, ...]) -> None:
    console = output()
    for problem in problems[:_MAX_PROBLEMS]:
        line = f"{kind}  {clean_line(problem.path)}: {clean_line(problem.reason)}"
        console.print(line, soft_wrap=True)
    if len(problems) > _MAX_PROBLEMS:
        console.print(f"{kind}  and {len(problems) - _MAX_PROBLEMS} more; --json lists all")
