"""The commands about trust: audit, quarantine, release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from langchain_memengine.answers import as_json
from langchain_memengine.cli import options
from langchain_memengine.cli.failing import usage_error
from langchain_memengine.cli.opening import opened
from langchain_memengine.cli.terminal import print_json, print_shown, say
from langchain_memengine.text.counting import counted

if TYPE_CHECKING:
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
    print_shown(report)


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
