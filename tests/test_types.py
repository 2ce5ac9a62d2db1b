"""Values know what can be derived from their own fields."""

import dataclasses
import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine import answers, types
from langchain_memengine.answers import (
    FileProblem,
    Hit,
    IndexReport,
    Receipt,
    SearchResult,
    as_json,
)
from langchain_memengine.types import (
    LOCAL_ADMIN,
    Actor,
    Filter,
)

NOON = datetime(2026, 5, 19, 12, tzinfo=UTC)
RECEIPT = Receipt(
    1, 2.5, 3, 0.75, "exact", None, 0.125, 9.6, 0.9, 4, 0.008, "rrf", "app", "trusted"
)
HIT = Hit(
    "i", "first\nsecond", 0.5, "doc:/a", "", 3, 4, "", 2, "global", "", NOON, {"a": 1}, RECEIPT
)


def test_values_are_frozen():
    for name, value in {**vars(types), **vars(answers)}.items():
        if isinstance(value, type) and dataclasses.is_dataclass(value):
            assert value.__dataclass_params__.frozen, name
            assert "__slots__" in vars(value), name


def test_local_user_is_the_admin():
    assert (LOCAL_ADMIN.user_id, LOCAL_ADMIN.is_admin) == ("local", True)
    assert Actor("bob").is_admin is False


def test_filter_is_empty_when_everything_passes():
    assert Filter().is_empty
    for condition in (
        {"path": "*"},
        {"not_sources": ("a",)},
        {"metadata": {"a": 1}},
        {"until": NOON},
    ):
        assert not Filter(**condition).is_empty


def test_receipt_tells_the_parts_that_applied():
    assert str(RECEIPT) == (
        "rrf 0.1250 · bm25 2.50 (#1) · cosine 0.75 (#3, exact) · 10 days old × 0.90 · "
        "4 accesses + 0.0080"
    )
    bare = Receipt(None, None, None, None, None, None, 0.1, None, 1, 0, 0, "x", "app", "trusted")
    assert str(bare) == "x 0.1000"
    assert str(replace(bare, cosine=0.5)) == "x 0.1000 · cosine 0.50"
    assert str(replace(bare, context_rank=2)) == "x 0.1000 · context #2"
    assert str(replace(bare, author_boost=0.2)) == "x 0.1000 · author + 0.20"
    assert str(replace(bare, date_boost=0.5)) == "x 0.1000 · date + 0.50"


def test_hit_shows_location_score_and_first_line():
    assert HIT.location == "doc:/a:3-4"
    assert replace(HIT, path="a.md").location == "a.md:3-4"
    assert str(HIT) == f"0.5000  doc:/a:3-4  first\n        {RECEIPT}"
    assert (HIT.bm25, HIT.cosine) == (2.5, 0.75)
    assert "  doc:/a:3-4  \n" in str(replace(HIT, text=" \n"))


@pytest.mark.parametrize(
    ("report", "complete"),
    [
        (IndexReport(), True),
        (IndexReport(indexed=3, skipped=(FileProblem("a", "binary"),)), True),
        (IndexReport(failed=(FileProblem("a", "x"),)), False),
        (IndexReport(pending=1), False),
        (IndexReport(degraded=("x",)), False),
    ],
)
def test_report_is_complete_unless_something_is_left_to_do(report, complete):
    assert report.complete is complete


def test_values_become_json():
    result = as_json(SearchResult((HIT,), ("x",)))
    assert json.loads(json.dumps(result)) == result
    assert result["hits"][0]["event_at"] == "2026-05-19T12:00:00+00:00"
    assert result["hits"][0]["receipt"]["vector_path"] == "exact"
    assert result["degraded"] == ["x"]
    assert as_json({1: (NOON,)}) == {"1": ["2026-05-19T12:00:00+00:00"]}


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=8,
    )
)
def test_json_stays_as_it_is(value):
    assert as_json(value) == value
