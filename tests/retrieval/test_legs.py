"""The legs of a search over the partitions that an actor may read."""

from datetime import timedelta

import numpy as np
import pytest

from langchain_memengine.retrieval import legs
from langchain_memengine.retrieval.fusion import ABSENT
from langchain_memengine.retrieval.keyword_index import KeywordIndex
from langchain_memengine.retrieval.partition import Partition
from langchain_memengine.retrieval.view import View
from langchain_memengine.storage import access, chunks, embeddings
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.times import to_ms
from langchain_memengine.types import Provenance
from tests.storage.contract import NOW, keep, piece

MODEL = "m"
SHARED = ["tea cake", "tea tea", "coffee"]
MINE = ["tea", "milk coffee coffee", "tea tea"]
X, Y, DIAGONAL = [1.0, 0.0], [0.0, 1.0], [0.6, 0.8]


@pytest.fixture
def database():
    database = Database("sqlite://", store_id="a", now=NOW, busy_timeout_ms=0)
    keep(database, *SHARED)
    mine = Provenance(scope="personal", owner="anna", event_at=NOW)
    keep(database, *MINE, source="doc:anna/1", provenance=mine)
    keep(database, "bert's tea", source="doc:bert/1", provenance=Provenance("personal", "bert"))
    vectors = {"tea cake": DIAGONAL, "tea tea": X, "coffee": Y, "milk coffee coffee": DIAGONAL}
    with database.write() as tx:
        by_hash = {piece(text).hash: np.asarray(v, np.float32) for text, v in vectors.items()}
        embeddings.put(tx, by_hash, MODEL, touch=True)
        access.record(tx, {piece("tea", source="doc:anna/1").id: 4}, now=NOW)
    yield database
    database.close()


def view_of(database, *keys):
    partitions = [Partition(key, str.split, k1=1.5, b=0.75) for key in keys]
    with database.read() as tx:
        for partition in partitions:
            partition.follow(tx, tx.counters(), MODEL)
    return View(partitions)


@pytest.fixture
def view(database):
    return view_of(database, "shared", "personal/anna")


def query(values):
    return np.asarray(values, np.float32)


def test_positions_number_all_partitions_through(view):
    assert len(view) == 6
    assert view.vectors == 5
    assert view.unembedded == 1
    assert view.positions_of(0, np.asarray([2])).tolist() == [2]
    assert view.positions_of(1, np.asarray([0, 2])).tolist() == [3, 5]


def test_taking_keeps_the_order_of_the_positions(view):
    positions = np.asarray([5, 0, 3, 2, 4])
    nums = view.take(positions, lambda partition, slots: partition.nums[slots])
    every = view.join([partition.nums for partition in view.partitions])
    assert nums.tolist() == every[positions].tolist()
    rows = view.take(positions, lambda partition, slots: partition.vectors.rows(slots))
    assert rows == pytest.approx(np.asarray([X, DIAGONAL, [0, 0], Y, DIAGONAL]))


def test_taking_nothing_gives_nothing(view):
    nothing = np.zeros(0, np.int64)
    assert view.take(nothing, lambda partition, slots: partition.nums[slots]).tolist() == []


def test_an_empty_partition_changes_nothing(database, view):
    with_empty = view_of(database, "shared", "personal/nobody", "personal/anna", "agent_config")
    assert len(with_empty) == len(view)
    scores = legs.keyword_leg(with_empty, ["tea"], context=False).scores
    assert scores.tolist() == legs.keyword_leg(view, ["tea"], context=False).scores.tolist()


def test_nothing_stored_is_an_empty_view(database):
    empty = view_of(database, "personal/nobody")
    assert (len(empty), empty.vectors, empty.unembedded) == (0, 0, 0)
    assert legs.keyword_leg(empty, ["tea"], context=False).scores.tolist() == []
    leg = legs.exact_leg(empty, query(X), 5, None)
    found, positions = legs.candidates(
        empty, legs.keyword_leg(empty, ["tea"], context=False), leg, 5, None, to_ms(NOW)
    )
    assert (len(found), positions.tolist()) == (0, [])


def test_scores_are_those_of_one_index_over_everything_readable(view):
    everything = KeywordIndex([text.split() for text in SHARED + MINE])
    words = ["tea", "coffee", "zzz"]
    np.testing.assert_allclose(
        legs.keyword_leg(view, words, context=False).scores,
        everything.get_scores(words),
        rtol=0,
        atol=1e-12,
    )


@pytest.mark.parametrize("searched_from", [0, 1_000_000])
def test_the_exact_leg_returns_the_nearest_that_pass(view, monkeypatch, searched_from):
    monkeypatch.setattr(legs, "SEARCHED_FROM", searched_from)
    nearest = legs.exact_leg(view, query(X), 3, None)
    assert nearest.positions.tolist() == [1, 5, 0]
    assert nearest.path == "exact"
    assert nearest.cosine_of(np.asarray([2, 0])).tolist() == pytest.approx([0.0, 0.6])
    mask = np.asarray([True, False, True, True, True, False])
    masked = legs.exact_leg(view, query(X), 9, mask)
    assert masked.positions.tolist() == [0, 4, 2]
    # What does not pass still has a cosine: it may stand beside what does.
    every = np.arange(6)
    assert masked.cosine_of(every).tolist() == nearest.cosine_of(every).tolist()


