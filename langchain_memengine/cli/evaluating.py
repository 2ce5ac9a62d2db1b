"""The command that measures how well a memory finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.table import Table
from rich.text import Text

from langchain_memengine.cli import options
from langchain_memengine.cli.failing import exit_if
from langchain_memengine.cli.opening import opened_fresh, warn
from langchain_memengine.cli.terminal import bar, output, print_json, say
from langchain_memengine.text.counting import counted
from langchain_memengine.text.printable import clean_line

if TYPE_CHECKING:
    from langchain_memengine.evaluation.datasets import Dataset
    from langchain_memengine.evaluation.metrics import Paired
    from langchain_memengine.evaluation.results import Evaluation, Figures

_TITLES = {"ndcg@10": "NDCG@10", "mrr": "MRR"}
_BY_CATEGORY = ("recall@10", "ndcg@10")
_SMALLEST_P = 0.0001


def evaluate(  # noqa: PLR0913  # every parameter is an option of the command
    path: Annotated[Path, typer.Argument(metavar="PATH", help="JSON file with the questions.")],
    *,
    kind: Annotated[
        str,
        typer.Option(
            "--dataset",
            metavar="KIND",
            help="Shape of the file: file (your own), locomo, cranfield, xquad or musique.",
        ),
    ] = "file",
    root: options.Root = options.DEFAULT_ROOT,
    ranking: options.RankingName = None,
    embeddings: options.Embeddings = None,
    baselines: Annotated[
        bool, typer.Option("--baselines", help="Compare with plain retrievers, and test it.")
    ] = False,
    graph: Annotated[
        bool, typer.Option("--graph", help="Follow the graph, and compare with not doing so.")
    ] = False,
    graph_names: Annotated[
        bool,
        typer.Option(
            "--graph-names",
            help="The same with a graph of the names in the documents, made without a model.",
        ),
    ] = False,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit", min=1, metavar="N", help="Only the first N questions of a collection."
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Measure how well questions find the documents that answer them.

    The documents are in PATH, or are the memory under --root.
    """
    preset = options.require_ranking(ranking)
    from langchain_memengine.evaluation.datasets import load_dataset

    dataset = load_dataset(path, kind, limit=limit)
    evaluation, problems = _evaluated(
        dataset,
        root,
        preset,
        embeddings,
        baselines=baselines,
        graph="names" if graph_names else graph,
    )
    if as_json:
        shown = evaluation.to_dict()
        print_json(shown | {"degraded": [*problems, *shown["degraded"]]})
    else:
        _print_evaluation(evaluation, baselines=baselines)
    warn((*problems, *evaluation.degraded))
    exit_if(problems or evaluation.degraded)


def _evaluated(
    dataset: Dataset,
    root: Path,
    ranking: str | None,
    embeddings: str | None,
    *,
    baselines: bool,
    graph: bool | Literal["names"],
) -> tuple[Evaluation, tuple[str, ...]]:
    """Return the evaluation, and what could not be indexed for it."""
    from langchain_memengine.engine.memory_engine import CONFIGURED
    from langchain_memengine.evaluation.runner import evaluate as measure

    if all(collection.documents for collection in dataset.collections):
        chosen = CONFIGURED if embeddings is None else embeddings
        with bar("Asking") as progress:
            found = measure(
                dataset,
                ranking=ranking,
                embeddings=chosen,
                baselines=baselines,
                graph=graph,
                progress=progress,
            )
        return found, ()
    with opened_fresh(root, embeddings) as (engine, problems), bar("Asking") as progress:
        found = measure(
            dataset,
            ranking=ranking,
            baselines=baselines,
            graph=graph,
            progress=progress,
            engine=engine,
        )
    return found, problems


def _print_evaluation(evaluation: Evaluation, *, baselines: bool) -> None:
    overall = evaluation.overall
    model = evaluation.embeddings or "keywords only"
    say(
        f"{evaluation.dataset}: {counted(overall.n, 'question')}, "
        f"ranking {evaluation.ranking}, {model}"
    )
    names = (evaluation.ranking, *overall.baselines)
    _print_table("all, in percent", names, [(_title(m), _row(overall, m)) for m in overall.system])
    for metric in _BY_CATEGORY if evaluation.per_category else ():
        rows = [
            (f"{name} ({figures.n})", _row(figures, metric))
            for name, figures in evaluation.per_category.items()
        ]
        _print_table(f"{_title(metric)} by category", names, rows)
    if evaluation.paired:
        say("\nThe difference in points, its 95 % interval, and p:")
    for name, tests in evaluation.paired.items():
        told = "; ".join(f"{_title(metric)} {_told(test)}" for metric, test in tests.items())
        say(f"against {name}: {told}")
    if baselines and evaluation.embeddings is None:
        say("The baselines dense, rrf60 and ensemble need an embedder; here is none.")


def _print_table(
    title: str, names: Sequence[str], rows: Sequence[tuple[str, Sequence[float]]]
) -> None:
    """Print a row of percentages a name, the best of each row bold when there are several."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(title)
    for name in names:
        table.add_column(clean_line(name), justify="right")
    for name, values in rows:
        shown = [f"{100 * value:.1f}" for value in values]
        best = f"{100 * max(values):.1f}" if len(values) > 1 else ""
        cells = [Text(one, "bold" if one == best else "") for one in shown]
        table.add_row(Text(clean_line(name)), *cells)
    console = output()
    console.print()
    console.print(table)


def _row(figures: Figures, metric: str) -> list[float]:
    systems: list[Mapping[str, float]] = [figures.system, *figures.baselines.values()]
    return [system[metric] for system in systems]


def _title(metric: str) -> str:
    return _TITLES.get(metric, metric)


def _told(test: Paired) -> str:
    interval = f"{100 * test.low:+.1f} to {100 * test.high:+.1f}"
    p = f"{test.p:.4f}" if test.p >= _SMALLEST_P else f"below {_SMALLEST_P}"
    return f"{100 * test.difference:+.1f} ({interval}), p {p}"
