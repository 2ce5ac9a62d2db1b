"""The walk over the graph, by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.retrieval import graph_walk
from langchain_memengine.retrieval.graph_walk import Neighbourhood, concentration, visits, walk
from langchain_memengine.storage.graph_statements import RelationRow

NAMES = {"A": "anna", "B": "bert", "C": "country"}


def row(one, source, kind, target, hop=0):
    return RelationRow(one, source, kind, target, None, None, hop)


def words(text):
    return frozenset(text.split())


def test_a_walk_of_one_step_by_hand(monkeypatch):
    monkeypatch.setattr(graph_walk, "_STEPS", 1)
    # 0 - 1 with weight 1, 0 - 2 with weight 3; always from 0, 0.95 goes on: a quarter of it to 1.
    visits = walk(np.array([[0, 1], [0, 2]]), np.array([1.0, 3.0]), np.array([2.0, 0.0, 0.0]))
    assert visits == pytest.approx([0.05, 0.2375, 0.7125])


def test_a_walk_from_nowhere_visits_nothing():
    assert walk(np.array([[0, 1]]), np.array([1.0]), np.zeros(2)).tolist() == [0.0, 0.0]
    nowhere = np.zeros((0, 2), np.int64)
    assert walk(nowhere, np.zeros(0), np.array([1.0])) == pytest.approx([0.05])


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12),
    st.lists(st.floats(0, 9), min_size=6, max_size=6),
)
def test_a_walk_visits_only_what_its_starts_lead_to(pairs, starts):
    visits = walk(np.array(pairs), np.ones(len(pairs)), np.array(starts))
    reached = {node for node in range(6) if starts[node] > 0}
    for _ in range(6):
        reached |= {b for a, b in pairs if a in reached} | {a for a, b in pairs if b in reached}
    assert visits.sum() <= 1 + 1e-9
    assert {node for node in range(6) if visits[node] > 0} <= reached


def test_a_word_that_is_a_name_elsewhere_is_not_what_the_query_is_about():
    mentions = [("A", "a"), ("B", "b"), ("C", "c")]
    found = Neighbourhood([], mentions, NAMES)
    matched = {"a": 1.0, "b": 0.0, "c": 0.0}
    often = visits(found, matched, {}, ["A", "C"], "which country is it", words)
    # Chances of 1.02 and 0.02: no way leads from one memory to the other.
    assert often["a"] / often["c"] == pytest.approx(1.02 / 0.02)
    assert often["b"] == 0


def test_facts_that_share_rare_words_with_the_query_are_starts():
    rows = [row("1", "A", "is mayor of", "C"), row("2", "B", "is near", "C", hop=1)]
    rows += [row("3", "B", "is near", "C")]
    found = Neighbourhood(rows, [("A", "a"), ("B", "b")], NAMES)
    often = visits(found, {"a": 0.0, "b": 0.0}, {}, [], "the mayor", words)
    assert often["a"] > often["b"] > 0
    nobody = visits(found, {"a": 0.0, "b": 0.0}, {}, [], "cheese", words)
    assert nobody == {"a": 0.0, "b": 0.0}


def test_a_walk_goes_by_the_memories_that_match():
    mentions = [("A", "a"), ("A", "b"), ("A", "c"), ("B", "gone")]
    found = Neighbourhood([], mentions, NAMES)
    often = visits(found, {"a": 0.9, "b": 0.4, "c": 0.4}, {}, ["A"], "", words)
    assert often["b"] == often["c"]
    assert often["a"] == pytest.approx(often["b"] * 1.0 / 0.5)
    assert "gone" not in often


@pytest.mark.parametrize(
    ("often", "texts", "says"),
    [
        ([0.1] * 3, 9, 1),  # 3 of 9 is the square root
        ([0.3], 9, 1),
        ([0.1] * 9, 9, 0),  # all alike
        ([0.1] * 27, 9, 0),  # memories of several chunks
        ([0.5] * 27, 81, 0.25),  # entropy log 27 of log 81: 2 * (1 - 3/4), squared
        ([0.5] * 27 + [0.0], 81, 0.25),
        ([], 9, 0),
        ([0.5], 1, 0),
        ([], 0, 0),
    ],
)
def test_a_walk_that_visits_everything_alike_says_nothing(often, texts, says):
    assert concentration(often, texts) == pytest.approx(says)


def test_the_best_memories_of_the_other_legs_are_starts():
    found = Neighbourhood([row("1", "A", "knows", "B")], [("A", "a"), ("B", "b")], NAMES)
    matched = {"a": 1.0, "b": 0.0}
    assert visits(found, matched, {}, [], "", words) == {"a": 0.0, "b": 0.0}
    often = visits(found, matched, {"a": 1.0}, [], "", words)
    assert often["a"] > often["b"] > 0
