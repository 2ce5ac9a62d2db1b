"""Conditions on items; what langgraph's own store does with them is in the store's contract."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.retrieval.item_filters import matches

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


@pytest.mark.parametrize(
    ("value", "condition", "expected"),
    [
        ("10", {"$gt": "9"}, True),  # texts of numbers are numbers
        ("10", {"$gt": 9}, True),
        ("2026-05-19", {"$gte": "2026-05-01"}, True),
        ("2026-04-19", {"$gte": "2026-05-01"}, False),
        ("tea", {"$gt": 1}, False),
        (None, {"$lt": 1}, False),
        (1, {"$lt": None}, False),
        ([1], {"$lt": 2}, False),
        (10**400, {"$gt": 1}, False),  # no float holds it
        (1, {"$gte": 1, "$lte": 1}, True),
        (1, {"$gte": 1, "$ne": 1}, False),
        ([1, {"a": 2}], [1, {"a": 2}], True),
        ([1, 2], [1], False),
        ("ab", ["a", "b"], False),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": {"$gt": 0}}}, True),
        ({"a": 1}, {"a": 1, "b": None}, True),
        ("x", {"a": 1}, False),
        ({}, {}, True),
    ],
)
def test_conditions(value, condition, expected):
    assert matches({"key": value}, {"key": condition}) is expected


def test_every_condition_must_hold():
    assert matches({"a": 1, "b": 2}, {"a": 1, "b": 2})
    assert not matches({"a": 1, "b": 2}, {"a": 1, "b": 3})
    assert matches({}, {})


@pytest.mark.parametrize("operator", ["$in", "$", "$GT"])
def test_an_unknown_operator_is_refused_with_the_ones_there_are(operator):
    with pytest.raises(ConfigurationError, match=r"\$eq, \$ne, \$gt, \$gte, \$lt, \$lte"):
        matches({"a": 1}, {"a": {operator: 1}})


@given(JSON, JSON, st.sampled_from(["$gt", "$gte", "$lt", "$lte"]))
def test_a_range_never_raises(value, operand, operator):
    assert matches({"a": value}, {"a": {operator: operand}}) in {True, False}
