"""The command that indexes files as they change: watch."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from rich.live import Live
from rich.table import Table
from rich.text import Text

from langchain_memengine.answers import (
    IndexReport,
    as_json,
)
from langchain_memengine.cli import options
from langchain_memengine.cli.opening import opened, warn
from langchain_memengine.cli.stopping import stopped_by_signals
from langchain_memengine.cli.terminal import output, print_json, say
from langchain_memengine.text.counting import counted
from langchain_memengine.text.printable import clean_line

if TYPE_CHECKING:
    from langchain_memengine.engine.memory_engine import MemoryEngine
    from langchain_memengine.workspace.watcher import WatchState

_REFRESH_SECONDS = 0.25
_MAX_PROBLEMS = 5


def watch(
    *,
    root: options.Root = options.DEFAULT_ROOT,
    embeddings: options.Embeddings = None,
    as_json_wanted: options.Json = False,
) -> None:
    """Index files as they change, until Ctrl+C; with --json one line a sync."""
    is_live = output().is_terminal and not as_json_wanted
    syncs: list[tuple[datetime, IndexReport]] = []

    def note(report: IndexReport) -> None:
        syncs[:] = [(datetime.now(UTC), report)]
        if not is_live:
            _print_sync(*syncs[0], as_json_wanted=as_json_wanted)

    with opened(root, embeddings) as engine, stopped_by_signals() as stop:
        if not is_live and not as_json_wanted:
            say(f"Watching {clean_line(str(root))}. Ctrl+C ends.")
        with engine.watch(on_sync=note):
            if is_live:
                _show(engine, root, syncs, stop)
            else:
                stop.wait()


def view(root: Path, state: WatchState, last: tuple[datetime, IndexReport] | None) -> Table:
    """Return what the live view shows."""
    from langchain_memengine.faces.display.upkeep import watch_rows

    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim")
    table.add_column()
    rows = [("root", clean_line(str(root))), *watch_rows(state)]
    if last is not None:
        rows.append(("last sync", f"{last[0].astimezone():%H:%M:%S}  {summary(last[1])}"))
    for name, value in rows:
        table.add_row(name, Text(value))
    for problem in problems(last[1]) if last is not None else ():
        table.add_row("problem", Text(clean_line(problem), "yellow"))
    table.add_row("", Text("Ctrl+C ends.", "dim"))
    return table


def summary(report: IndexReport) -> str:
    """Return what a sync did, in one line."""
    done = f"{counted(report.indexed, 'file')} indexed, {report.removed:,} removed"
    return f"{done}, {counted(report.embedded, 'text')} embedded, {report.reused:,} reused"


def problems(report: IndexReport) -> tuple[str, ...]:
    """Return the problems of a sync in words, the first few of them."""
    found = [*report.degraded, *(f"{each.path}: {each.reason}" for each in report.failed)]
    more = len(found) - _MAX_PROBLEMS
    return (*found[:_MAX_PROBLEMS], *([f"and {more} more; --json lists all"] if more > 0 else ()))


def _print_sync(at: datetime, report: IndexReport, *, as_json_wanted: bool) -> None:
    if as_json_wanted:
        values = {"at": at.isoformat(), **as_json(report), "complete": report.complete}
        print_json(values, indent=None)
    else:
        say(f"{at.astimezone():%H:%M:%S}  {summary(report)}")
        warn(problems(report))


def _show(
    engine: MemoryEngine,
    root: Path,
    syncs: list[tuple[datetime, IndexReport]],
    stop: threading.Event,
) -> None:
    """Show the state in place until stopped."""
    with Live(console=output(), auto_refresh=False) as live:
        while not stop.wait(_REFRESH_SECONDS):
            last = syncs[0] if syncs else None
            live.update(view(root, engine.watch_state(), last), refresh=True)
