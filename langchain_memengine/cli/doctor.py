"""The command that checks a memory: doctor."""

from __future__ import annotations

from typing import Annotated

import typer

from langchain_memengine.answers import as_json
from langchain_memengine.cli import options
from langchain_memengine.cli.failing import exit_if
from langchain_memengine.cli.opening import opened
from langchain_memengine.cli.terminal import print_json, print_shown


def doctor(
    *,
    root: options.Root = options.DEFAULT_ROOT,
    repair: Annotated[
        bool,
        typer.Option("--repair", help="Do what each check says it would. Never to the database."),
    ] = False,
    thorough: Annotated[
        bool, typer.Option("--thorough", help="Compare every index of the database too; slow.")
    ] = False,
    embeddings: options.Embeddings = None,
    as_json_wanted: options.Json = False,
) -> None:
    """Check database, indexes, vectors, files, lock and disk, and say what a repair would do."""
    with opened(root, embeddings) as engine:
        report = engine.doctor(repair=repair, thorough=thorough)
    if as_json_wanted:
        print_json({"ok": report.ok, **as_json(report)})
    else:
        print_shown(report)
    exit_if(not report.ok)
