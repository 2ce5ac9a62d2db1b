"""Figures of an evaluation, worked out by hand."""

import json

import pytest

from langchain_memengine.evaluation.metrics import METRICS
from langchain_memengine.evaluation.results import (
    SYSTEM,
    WITHOUT_GRAPH,
    Answered,
    Evaluation,
    figures,
    figures_by_category,
    paired_tests,
)


def answered(category, ours, theirs, baseline="bm25"):
    return Answered(
        category,
        {SYSTEM: dict.fromkeys(METRICS, ours), baseline: dict.fromkeys(METRICS, theirs)},
    )


THREE = [answered("time", 1.0, 0.0), answered("", 0.5, 0.5), answered("name", 0.0, 1.0)]


def test_figures_are_means_over_the_questions():
    found = figures(THREE)
    assert found.n == 3
    assert found.system["recall@10"] == pytest.approx(0.5)
    assert found.baselines["bm25"]["ndcg@10"] == pytest.approx(0.5)


def test_categories_are_sorted_and_questions_without_one_are_in_none():
    found = figures_by_category(THREE)
    assert list(found) == ["name", "time"]
    assert (found["time"].n, found["time"].system["recall@10"]) == (1, 1.0)


def test_each_baseline_is_compared_on_the_same_questions():
    found = paired_tests(THREE)
    assert list(found) == ["bm25"]
    assert list(found["bm25"]) == ["recall@10", "ndcg@10"]
    assert found["bm25"]["recall@10"].difference == pytest.approx(0.0)


def test_what_the_graph_adds_is_measured_as_its_data_set_does():
    found = paired_tests([answered("", 1.0, 0.5, WITHOUT_GRAPH)])
    assert list(found[WITHOUT_GRAPH]) == ["recall@2", "recall@5"]


def test_no_questions_have_no_baselines():
    assert paired_tests([]) == {}


def test_an_evaluation_is_plain_json():
    whole = Evaluation(
        "toy", "balanced", None, figures(THREE), figures_by_category(THREE), paired_tests(THREE)
    )
    values = json.loads(json.dumps(whole.to_dict()))
    assert (values["dataset"], values["n"], values["degraded"]) == ("toy", 3, [])
    assert values["per_category"]["time"]["system"]["recall@2"] == 1.0
    assert set(values["paired"]["bm25"]) == {"recall@10", "ndcg@10"}