def test_the_chroma_leg_orders_its_candidates_by_exact_cosine(view):
    nums = [partition.nums for partition in view.partitions]
    nearest = [nums[0][[2, 0]], np.asarray([nums[1][1], 999])]  # 999: known to Chroma only
    leg = legs.chroma_leg(view, query(X), 2, nearest)
    assert leg.positions.tolist() == [0, 4]
    assert leg.path == "chroma"
    assert leg.cosine_of(np.asarray([4, 2])).tolist() == pytest.approx([0.6, 0.0])


def candidates_of(view, words, vector=None, *, fetch_k=10, mask=None):
    keyword = legs.keyword_leg(view, words, context=False)
    leg = None if vector is None else legs.exact_leg(view, query(vector), fetch_k, mask)
    return legs.candidates(view, keyword, leg, fetch_k, mask, to_ms(NOW) + 86_400_000)


def test_candidates_of_both_legs_are_joined_once(view):
    found, positions = candidates_of(view, ["cake", "milk"], X, fetch_k=3)
    # By word: 0 and 4; by vector: 1, 5, and 0 before 4, which is as near.
    assert positions.tolist() == [0, 1, 4, 5]
    assert (found.keyword_rank > ABSENT).tolist() == [True, False, True, False]
    assert found.vector_rank.tolist() == [3, 1, ABSENT, 1]
    assert found.cosine == pytest.approx([0.6, 1.0, 0.6, 1.0])
    assert found.bm25[1] == 0.0


def test_equal_scores_have_equal_ranks_and_the_next_one_counts_on(view):
    found, positions = candidates_of(view, ["tea"])
    # "tea tea" stands at 1 and 5 with one score; then "tea" and "tea cake".
    by_position = dict(zip(positions.tolist(), found.keyword_rank.tolist(), strict=True))
    assert by_position == {1: 1, 5: 1, 3: 3, 0: 4}
    assert found.vector_rank.tolist() == [ABSENT] * 4
    assert np.isnan(found.cosine).all()


def test_a_candidate_without_an_embedding_has_no_cosine(view):
    found, positions = candidates_of(view, ["tea"], X)
    at = positions.tolist().index(3)
    assert np.isnan(found.cosine[at])
    assert found.vector_rank[at] == ABSENT
    assert np.isfinite(np.delete(found.cosine, at)).all()


def test_candidates_carry_their_age_and_accesses(view):
    found, positions = candidates_of(view, ["tea"])
    ages = dict(zip(positions.tolist(), found.age_days.tolist(), strict=True))
    assert ages[5] == 1.0
    assert np.isnan(ages[0])
    accesses = dict(zip(positions.tolist(), found.accesses.tolist(), strict=True))
    assert accesses == {0: 0, 1: 0, 3: 4, 5: 0}


def test_a_mask_is_applied_before_the_best_are_chosen(view):
    mask = np.asarray([True, False, True, True, True, False])
    found, positions = candidates_of(view, ["tea"], fetch_k=1, mask=mask)
    assert positions.tolist() == [3]
    assert found.keyword_rank.tolist() == [1]


def test_a_message_is_surrounded_by_its_conversation(database):
    day = timedelta(days=1)
    for i, text in enumerate(["cake first", "rain", "tea last"]):
        told = Provenance(thread_id="t", event_at=NOW + i * day)
        keep(database, text, source=f"doc:/t{i}", provenance=told)
    view = view_of(database, "shared")
    leg = legs.keyword_leg(view, ["tea", "rain", "cake"], context=True)
    found, _ = legs.candidates(view, leg, None, 9, None, to_ms(NOW))
    context = found.context
    with database.read() as tx:
        by_num = {row.num: row.text for row in chunks.index_rows(tx, "shared")}
    place = {by_num[num]: i for i, num in enumerate(found.nums.tolist())}
    bm25 = dict(zip(place, found.bm25[list(place.values())].tolist(), strict=True))
    rain = context.bm25[place["rain"]].tolist()
    assert rain == pytest.approx([bm25["cake first"], bm25["tea last"]])
    assert context.bm25[place["cake first"]].tolist() == pytest.approx([0.0, bm25["rain"]])
    # A session of its own scores less than one in which all three words occur.
    assert context.session[place["rain"]] > context.session[place["tea tea"]] > 0
    assert context.session[place["rain"]] == context.session[place["tea last"]]
    assert np.isnan(context.cosine).all()


def test_context_is_left_out_where_nothing_stands_around(view):
    assert legs.keyword_leg(view, ["tea"], context=True).session_of is None
