"""The commands that answer: search, explain, recall."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from langchain_memengine.answers import (
    Explanation,
    Hit,
)
from langchain_memengine.cli import options
from langchain_memengine.cli.failing import exit_if
from langchain_memengine.cli.hits import (
    hit_as_json,
    print_hits,
    print_place,
    result_as_json,
)
from langchain_memengine.cli.opening import blank_advice, opened_fresh, warn
from langchain_memengine.cli.terminal import output, print_json, print_rows, say
from langchain_memengine.faces.display.hits import ID_DIGITS
from langchain_memengine.text.printable import clean_line
from langchain_memengine.types import Filter

if TYPE_CHECKING:
    from langchain_memengine.engine.memory_engine import MemoryEngine


Query = Annotated[str, typer.Argument(metavar="QUERY", help="What to look for.")]


def search(  # noqa: PLR0913  # every parameter is an option of the command
    query: Query,
    *,
    root: options.Root = options.DEFAULT_ROOT,
    k: options.Count = None,
    ranking: options.RankingName = None,
    path: options.PathGlob = None,
    conditions: options.Conditions = None,
    since: options.Since = None,
    until: options.Until = None,
    user: options.User = None,
    embeddings: options.Embeddings = None,
    as_json: options.Json = False,
) -> None:
    """Find memories, best first, each with a receipt that says why."""
    query = options.require_query(query)
    preset = options.require_ranking(ranking)
    wanted = options.filter_of(path, conditions, since, until)
    actor = options.actor_of(user)
    with opened_fresh(root, embeddings) as (engine, problems):
        found = engine.search(query, k, ranking=preset, filter=wanted, actor=actor)
        result = dataclasses.replace(found, degraded=(*problems, *found.degraded))
        if as_json:
            print_json(result_as_json(result))
        elif result.hits:
            print_hits(output(), result.hits, query, engine.config.language)
        else:
            say(_nothing_found(engine, root, wanted))
    warn(result.degraded)
    exit_if(result.degraded)


def explain(  # noqa: PLR0913  # every parameter is an option of the command
    query: Query,
    chunk_id: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            help="What to explain: the id of a text, the path of a file, "
            "the place of a hit, or the digits behind it.",
        ),
    ],
    *,
    root: options.Root = options.DEFAULT_ROOT,
    k: options.Count = None,
    ranking: options.RankingName = None,
    path: options.PathGlob = None,
    conditions: options.Conditions = None,
    since: options.Since = None,
    until: options.Until = None,
    user: options.User = None,
    embeddings: options.Embeddings = None,
    as_json: options.Json = False,
) -> None:
    """Say why a memory is, or is not, among the hits of a query."""
    query = options.require_query(query)
    preset = options.require_ranking(ranking)
    wanted = options.filter_of(path, conditions, since, until)
    actor = options.actor_of(user)
    with opened_fresh(root, embeddings) as (engine, problems):
        why = engine.explain(query, chunk_id.strip(), k, ranking=preset, filter=wanted, actor=actor)
        if as_json:
            shown = {f.name: getattr(why, f.name) for f in dataclasses.fields(why)}
            print_json(shown | {"hit": why.hit and hit_as_json(why.hit)})
        else:
            _print_explanation(why, query, engine.config.language)
    warn(problems)
    exit_if(problems)


def recall(  # noqa: PLR0913  # every parameter is an option of the command
    query: Query,
    *,
    root: options.Root = options.DEFAULT_ROOT,
    k: options.Count = None,
    thread: Annotated[
        str | None,
        typer.Option(
            "--thread", metavar="ID", help="Conversation; its fence stays the same all along."
        ),
    ] = None,
    max_tokens: Annotated[
        int, typer.Option("--max-tokens", min=0, help="Tokens of the hits; 0 is unlimited.")
    ] = 0,
    user: options.User = None,
    embeddings: options.Embeddings = None,
    as_json: options.Json = False,
) -> None:
    """Print what an agent should know before it answers, ready for its prompt."""
    query = options.require_query(query)
    actor = options.actor_of(user)
    with opened_fresh(root, embeddings) as (engine, problems):
        recalled = engine.recall(query, k, thread_id=thread, actor=actor, max_tokens=max_tokens)
        degraded = (*problems, *recalled.degraded)
        fragment = recalled.prompt_fragment()
        if as_json:
            print_json(
                {
                    "fragment": fragment,
                    "pinned": recalled.pinned,
                    "hits": [hit_as_json(hit) for hit in recalled.hits],
                    "degraded": list(degraded),
                }
            )
        elif fragment:
            say(fragment.rstrip("\n"))
        else:
            warn((_nothing_found(engine, root, Filter()),))
    warn(degraded)
    exit_if(degraded)


def _nothing_found(engine: MemoryEngine, root: Path, wanted: Filter) -> str:
    if not engine.stats().chunks:
        return blank_advice(root)
    if not wanted.is_empty:
        return "Nothing found within these filters. Try again without one of them."
    return "Nothing found: no word of the query occurs, and nothing is near in meaning."


def _print_explanation(why: Explanation, query: str, language: str) -> None:
    console = output()
    verdict = "It is a hit." if why.found else "It is no hit."
    style = "bold green" if why.found else "bold yellow"
    said = Text.assemble((verdict, style), " ", clean_line(why.reason))
    console.print(said, soft_wrap=not console.is_terminal)
    if why.hit is None:
        return
    console.print()
    print_place(console, why.hit, why.rank or 0, query, language)
    console.print()
    print_rows(_score_rows(why.hit))


def _score_rows(hit: Hit) -> list[tuple[str, ...]]:
    """Return the way from the legs of the search to the score, one step a row."""
    receipt = hit.receipt
    no_vector = "no embedding near enough"
    return [
        ("bm25", _number(receipt.bm25, ".3f"), _rank(receipt.keyword_rank, "no word matches")),
        ("cosine", _number(receipt.cosine, ".3f"), _rank(receipt.vector_rank, no_vector)),
        ("fused", f"{receipt.fused:.5f}", f"by the ranking {receipt.ranking}"),
        ("age", _number(receipt.age_days, ".1f", " days"), f"decay {receipt.decay:.3f}"),
        ("accesses", str(receipt.access_count), f"add {receipt.access_bonus:.5f}"),
        ("score", f"{hit.score:.5f}", ""),
        ("origin", receipt.origin, receipt.trust),
        ("id", hit.id[:ID_DIGITS], ""),
    ]


def _number(value: float | None, form: str, unit: str = "") -> str:
    return "-" if value is None else f"{value:{form}}{unit}"


def _rank(rank: int | None, otherwise: str) -> str:
    return otherwise if rank is None else f"rank {rank}"
