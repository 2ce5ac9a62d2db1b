"""Texts of an application as sources with chunks."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.retrieval.documents import (
    chunks_of_document,
    document_id,
    document_uri,
    event_time,
    new_documents,
)
from langchain_memengine.types import Provenance
from tests.fakes.clock import START

NAMES = st.text(st.characters(exclude_characters="\0", codec="utf-8"))


@given(NAMES)
def test_id_comes_back_from_its_uri(name):
    assert document_id(document_uri("alice", name)) == name
    assert document_id(document_uri("", name)) == name


@given(st.tuples(NAMES, NAMES))
def test_different_ids_have_different_uris(names):
    one, two = names
    assert (document_uri("", one) == document_uri("", two)) == (one == two)
    assert document_uri("alice", one) != document_uri("bob", two)


def test_other_sources_have_no_document_id():
    assert document_id("file:w/a.md") is None


def test_missing_ids_are_made_and_texts_are_cleaned():
    first, second = new_documents(["a\0b", "\ud800"], None, ["x", ""])
    assert (first.text, first.id, first.metadata) == ("ab", "x", {})
    assert second.text == "\ufffd"
    assert len(second.id) == 32


def test_lists_must_be_of_one_length():
    with pytest.raises(ConfigurationError, match="1 texts came with 0 metadatas"):
        new_documents(["a"], [], None)


def test_chunks_carry_the_documents_provenance():
    (document,) = new_documents(["# Drinks\n\ntea"], [{"a": 1}], ["x/y"])
    source, ((chunk, provenance),) = chunks_of_document(
        document,
        Provenance(scope="personal", owner="alice", origin="assistant", trust="unverified"),
        now=START,
        chunk_tokens=400,
        overlap_tokens=0,
    )
    assert source == chunk.source == "doc:alice/x%2Fy"
    assert (provenance.scope, provenance.owner) == ("personal", "alice")
    assert (provenance.origin, provenance.trust) == ("assistant", "unverified")
    assert (provenance.metadata, provenance.event_at, provenance.path) == ({"a": 1}, START, "")


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({}, None),
        ({"date": "2026-01-02"}, datetime(2026, 1, 2, tzinfo=UTC)),
        ({"date": date(2026, 1, 2)}, datetime(2026, 1, 2, tzinfo=UTC)),
        ({"time": "2026-01-02T03:00:00+02:00"}, datetime(2026, 1, 2, 1, tzinfo=UTC)),
        ({"time": datetime(2026, 1, 2, tzinfo=timezone(timedelta(hours=-1)))},
         datetime(2026, 1, 2, 1, tzinfo=UTC)),
        ({"date": "2026-01-02", "event_at": "2025-01-01"}, datetime(2025, 1, 1, tzinfo=UTC)),
        ({"date": "yesterday", "event_at": 5}, None),
        ({"date": "9999-12-31T23:59:59-05:00"}, None),
        ({"day": "2026-01-02"}, None),
    ],
)  # fmt: skip
def test_time_of_a_document(metadata, expected):
    assert event_time(metadata) == expected
