"""Presets have the numbers of their sources."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.rankings import RANKINGS, ranking_named


def test_presets_carry_the_numbers_of_their_sources():
    goclaw, decsr, profclaw = (RANKINGS[name] for name in ("goclaw", "decsr", "profclaw"))
    assert (goclaw.rrf_k, goclaw.keyword_weight, goclaw.vector_weight) == (60, 1, 1)
    assert (goclaw.decay_rate, goclaw.decay_after_days, goclaw.decay_floor) == (0.015, 14, 0.4)
    assert (goclaw.access_bonus, goclaw.access_cap, goclaw.decay_weight) == (0.002, 10, 1)
    assert (decsr.k, decsr.fetch_k(8), decsr.fetch_k(2)) == (8, 32, 8)
    assert (profclaw.k, profclaw.min_score, profclaw.decay_weight) == (6, 0.1, 0)
    assert all(name == ranking.name for name, ranking in RANKINGS.items())


def test_highest_bonus_of_the_own_fusion_is_smaller_than_a_step_at_rank_100():
    ranking = RANKINGS["rrf"]
    step = 1 / (ranking.rrf_k + 99) - 1 / (ranking.rrf_k + 100)
    weight = min(ranking.keyword_weight, ranking.vector_weight)
    assert 0 < ranking.access_bonus * ranking.access_cap < step * weight


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_alpha_out_of_range_means_half(alpha):
    ranking = RANKINGS["decsr"].model_validate({**RANKINGS["decsr"].model_dump(), "alpha": alpha})
    assert ranking.alpha == (alpha if 0 <= alpha <= 1 else 0.5)


@given(st.integers(0, 10_000))
def test_fetch_k_is_at_least_k(k):
    for ranking in RANKINGS.values():
        assert ranking.fetch_k(k) >= k


def test_ranking_by_name():
    assert ranking_named("goclaw") is RANKINGS["goclaw"]
    with pytest.raises(ConfigurationError, match=r"'GoClaw'.*goclaw, decsr, profclaw"):
        ranking_named("GoClaw")
