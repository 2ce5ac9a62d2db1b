"""The commands about experiences: list, stats, prune and export."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from langchain_memengine.answers import as_json
from langchain_memengine.cli import options
from langchain_memengine.cli.failing import usage_error
from langchain_memengine.cli.grouping import command_group
from langchain_memengine.cli.opening import opened
from langchain_memengine.cli.terminal import print_json, print_shown, say
from langchain_memengine.text.counting import counted

if TYPE_CHECKING:
    from langchain_memengine.storage.experience_values import ExperienceKind

app = command_group("experiences", "See, clear out and move what agents learnt.")


@app.command("list")
def list_experiences(
    *,
    kind: Annotated[
        str | None,
        typer.Option(
            "--kind",
            metavar="KIND",
            help="tool_chain, user_preference, task_solution or error_recovery.",
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option("-n", min=1, metavar="N", help="Experiences, at most, newest first.")
    ] = 50,
    user: options.User = None,
    root: options.Root = options.DEFAULT_ROOT,
    as_json_wanted: options.Json = False,
) -> None:
    """Show a user's and everyone's experiences, newest first."""
    wanted = _kind(kind)
    with opened(root, None) as engine:
        found = engine.experiences.latest(wanted, limit=limit, user=user)
    if as_json_wanted:
        print_json(as_json(found))
    elif found:
        print_shown(found)
    else:
        say("There are no experiences.")


@app.command()
def stats(
    *, root: options.Root = options.DEFAULT_ROOT, as_json_wanted: options.Json = False
) -> None:
    """Show how much was learnt, over all users."""
    with opened(root, None) as engine:
        found = engine.experiences.stats()
    if as_json_wanted:
        print_json(as_json(found))
        return
    print_shown(found)


@app.command()
def prune(
    *,
    min_weight: Annotated[
        float, typer.Option("--min-weight", min=0, metavar="W", help="What weighs less goes.")
    ] = 0.05,
    half_life_days: Annotated[
        float, typer.Option("--half-life", metavar="DAYS", help="After so many days weight halves.")
    ] = 30.0,
    root: options.Root = options.DEFAULT_ROOT,
    as_json_wanted: options.Json = False,
) -> None:
    """Let unused experiences of all users age, and remove those that weigh too little."""
    with opened(root, None) as engine:
        aged = engine.experiences.apply_decay(half_life_days)
        removed = engine.experiences.prune_expired(min_weight)
    if as_json_wanted:
        print_json({"aged": aged, "removed": removed})
    else:
        say(f"{counted(aged, 'experience')} aged, {removed:,} removed.")


@app.command()
def export(*, user: options.User = None, root: options.Root = options.DEFAULT_ROOT) -> None:
    """Print a user's and everyone's experiences as JSON, as the engine can import it."""
    with opened(root, None) as engine:
        print_json(json.loads(engine.experiences.export_json(user=user)))


def _kind(name: str | None) -> ExperienceKind | None:
    from langchain_memengine.storage.experience_values import EXPERIENCE_KINDS

    for kind in EXPERIENCE_KINDS:
        if kind == name:
            return kind
    if name is not None:
        usage_error(f"--kind {name} is no kind. Use one of: {', '.join(EXPERIENCE_KINDS)}.")
    return None
