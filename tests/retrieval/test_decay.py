"""Age and popularity in a score, worked out by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.rankings import RANKINGS
from langchain_memengine.retrieval.decay import access_bonus, decay, rescore

GOCLAW = RANKINGS["goclaw"]


def floats(*values):
    return np.asarray(values, np.float64)


@pytest.mark.parametrize(
    ("age_days", "factor"),
    [
        (0, 1.0),
        (13.9, 1.0),
        (14, 1.0),
        (24, math.exp(-0.15)),  # ten days late
        (74, math.exp(-0.9)),
        (75.1, 0.4),  # e^(-0.015 * 61.1) = 0.39990
        (10_000, 0.4),
        (math.inf, 0.4),
        (math.nan, 1.0),
    ],
)
def test_goclaws_curve(age_days, factor):
    assert decay(floats(age_days), GOCLAW) == pytest.approx(floats(factor))


def test_every_number_of_the_curve_can_be_set():
    mine = GOCLAW.model_copy(update={"decay_after_days": 0, "decay_rate": 0.1, "decay_floor": 0.0})
    assert decay(floats(10, 50), mine) == pytest.approx(floats(math.exp(-1), math.exp(-5)))


def test_accesses_add_up_to_a_cap():
    counts = np.asarray([0, 1, 9, 10, 11, 10**9])
    assert access_bonus(counts, GOCLAW) == pytest.approx(floats(0, 0.002, 0.018, 0.02, 0.02, 0.02))


def test_goclaw_multiplies_by_the_whole_decay_and_then_adds_the_bonus():
    score, factor, bonus = rescore(floats(2.0), floats(24), np.asarray([3]), GOCLAW)
    assert factor == pytest.approx(floats(math.exp(-0.15)))
    assert bonus == pytest.approx(floats(0.006))
    assert score == pytest.approx(floats(2 * math.exp(-0.15) + 0.006))


def test_a_soft_weight_lets_age_take_a_share_only():
    soft = GOCLAW.model_copy(update={"decay_weight": 0.1})
    score, factor, _ = rescore(floats(2.0), floats(9999), np.asarray([0]), soft)
    assert factor == pytest.approx(floats(0.94))  # 0.9 + 0.1 * 0.4
    assert score == pytest.approx(floats(1.88))


def test_weight_zero_switches_age_off():
    off = GOCLAW.model_copy(update={"decay_weight": 0.0})
    score, _, _ = rescore(floats(2.0), floats(9999), np.asarray([0]), off)
    assert score.tolist() == [2.0]


@given(st.lists(st.floats(0, 1e6), min_size=2), st.sampled_from(sorted(RANKINGS)))
def test_older_never_decays_less_and_the_factor_stays_in_its_range(ages, name):
    ranking = RANKINGS[name]
    factors = decay(np.sort(floats(*ages)), ranking)
    assert (np.diff(factors) <= 0).all()
    assert (factors >= ranking.decay_floor).all()
    assert (factors <= 1).all()


def test_no_candidates_have_no_scores():
    parts = rescore(floats(), floats(), np.zeros(0, np.int64), GOCLAW)
    assert [part.shape for part in parts] == [(0,), (0,), (0,)]
