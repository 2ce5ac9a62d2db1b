"""What answers say of themselves, and as plain JSON."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from langchain_memengine.answers import (
    FileProblem,
    Hit,
    IndexReport,
    Receipt,
    SearchResult,
    as_json,
)

RECEIPT = Receipt(
    keyword_rank=None,
    bm25=None,
    vector_rank=None,
    cosine=None,
    vector_path=None,
    context_rank=None,
    fused=0.5,
    age_days=None,
    decay=1.0,
    access_count=0,
    access_bonus=0.0,
    ranking="balanced",
    origin="user",
    trust="trusted",
)
HIT = Hit(
    id="1",
    text="tea",
    score=0.5,
    source="doc:/1",
    path="",
    start_line=1,
    end_line=2,
    heading="",
    tokens=1,
    scope="global",
    owner="",
    event_at=None,
    metadata={},
    receipt=RECEIPT,
)


def test_a_receipt_names_only_the_parts_that_applied():
    assert str(RECEIPT) == "balanced 0.5000"
    assert str(replace(RECEIPT, keyword_rank=2, bm25=3.456)) == "balanced 0.5000 · bm25 3.46 (#2)"
    near = replace(RECEIPT, cosine=0.251, vector_rank=1, vector_path="exact")
    assert str(near) == "balanced 0.5000 · cosine 0.25 (#1, exact)"
    assert str(replace(RECEIPT, cosine=0.251)) == "balanced 0.5000 · cosine 0.25"
    old = replace(RECEIPT, age_days=30.4, decay=0.787, access_count=3, access_bonus=0.006)
    assert str(old) == "balanced 0.5000 · 30 days old × 0.79 · 3 accesses + 0.0060"


def test_a_hit_stands_at_its_path_or_at_its_source():
    assert HIT.location == "doc:/1:1-2"
    assert replace(HIT, path="a.md").location == "a.md:1-2"
    assert (HIT.bm25, replace(HIT, receipt=replace(RECEIPT, cosine=0.5)).cosine) == (None, 0.5)


@pytest.mark.parametrize(
    ("report", "complete"),
    [
        (IndexReport(), True),
        (IndexReport(skipped=(FileProblem("a", "binary"),)), True),  # that is no memory
        (IndexReport(failed=(FileProblem("a", "denied"),)), False),
        (IndexReport(pending=1), False),
        (IndexReport(degraded=("embeddings: away",)), False),
    ],
)
def test_a_sync_is_complete_when_all_that_should_be_indexed_is(report, complete):
    assert report.complete is complete


def test_values_become_plain_json():
    at = datetime(2026, 5, 19, 12, tzinfo=UTC)
    found = SearchResult((replace(HIT, event_at=at, metadata={1: ("a", b"b")}),))
    values = as_json(found)
    assert values["hits"][0]["event_at"] == "2026-05-19T12:00:00+00:00"
    assert values["hits"][0]["metadata"] == {"1": ["a", b"b"]}
    assert values["hits"][0]["receipt"]["ranking"] == "balanced"
    assert (values["degraded"], values["timings"]) == ([], {})
