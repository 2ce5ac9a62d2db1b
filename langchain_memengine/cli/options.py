"""The options that commands share, and what their texts mean."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from langchain_memengine.cli.failing import usage_error
from langchain_memengine.text.sanitize import clean_text
from langchain_memengine.types import (
    Actor,
    Filter,
)

DEFAULT_ROOT = Path("memory")

Root = Annotated[
    Path,
    typer.Option(
        "--root", metavar="DIR", envvar="MEMENGINE_ROOT", help="Folder that holds the memory."
    ),
]
Embeddings = Annotated[
    str | None,
    typer.Option(
        "--embeddings",
        metavar="NAME",
        help="local, local:minilm, openai:MODEL, google_genai:MODEL, ollama:MODEL or none; "
        "default: as the settings say.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
User = Annotated[
    str | None,
    typer.Option(
        "--user",
        metavar="ID",
        help="Act as this user: what is theirs is seen and written too. "
        "Default: the owner of the machine.",
    ),
]
Count = Annotated[
    int | None,
    typer.Option("-k", min=1, metavar="N", help="Hits, at most; default: the ranking's own."),
]
RankingName = Annotated[
    str | None,
    typer.Option("--ranking", metavar="PRESET", help="balanced, rrf, goclaw, decsr or profclaw."),
]
PathGlob = Annotated[
    str | None,
    typer.Option("--path", metavar="GLOB", help="Only files like this: 'daily/**'."),
]
Conditions = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        metavar="KEY=VALUE",
        help="Only texts with this metadata. Repeat it: other keys must hold too, "
        "the same key may have either value.",
    ),
]
Since = Annotated[
    str | None,
    typer.Option("--since", metavar="DATE", help="Only what happened from this day (UTC) on."),
]
Until = Annotated[
    str | None,
    typer.Option("--until", metavar="DATE", help="Only what happened before this day (UTC)."),
]


def root_option(root: Path) -> str:
    """Return how another command names the same memory, ``""`` if it is the default one."""
    return "" if root == DEFAULT_ROOT else f" --root {shlex.quote(str(root))}"


def actor_of(user: str | None) -> Actor | None:
    """Return the actor of ``--user``; ``None`` stands for the engine's default, the owner."""
    if user is None:
        return None
    return Actor(user) if user.strip() else usage_error("--user is empty. Give the user's id.")


def require_query(query: str) -> str:
    """Return a query that asks something, without what no embedder takes (invalid bytes).

    Raises:
        UsageProblem: It is blank.
    """
    if not query.strip():
        usage_error("The query is empty. Say what to look for.")
    return clean_text(query)


def require_ranking(name: str | None) -> str | None:
    """Return the name of a ranking preset that exists, before anything is opened.

    Raises:
        ConfigurationError: There is no such preset.
    """
    from langchain_memengine.rankings import ranking_named

    return None if name is None else ranking_named(name).name


def filter_of(
    path: str | None, conditions: Iterable[str] | None, since: str | None, until: str | None
) -> Filter:
    """Return what ``--path``, ``--filter``, ``--since`` and ``--until`` leave.

    Raises:
        UsageProblem: A condition is no KEY=VALUE, or a date is none.
    """
    wanted: dict[str, list[Any]] = {}
    for key, value in key_values(conditions or (), "--filter"):
        wanted.setdefault(key, []).append(value)
    metadata = {k: {"$in": v} if len(v) > 1 else v[0] for k, v in wanted.items()}
    return Filter(
        path=path,
        metadata=metadata,
        since=_moment(since, "--since"),
        until=_moment(until, "--until"),
    )


def key_values(pairs: Iterable[str], option: str) -> list[tuple[str, Any]]:
    """Return KEY=VALUE texts as pairs.

    A value that JSON reads as a number, a truth value or a quoted text is that, as in front
    matter; any other value is text.

    Raises:
        UsageProblem: One has no ``=``, or nothing before it.
    """
    found = []
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not (key.strip() and equals):
            usage_error(f"{option} {shlex.quote(pair)} is no KEY=VALUE. Write {option} team=core.")
        found.append((key.strip(), _scalar(value)))
    return found


def _scalar(text: str) -> Any:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    is_number = isinstance(value, int | float) and math.isfinite(value)  # JSON has no NaN
    return value if is_number or isinstance(value, str) else text


def _moment(text: str | None, option: str) -> datetime | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        usage_error(f"{option} {shlex.quote(text)} is no date. Write it like 2026-05-19.")
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
