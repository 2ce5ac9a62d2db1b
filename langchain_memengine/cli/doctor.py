"""The command that checks a memory: doctor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from langchain_memengine.answers import as_json
from langchain_memengine.cli import options
from langchain_memengine.cli.failing import exit_if
from langchain_memengine.cli.opening import opened
from langchain_memengine.cli.terminal import output, print_json
from langchain_memengine.text.printable import clean_line

if TYPE_CHECKING:
    from langchain_memengine.retrieval.diagnosis import Check, DoctorReport

_STYLES = {"ok": "green", "warning": "yellow", "failed": "bold red"}


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
        _print(report)
    exit_if(not report.ok)


def _print(report: DoctorReport) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0))
    for title in ("check", "status", "found"):
        table.add_column(title, header_style="dim", overflow="fold")
    for check in report.checks:
        table.add_row(
            clean_line(check.name),
            Text(_status(check), _STYLES[check.status]),
            clean_line(_found(check)),
        )
    output().print(table)


def _status(check: Check) -> str:
    return f"{check.status}, repaired" if check.repaired else check.status


def _found(check: Check) -> str:
    return f"{check.found} → {check.repair}" if check.repair else check.found
