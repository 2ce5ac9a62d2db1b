"""The commands on the graph: show, import, stats."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from langchain_memengine.answers import as_json
from langchain_memengine.cli import options
from langchain_memengine.cli.failing import usage_error
from langchain_memengine.cli.grouping import command_group
from langchain_memengine.cli.opening import opened
from langchain_memengine.cli.terminal import print_json, print_shown, say
from langchain_memengine.text.counting import counted

if TYPE_CHECKING:
    from langchain_memengine.storage.graph_values import GraphCounts, Subgraph

app = command_group("graph", "Look at the graph of entities and relations.")

_SHAPE = '[["Anna", "works at", "ACME"]], or what `memengine graph show --json` prints'


@app.command()
def show(
    entity: Annotated[str, typer.Argument(metavar="ENTITY", help="Name or alias of an entity.")],
    *,
    root: options.Root = options.DEFAULT_ROOT,
    hops: Annotated[
        int, typer.Option("--hops", min=1, max=6, metavar="N", help="Relations to follow.")
    ] = 1,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a picture as a page.")
    ] = None,
    svg: Annotated[
        Path | None, typer.Option("--svg", metavar="FILE", help="Write a picture as SVG.")
    ] = None,
    user: options.User = None,
    as_json_wanted: options.Json = False,
) -> None:
    """Show what is related to an entity, with the memories that say so."""
    actor = options.actor_of(user)
    with opened(root, None) as engine:
        found = engine.graph.neighbours(entity, hops, actor=actor)
        if html is not None or svg is not None:
            picture = engine.graph.picture(found, actor=actor)
            for path, drawn in ((html, picture.html), (svg, picture.svg)):
                if path is not None:
                    path.write_text(drawn, encoding="utf-8")
    if as_json_wanted:
        print_json(as_json(found))
    else:
        _print(found)
        for path in filter(None, (html, svg)):
            say(f"Written: {shlex.quote(str(path))}")


@app.command("import")
def import_triples(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="JSON file with triples.")],
    *,
    root: options.Root = options.DEFAULT_ROOT,
    evidence: Annotated[
        str, typer.Option("--evidence", metavar="ID", help="Id of the memory that says so.")
    ] = "app",
    user: options.User = None,
    as_json_wanted: options.Json = False,
) -> None:
    """Learn triples from a file, without a model."""
    triples = _read(path)
    with opened(root, None) as engine:
        count = engine.graph.add_triples(triples, evidence=evidence, actor=options.actor_of(user))
    if as_json_wanted:
        print_json({"triples": count})
    else:
        say(f"{counted(count, 'triple')} learnt.")


@app.command()
def stats(
    *,
    root: options.Root = options.DEFAULT_ROOT,
    user: options.User = None,
    as_json_wanted: options.Json = False,
) -> None:
    """Say how large the graph is."""
    with opened(root, None) as engine:
        found: GraphCounts = engine.graph.counts(actor=options.actor_of(user))
    if as_json_wanted:
        print_json(as_json(found))
        return
    print_shown(found)


def _print(found: Subgraph) -> None:
    for relation in found.relations:
        say(str(relation))
    if not found.relations:
        say("Nothing is related to it at this time.")
    if found.is_cut:
        say("There is more. Follow fewer relations to see what is near.")


def _read(path: Path) -> list[Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        usage_error(f"{shlex.quote(str(path))} cannot be read: {error.strerror or error}.")
    except (ValueError, RecursionError) as error:
        usage_error(f"{shlex.quote(str(path))} is no JSON: {error}. The right shape: {_SHAPE}")
    triples = value.get("relations") if isinstance(value, dict) else value
    if not isinstance(triples, list):
        usage_error(f"{shlex.quote(str(path))} has no list of triples. The right shape: {_SHAPE}")
    return triples
