"""The commands about trust: audit, quarantine, release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from langchain_memengine.answers import as_json
from langchain_memengine.cli import options
from langchain_memengine.cli.failing import usage_error
from langchain_memengine.cli.opening import opened
from langchain_memengine.cli.terminal import counted, output, print_json, say
from langchain_memengine.text.printable import clean_line

if TYPE_CHECKING:
    from langchain_memengine.storage.auditing import AuditReport
    from langchain_memengine.storage.record_values import Quarantine

Ids = Annotated[
    list[str] | None, typer.Argument(metavar="[ID]...", help="Of records or added texts.")
]
Source = Annotated[
    str | None,
    typer.Option("--source", metavar="URI", help="What is of this source; * ends a prefix."),
]


def audit(
    *,
    root: options.Root = options.DEFAULT_ROOT,
    user: options.User = None,
    as_json_wanted: options.Json = False,
) -> None:
    """Show who wrote what, how far it is trusted, what is quarantined and what was redacted."""
    actor = options.actor_of(user)
    with opened(root, None) as engine:
        report = engine.audit(actor=actor)
    if as_json_wanted:
        print_json(as_json(report))
        return
    _print_records(report)
    _print_chunks(report)
    _print_quarantined(report.quarantined)
    for kind, number in report.redacted.items():
        say(f"Secrets were taken out of {counted(number, kind.removesuffix('s'))}.")


def quarantine(
    ids: Ids = None,
    *,
    source: Source = None,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why.")] = "",
    root: options.Root = options.DEFAULT_ROOT,
    user: options.User = None,
    as_json_wanted: options.Json = False,
) -> None:
    """Set memory aside: nothing finds it until it is released."""
    _require_one(ids, source)
    actor = options.actor_of(user)
    with opened(root, None) as engine:
        found = engine.quarantine(ids or None, source=source, reason=reason, actor=actor)
    _print_done(found, "quarantined", as_json_wanted=as_json_wanted)


def release(
    ids: Ids = None,
    *,
    source: Source = None,
    root: options.Root = options.DEFAULT_ROOT,
    user: options.User = None,
    as_json_wanted: options.Json = False,
) -> None:
    """Take back memory that was quarantined."""
    _require_one(ids, source)
    actor = options.actor_of(user)
    with opened(root, None) as engine:
        found = engine.release(ids or None, source=source, actor=actor)
    _print_done(found, "released", as_json_wanted=as_json_wanted)


def _require_one(ids: Sequence[str] | None, source: str | None) -> None:
    if bool(ids) == bool(source):
        usage_error("Give ids or --source: one of them.")


def _print_done(found: Sequence[Quarantine], done: str, *, as_json_wanted: bool) -> None:
    if as_json_wanted:
        print_json(as_json(found))
    else:
        say(f"{counted(len(found), 'source')} {done}.")


def _print_records(report: AuditReport) -> None:
    if not report.records:
        say("There are no records.")
        return
    table = _table("scope", "owner", "origin", "trust", "first", "last", number="records")
    for one in report.records:
        days = (f"{at:%Y-%m-%d}" for at in (one.first_at, one.last_at))
        table.add_row(
            one.scope, clean_line(one.owner), one.origin, one.trust, *days, str(one.records)
        )
    output().print(table)


def _print_chunks(report: AuditReport) -> None:
    if report.chunks:
        table = _table("origin", "trust", number="chunks")
        for one in report.chunks:
            table.add_row(one.origin, one.trust, str(one.chunks))
        output().print(table)


def _print_quarantined(found: Sequence[Quarantine]) -> None:
    if found:
        say("Quarantined:")
    for one in found:
        who = clean_line(one.by) or "memengine"
        line = f"  {clean_line(one.source)}  {one.at:%Y-%m-%d} by {who}  {clean_line(one.reason)}"
        output().print(line.rstrip(), soft_wrap=True, markup=False)


def _table(*names: str, number: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in names:
        table.add_column(name)
    table.add_column(number, justify="right")
    return table
