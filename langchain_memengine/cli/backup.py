"""The commands that copy a memory's database and put it back: backup, restore."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from langchain_memengine.answers import (
    as_json,
)
from langchain_memengine.cli import options
from langchain_memengine.cli.opening import opened
from langchain_memengine.cli.terminal import counted, print_json, say

_NOT_IN_IT = (
    "Markdown files are not in it: they are yours to back up, as any folder of files "
    "(Git does it well)."
)


def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File to write.")],
    *,
    root: options.Root = options.DEFAULT_ROOT,
    force: Annotated[bool, typer.Option("--force", help="Replace FILE if it exists.")] = False,
    as_json_wanted: options.Json = False,
) -> None:
    """Copy the database to one file, verified, while others go on reading and writing."""
    with opened(root, "none") as engine:
        written = engine.backup(file, force=force)
    if as_json_wanted:
        print_json({**as_json(written), "path": str(written.path)})
        return
    say(f"Wrote {written.path}: {counted(written.chunks, 'chunk')}, {written.size} bytes.")
    say(_NOT_IN_IT)


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `backup` wrote.")],
    *,
    root: options.Root = options.DEFAULT_ROOT,
    as_json_wanted: options.Json = False,
) -> None:
    """Put a backup in the database's place; the database before it is kept beside it."""
    from langchain_memengine.engine.restoring import restore as put_back

    done = put_back(file, root)
    if as_json_wanted:
        before = None if done.before is None else str(done.before)
        print_json({"database": str(done.database), "before": before, "chunks": done.chunks})
        return
    say(f"{done.database} is the backup now: {counted(done.chunks, 'chunk')}.")
    if done.before is not None:
        say(f"The database before it is kept as {done.before}; remove it when you are sure.")
    say("Markdown files are as they were. Next: memengine sync")
