"""The ranking presets, worked out by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.config import MemEngineConfig
from langchain_memengine.rankings import RANKINGS
from langchain_memengine.retrieval.fusion import (
    ABSENT,
    Candidates,
    Context,
    Mentions,
    competition_ranks,
    diversify,
    normalised,
    rank,
)

NAN = math.nan
MIN_COSINE = 0.25
DEFAULT = MemEngineConfig().ranking
_COLUMNS = {
    "nums": np.int64,
    "keyword_rank": np.int64,
    "bm25": np.float64,
    "vector_rank": np.int64,
    "cosine": np.float64,
    "age_days": np.float64,
    "accesses": np.int64,
}


def candidates(**columns):
    """Return candidates of these columns; the others say "not known"."""
    size = len(next(iter(columns.values())))
    unknown = {
        "nums": range(1, size + 1),
        "keyword_rank": [ABSENT] * size,
        "bm25": [0.0] * size,
        "vector_rank": [ABSENT] * size,
        "cosine": [NAN] * size,
        "age_days": [NAN] * size,
        "accesses": [0] * size,
    }
    return Candidates(
        **{
            name: np.asarray(list(values), _COLUMNS[name])
            for name, values in (unknown | columns).items()
        }
    )


def ranked(known, ranking, min_cosine=MIN_COSINE):
    if isinstance(ranking, str):
        ranking = RANKINGS[ranking]
    return rank(known, ranking, min_cosine=min_cosine)


# GoClaw


def test_goclaw_sums_the_reciprocal_ranks_of_two_legs():
    known = candidates(
        keyword_rank=[1, ABSENT, 2],
        bm25=[3.0, 0.0, 1.0],
        vector_rank=[3, 1, ABSENT],
        cosine=[0.5, 0.9, NAN],
    )
    result = ranked(known, "goclaw")
    assert result.fused == pytest.approx([1 / 61 + 1 / 63, 1 / 61, 1 / 62])
    assert result.score == pytest.approx(result.fused)
    assert result.order.tolist() == [0, 1, 2]


def test_goclaw_decays_and_then_adds_the_bonus():
    known = candidates(
        keyword_rank=[1, 2],
        bm25=[2.0, 1.0],
        vector_rank=[3, 2],
        cosine=[0.5, 0.6],
        age_days=[24, 1000],
        accesses=[3, 25],
    )
    result = ranked(known, "goclaw")
    assert result.decay == pytest.approx([math.exp(-0.15), 0.4])
    assert result.bonus == pytest.approx([0.006, 0.02])
    assert result.score == pytest.approx(
        [(1 / 61 + 1 / 63) * math.exp(-0.15) + 0.006, 2 / 62 * 0.4 + 0.02]
    )
    assert result.fused == pytest.approx([1 / 61 + 1 / 63, 2 / 62])


# decsr


def blend(alpha):
    known = candidates(
        keyword_rank=[1, 2, ABSENT],
        bm25=[4.0, 1.0, 0.0],
        vector_rank=[3, 2, 1],
        cosine=[0.2, 0.8, 0.9],
    )
    ranking = type(RANKINGS["decsr"])(**{**RANKINGS["decsr"].model_dump(), "alpha": alpha})
    return ranked(known, ranking)


@pytest.mark.parametrize(
    ("alpha", "scores", "order"),
    [
        (1.0, [1.0, 0.25], [0, 1]),  # pure BM25, by the highest
        (0.0, [0.2, 0.8], [1, 0]),  # pure cosine
        (0.5, [0.6, 0.525], [0, 1]),
        (1.5, [0.6, 0.525], [0, 1]),  # out of range: half and half
        (-0.1, [0.6, 0.525], [0, 1]),
    ],
)
def test_decsr_blends_normalised_bm25_with_the_cosine(alpha, scores, order):
    result = blend(alpha)
    assert result.fused[:2] == pytest.approx(scores)
    assert result.order.tolist() == order  # what no keyword matches is no candidate


def test_decsr_without_any_embedding_is_normalised_bm25():
    result = ranked(candidates(keyword_rank=[2, 1], bm25=[1.0, 4.0]), "decsr")
    assert result.fused == pytest.approx([0.25, 1.0])
    assert result.order.tolist() == [1, 0]


def test_decsr_counts_a_missing_cosine_as_none_at_all():
    known = candidates(keyword_rank=[1, 2], bm25=[4.0, 2.0], cosine=[NAN, 0.5])
    assert ranked(known, "decsr").fused == pytest.approx([0.5, 0.5])


def test_decsr_does_not_look_at_age_or_accesses():
    known = candidates(keyword_rank=[1, 2], bm25=[2.0, 1.0], age_days=[9999, 0], accesses=[0, 99])
    assert ranked(known, "decsr").score == pytest.approx([1.0, 0.5])


def test_decsr_fetches_four_times_what_it_returns():
    assert RANKINGS["decsr"].k == 8
    assert RANKINGS["decsr"].fetch_k(8) == 32


# profClaw


def test_profclaw_ranks_by_cosine_above_its_minimum():
    known = candidates(
        keyword_rank=[1, ABSENT, 2, 3, 4],
        bm25=[9.0, 0.0, 3.0, 2.0, 1.0],
        cosine=[0.3, 0.7, 0.1, 0.0999, NAN],
        age_days=[9999, 0, 0, 0, 0],
    )
    result = ranked(known, "profclaw")
    # The last has no embedding yet: its bm25_norm 1/9 stands in, so that it is not lost.
    assert result.order.tolist() == [1, 0, 4, 2]
    assert result.score[[1, 0, 4, 2]] == pytest.approx([0.7, 0.3, 1 / 9, 0.1])


def test_profclaw_without_any_embedding_ranks_by_normalised_bm25():
    known = candidates(keyword_rank=[1, 2, 3], bm25=[10.0, 1.0, 0.99])
    result = ranked(known, "profclaw")
    assert result.fused == pytest.approx([1.0, 0.1, 0.099])
    assert result.order.tolist() == [0, 1]


# Our own


def test_rrf_has_a_small_constant_and_a_light_dense_side():
    known = candidates(
        keyword_rank=[2, ABSENT],
        bm25=[1.0, 0.0],
        vector_rank=[ABSENT, 1],
        cosine=[NAN, 0.9],
        age_days=[9999, 0],
    )
    result = ranked(known, "rrf")
    assert result.fused == pytest.approx([1 / 12, 0.5 / 11])
    assert result.score == pytest.approx([1 / 12 * (0.9 + 0.1 * 0.4), 0.5 / 11])


def test_in_the_default_preset_popularity_is_less_than_one_rank_step():
    bonus = DEFAULT.access_bonus * DEFAULT.access_cap
    assert bonus > 0
    for leg, weight in (
        ("keyword_rank", DEFAULT.keyword_weight),
        ("vector_rank", DEFAULT.vector_weight),
    ):
        if not weight:
            continue
        known = candidates(**{leg: [100, 101], "bm25": [1, 1], "cosine": [0.5, 0.5]})
        better, worse = ranked(known, DEFAULT).score
        assert bonus < better - worse


def test_an_old_favourite_does_not_beat_the_better_match():
    known = candidates(
        keyword_rank=[2, 1], bm25=[2.0, 2.1], vector_rank=[2, 1], cosine=[0.6, 0.7],
        age_days=[0, 0], accesses=[10, 0],
    )  # fmt: skip
    assert ranked(known, DEFAULT).order.tolist() == [1, 0]


# Reasons, ties, minimum


def test_a_hit_needs_a_keyword_match_or_a_cosine_at_the_floor():
    known = candidates(
        keyword_rank=[ABSENT, ABSENT, 1, ABSENT],
        bm25=[0.0, 0.0, 1.0, 0.0],
        vector_rank=[1, 2, 3, 4],
        cosine=[0.3, 0.25, -0.9, 0.2499],
    )
    for name in ("goclaw", "rrf", "balanced"):
        assert set(ranked(known, name).order.tolist()) == {0, 1, 2}


def test_an_unknown_cosine_is_no_reason_even_at_the_lowest_floor():
    known = candidates(vector_rank=[1, 2], cosine=[NAN, -1.0])
    assert ranked(known, "goclaw", min_cosine=-1.0).order.tolist() == [1]


def test_ties_go_to_the_newer_then_to_the_lower_number():
    known = candidates(
        nums=[9, 4, 7, 3, 8],
        keyword_rank=[1] * 5,
        bm25=[1.0] * 5,
        age_days=[2, 5, 1, 5, NAN],
    )
    assert known.nums[ranked(known, "goclaw").order].tolist() == [8, 7, 9, 3, 4]


def test_the_minimum_is_of_the_score_before_decay_and_bonus():
    strict = RANKINGS["goclaw"].model_copy(update={"min_score": 1 / 61})
    known = candidates(keyword_rank=[1, 2], bm25=[1.0, 1.0], age_days=[9999, 0], accesses=[0, 99])
    assert ranked(known, strict).order.tolist() == [0]


@pytest.mark.parametrize("name", sorted(RANKINGS))
def test_no_candidates_are_no_hits(name):
    assert ranked(candidates(nums=[]), name).order.tolist() == []


def test_normalising_divides_by_the_highest():
    assert normalised(np.asarray([1.0, 4.0])).tolist() == [0.25, 1.0]
    assert normalised(np.zeros(2)).tolist() == [0.0, 0.0]
    assert normalised(np.zeros(0)).tolist() == []


@st.composite
def any_candidates(draw):
    size = draw(st.integers(0, 12))

    def column(values):
        return draw(st.lists(values, min_size=size, max_size=size))

    bm25 = column(st.sampled_from([0.0, 0.5, 1.0, 7.5]))
    cosine = column(st.one_of(st.just(NAN), st.sampled_from([-1.0, 0.0, 0.1, 0.25, 0.9, 1.0])))
    return candidates(
        nums=draw(st.permutations(range(1, size + 1))),
        keyword_rank=[r if s else ABSENT for r, s in zip(column(st.integers(0, 9)), bm25)],  # noqa: B905  # both have `size` entries
        bm25=bm25,
        vector_rank=column(st.integers(0, 9)),
        cosine=cosine,
        age_days=column(st.one_of(st.just(NAN), st.floats(0, 5000))),
        accesses=column(st.integers(0, 50)),
    )


@given(any_candidates(), st.sampled_from(sorted(RANKINGS)))
def test_the_order_has_no_duplicates_falls_in_score_and_keeps_the_rules(known, name):
    result = ranked(known, name)
    order = result.order.tolist()
    assert len(set(order)) == len(order)
    assert (np.diff(result.score[result.order]) <= 0).all()
    for position in order:
        assert known.bm25[position] > 0 or known.cosine[position] >= MIN_COSINE
        assert result.fused[position] >= (RANKINGS[name].min_score or -np.inf)


@given(any_candidates(), st.sampled_from(sorted(RANKINGS)), st.randoms(use_true_random=False))
def test_the_order_does_not_depend_on_where_candidates_stand(known, name, random):
    shuffled = list(range(len(known)))
    random.shuffle(shuffled)
    moved = Candidates(**{column: getattr(known, column)[shuffled] for column in _COLUMNS})
    assert (
        moved.nums[ranked(moved, name).order].tolist()
        == known.nums[ranked(known, name).order].tolist()
    )


# Context


def in_context(known, session, before, after):
    """Return candidates with sessions and (bm25, cosine) of their neighbours."""
    pairs = np.asarray([before, after]).transpose(1, 0, 2)
    around = Context(np.asarray(session), pairs[:, :, 0], pairs[:, :, 1])
    return replace(known, context=around)


def test_a_blend_adds_what_stands_around():
    ranking = RANKINGS["balanced"].model_copy(
        update={
            "vector_weight": 0.5,
            "context_weight": 0.5,
            "before_weight": 0.4,
            "after_weight": 0.2,
            "rank_weight": 0.0,
            "decay_weight": 0.0,
        }
    )
    known = candidates(keyword_rank=[1, 2], bm25=[4.0, 2.0], vector_rank=[2, 1], cosine=[0.4, 0.8])
    alone = rank(known, ranking, min_cosine=0.0, chance_cosine=0.2)
    # Normalised BM25 plus half of what the cosine exceeds 0.2 by, of 0.8.
    assert alone.fused == pytest.approx([1.125, 0.875])
    known = in_context(
        known, session=[1.0, 4.0], before=[(0.0, NAN), (4.0, 0.4)], after=[(2.0, 0.8), (0.0, NAN)]
    )
    around = rank(known, ranking, min_cosine=0.0, chance_cosine=0.2)
    # Half of: a quarter session and 0.2 of the chunk after; a whole one and 0.4 of that before.
    assert around.fused == pytest.approx([1.125 + 0.2125, 0.875 + 0.725])
    assert around.order.tolist() == [1, 0]
    assert around.context_rank.tolist() == [2, 1]


def test_what_the_query_names_is_added_before_the_decay():
    ranking = RANKINGS["balanced"].model_copy(
        update={
            "rank_weight": 0.0,
            "author_boost": 0.2,
            "date_boost": 0.5,
            "decay_weight": 1.0,
            "decay_floor": 0.5,
        }
    )
    known = candidates(keyword_rank=[1, 2, 3], bm25=[4.0, 2.0, 1.0], age_days=[0, 0, 1000])
    mentions = Mentions(np.asarray([False, True, True]), np.asarray([False, False, True]))
    result = rank(replace(known, mentions=mentions), ranking, min_cosine=0.0)
    # Normalised BM25 is 1, 0.5 and 0.25; the last one's age halves its sum.
    assert result.fused == pytest.approx([1.0, 0.7, 0.95])
    assert result.score == pytest.approx([1.0, 0.7, 0.475])
    assert result.author_boost.tolist() == [0.0, 0.2, 0.2]
    assert result.date_boost.tolist() == [0.0, 0.0, 0.5]


def test_what_the_query_names_is_no_reason_to_be_a_hit():
    known = candidates(bm25=[1.0, 0.0], keyword_rank=[1, ABSENT])
    everything = Mentions(np.ones(2, np.bool_), np.ones(2, np.bool_))
    result = ranked(replace(known, mentions=everything), "balanced")
    assert result.order.tolist() == [0]


def test_a_dense_side_that_cannot_tell_texts_apart_has_no_say():
    ranking = RANKINGS["balanced"].model_copy(update={"rank_weight": 0.0})
    known = candidates(keyword_rank=[1, 2], bm25=[2.0, 1.0], cosine=[0.1, 0.6])
    result = rank(known, ranking, min_cosine=0.0, chance_cosine=0.7)
    assert result.fused == pytest.approx([1.0, 0.5])


def test_rrf_counts_the_context_as_a_third_list():
    known = in_context(
        candidates(keyword_rank=[1, 2], bm25=[2.0, 1.0]),
        session=[0.0, 3.0],
        before=[(0.0, NAN)] * 2,
        after=[(0.0, NAN)] * 2,
    )
    result = ranked(known, "rrf")
    assert result.fused == pytest.approx([1 / 11, 1 / 12 + 0.3 / 11])


def test_two_leg_presets_ignore_the_context():
    known = candidates(keyword_rank=[1, 2], bm25=[2.0, 1.0], cosine=[0.3, 0.4])
    surrounded = in_context(
        known, session=[0.0, 3.0], before=[(9.0, 0.9)] * 2, after=[(9.0, 0.9)] * 2
    )
    for name in ("goclaw", "decsr", "profclaw"):
        assert ranked(surrounded, name).score.tolist() == ranked(known, name).score.tolist()


def test_equal_scores_share_a_rank_and_nothing_has_none():
    scores = np.asarray([0.5, 0.9, 0.0, 0.5, 0.1])
    assert competition_ranks(scores).tolist() == [2, 1, ABSENT, 2, 4]


# Maximal marginal relevance


def test_diversity_skips_what_says_the_same():
    vectors = np.asarray([[1, 0], [1, 0], [0, 1]], np.float32)
    order, score = np.asarray([2, 0, 1]), np.asarray([0.9, 0.5, 1.0])
    # Scaled: 1, 0.8, 0. After the first: 0.5 * 0.8 - 0.5 * 1 = -0.1 against 0.5 * 0 - 0.5 * 0 = 0.
    assert diversify(order, score, vectors, 2, 0.5).tolist() == [2, 1]
    assert diversify(order, score, vectors, 2, 1.0).tolist() == [2, 0]


@given(
    st.lists(st.floats(0, 1), max_size=8),
    st.integers(0, 10),
    st.floats(0, 1),
    st.integers(0, 2**16),
)
def test_diversity_chooses_from_the_order_and_begins_with_its_first(scores, k, relevance, seed):
    score = np.asarray(scores)
    order = np.argsort(-score, kind="stable")
    vectors = np.random.default_rng(seed).normal(size=(len(order), 3)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True) + 1e-9
    chosen = diversify(order, score, vectors, k, relevance).tolist()
    assert len(chosen) == len(set(chosen)) == min(k, len(order))
    assert set(chosen) <= set(order.tolist())
    assert chosen[:1] == order[: min(k, 1)].tolist()
    assert diversify(order, score, vectors, k, 1.0).tolist() == order[:k].tolist()
