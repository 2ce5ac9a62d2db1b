"""What an evaluation found, counted question by question."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_memengine.evaluation.metrics import Paired, mean_scores, paired_test

PAIRED_METRICS = ("recall@10", "ndcg@10")
"""Metrics that the paired test compares."""

WITHOUT_GRAPH = "no graph"
"""Name of the same search without the graph, among the baselines."""

_GRAPH_METRICS = ("recall@2", "recall@5")  # those of HippoRAG, whose data set it is measured on

SYSTEM = "system"
"""Stands for the engine among the baselines."""


@dataclass(frozen=True, slots=True)
class Answered:
    """How one question went.

    Attributes:
        category: Kind of question; ``""`` for none.
        scores: The metrics by system; every question of an evaluation has the same systems.
    """

    category: str
    scores: Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Figures:
    """Mean metrics of some questions.

    Attributes:
        n: How many questions.
        system: The engine's metrics, by name, 0 to 1.
        baselines: The same of each baseline.
    """

    n: int
    system: Mapping[str, float]
    baselines: Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What an evaluation found.

    Attributes:
        dataset: Name of the data set.
        ranking: Name of the ranking.
        embeddings: Class and model of the embedder; ``None`` for keywords only.
        overall: Figures of all questions.
        per_category: Figures by category, sorted; questions without one are in none.
        paired: The paired test by baseline and metric; the difference is ours minus theirs.
        degraded: What made the result poorer than asked, in words.
    """

    dataset: str
    ranking: str
    embeddings: str | None
    overall: Figures
    per_category: Mapping[str, Figures]
    paired: Mapping[str, Mapping[str, Paired]]
    degraded: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types; the overall figures stand at the top level."""
        return {
            "dataset": self.dataset,
            "ranking": self.ranking,
            "embeddings": self.embeddings,
            **dataclasses.asdict(self.overall),
            "per_category": {
                name: dataclasses.asdict(figures) for name, figures in self.per_category.items()
            },
            "paired": {
                name: {metric: dataclasses.asdict(test) for metric, test in tests.items()}
                for name, tests in self.paired.items()
            },
            "degraded": list(self.degraded),
        }


def figures(answered: Sequence[Answered]) -> Figures:
    """Return the mean metrics of questions."""
    means = {
        name: mean_scores([one.scores[name] for one in answered])
        for name in (SYSTEM, *_baselines(answered))
    }
    return Figures(len(answered), means.pop(SYSTEM), means)


def figures_by_category(answered: Sequence[Answered]) -> dict[str, Figures]:
    """Return the mean metrics of each category, sorted by name; ``""`` is none."""
    names = sorted({one.category for one in answered} - {""})
    return {name: figures([one for one in answered if one.category == name]) for name in names}


def paired_tests(answered: Sequence[Answered]) -> dict[str, dict[str, Paired]]:
    """Compare the engine with each baseline on the same questions."""
    return {
        name: {
            metric: paired_test(
                [one.scores[SYSTEM][metric] for one in answered],
                [one.scores[name][metric] for one in answered],
            )
            for metric in (_GRAPH_METRICS if name == WITHOUT_GRAPH else PAIRED_METRICS)
        }
        for name in _baselines(answered)
    }


def _baselines(answered: Sequence[Answered]) -> list[str]:
    return [name for name in answered[0].scores if name != SYSTEM] if answered else []
