"""The commands that copy a memory's database and put it back: backup, restore, migrate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from langchain_memengine.answers import as_json
from langchain_memengine.cli import options
from langchain_memengine.cli.opening import opened
from langchain_memengine.cli.terminal import bar, print_json, print_shown, say


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
    print_shown(written)


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
    print_shown(done)
    say(f"Next: memengine sync{options.root_option(root)}")


def migrate(
    source: Annotated[str, typer.Option("--from", metavar="URL", help="Database to copy.")],
    target: Annotated[str, typer.Option("--to", metavar="URL", help="An empty database.")],
    *,
    as_json_wanted: options.Json = False,
) -> None:
    """Copy every store into a database of another kind, and compare both row by row."""
    from langchain_memengine.storage.copying import copy_database

    with bar("Copying") as progress:
        done = copy_database(source, target, progress=progress)
    if as_json_wanted:
        print_json(as_json(done))
        return
    print_shown(done)
