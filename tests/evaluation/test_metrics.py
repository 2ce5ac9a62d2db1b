"""Metrics of one ranking, checked by hand and against trec_eval, and the paired test."""

import math

import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.evaluation.metrics import (
    DEPTH,
    METRICS,
    mean_scores,
    ndcg,
    paired_test,
    recall,
    reciprocal_rank,
    scores,
)

RANKED = ["x", "a", "y", "b"]
GRADES = {"a": 1.0, "b": 1.0, "c": 1.0}
IDS = [f"d{i:02}" for i in range(40)]


@pytest.mark.parametrize(("k", "share"), [(1, 0), (2, 1 / 3), (3, 1 / 3), (4, 2 / 3), (25, 2 / 3)])
def test_recall_is_the_share_of_the_relevant_among_the_first_k(k, share):
    assert recall(RANKED, GRADES, k) == pytest.approx(share)


def test_ndcg_discounts_by_the_rank():
    # Found at 2 and 4: 1/log2(3) + 1/log2(5) = 1.06161; best, at 1, 2 and 3: 2.13093.
    assert ndcg(RANKED, GRADES, 10) == pytest.approx(0.49819, abs=1e-5)
    assert ndcg(RANKED, GRADES, 3) == pytest.approx(0.63093 / 2.13093, abs=1e-5)


def test_ndcg_gains_the_grade():
    # 1 + 3/log2(3) = 2.89279 against 3 + 1/log2(3) = 3.63093.
    assert ndcg(["b", "a"], {"a": 3.0, "b": 1.0}, 10) == pytest.approx(0.79671, abs=1e-5)
    assert ndcg(["a", "b"], {"a": 3.0, "b": 1.0}, 10) == 1


def test_reciprocal_rank_is_that_of_the_first_relevant():
    assert reciprocal_rank(RANKED, GRADES) == 0.5
    assert reciprocal_rank(["x", "y"], GRADES) == 0


def test_nothing_found_and_nothing_relevant_are_zero():
    assert set(scores([], GRADES).values()) == {0.0}
    assert set(scores(RANKED, {}).values()) == {0.0}


def test_only_the_first_25_count():
    ranked = [f"x{i}" for i in range(DEPTH)] + ["a"]
    assert set(scores(ranked, {"a": 1.0}).values()) == {0.0}
    assert scores(ranked[1:], {"a": 1.0})["recall@25"] == 1
    assert scores(ranked[1:], {"a": 1.0})["mrr"] == 1 / 25


def test_mean_is_over_questions():
    one, other = scores(["a"], {"a": 1.0}), scores(["x", "a"], {"a": 1.0})
    mean = mean_scores([one, other])
    assert list(mean) == list(METRICS)
    assert (mean["recall@1"], mean["recall@5"], mean["mrr"]) == (0.5, 1, 0.75)
    assert set(mean_scores([]).values()) == {0.0}


@given(
    ranked=st.lists(st.sampled_from(IDS), unique=True, min_size=1, max_size=DEPTH),
    grades=st.dictionaries(st.sampled_from(IDS), st.integers(1, 3), min_size=1, max_size=12),
)
def test_metrics_equal_those_of_trec_eval(ranked, grades):
    measures = {"recall.1,2,5,10,25", "ndcg_cut.10", "recip_rank"}
    run = {"q": {one: float(len(ranked) - at) for at, one in enumerate(ranked)}}
    theirs = pytrec_eval.RelevanceEvaluator({"q": grades}, measures).evaluate(run)["q"]

    ours = scores(ranked, grades)

    expected = {
        **{f"recall@{k}": theirs[f"recall_{k}"] for k in (1, 2, 5, 10, 25)},
        "ndcg@10": theirs["ndcg_cut_10"],
        "mrr": theirs["recip_rank"],
    }
    assert ours == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        ([0, 0, 0], 1),  # no sign changes anything
        ([1, 0, 0], 1),  # one difference is as large either way
        ([1, 1], 1 / 2),  # +2 and -2 of four
        ([1, 1, 1, -1], 10 / 16),  # all but the six ways that add up to 0
        ([1] * 6, 2 / 64),
        ([0.1] * 6 + [0] * 50, 2 / 64),
    ],
)
def test_p_is_the_share_of_sign_flips_at_least_as_extreme(differences, p):
    assert paired_test(differences, [0] * len(differences)).p == pytest.approx(p, abs=0.02)


def test_p_is_never_zero():
    assert paired_test([1] * 100, [0] * 100).p == 1 / 10_001


def test_interval_is_of_the_resampled_means():
    # Of two questions resampled, the mean is 0, 0.5 and 1 in 1 : 2 : 1.
    test = paired_test([1, 0], [0, 0])
    assert (test.difference, test.low, test.high) == (0.5, 0, 1)
    same = paired_test([0.75] * 9, [0.5] * 9)
    assert (same.difference, same.low, same.high) == (0.25, 0.25, 0.25)


def test_interval_is_about_two_standard_errors_each_way():
    test = paired_test([1, 0] * 200, [0.5] * 400)
    assert test.difference == 0
    assert test.high == pytest.approx(1.96 * 0.5 / math.sqrt(400), rel=0.1)
    assert test.low == pytest.approx(-test.high, rel=0.15)


def test_the_same_input_gives_the_same_answer_and_the_other_way_round_the_opposite():
    ours, theirs = [0.3, 0.9, 0.4, 1, 0.2], [0.1, 0.5, 0.6, 0.3, 0.2]
    test = paired_test(ours, theirs)
    back = paired_test(theirs, ours)
    assert test == paired_test(ours, theirs)
    assert back.difference == pytest.approx(-test.difference)
    assert back.p == pytest.approx(test.p, abs=0.02)
