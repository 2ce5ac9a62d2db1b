"""Foreign text and metadata, made storable."""

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.text.sanitize import as_utc, clean_metadata, clean_text


@given(st.text(st.characters()))
def test_text_can_be_encoded_has_no_nul_and_is_clean_after_once(text):
    clean = clean_text(text)
    clean.encode()
    assert "\0" not in clean
    assert clean_text(clean) == clean


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_ordinary_text_stays_as_it_is(text):
    assert clean_text(text) == text


def test_nul_goes_and_surrogates_are_replaced():
    assert clean_text("a\0b\ud800c") == "ab\ufffdc"


def test_no_metadata_is_empty():
    assert clean_metadata(None) == clean_metadata({}) == {}


def test_time_zones_become_utc():
    east = timezone(timedelta(hours=2))
    assert as_utc(datetime(2026, 1, 1, 2, tzinfo=east)) == datetime(2026, 1, 1, tzinfo=UTC)
    naive = datetime(2026, 1, 1)  # noqa: DTZ001  # a naive one is the case
    assert as_utc(naive) == datetime(2026, 1, 1, tzinfo=UTC)
    with pytest.raises(ConfigurationError, match="outside the calendar"):
        as_utc(datetime(1, 1, 1, tzinfo=east))


def nested(levels):
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


def test_values_are_nested_up_to_50_levels():
    assert clean_metadata({"a": nested(49)}) == {"a": nested(49)}
    with pytest.raises(ConfigurationError, match="50 levels"):
        clean_metadata({"a": nested(50)})


def test_integers_have_up_to_1024_bits():
    largest = 2**1024 - 1
    assert json.loads(json.dumps(clean_metadata({"a": -largest}))) == {"a": -largest}
    with pytest.raises(ConfigurationError, match="'a' is an integer of 1025 bits"):
        clean_metadata({"a": largest + 1})


def test_key_of_a_bad_value_is_named():
    with pytest.raises(ConfigurationError, match=r"'a\.b' has the type complex"):
        clean_metadata({"a": {"b": 1j}})


def test_sets_become_sorted_lists_and_dates_text():
    at = datetime(2026, 5, 19, 14, tzinfo=timezone(timedelta(hours=2)))
    assert clean_metadata({"s": {"b", "a"}, "t": (1, float("nan")), "d": at.date(), "m": at}) == {
        "s": ["a", "b"],
        "t": [1, None],
        "d": "2026-05-19",
        "m": "2026-05-19T12:00:00+00:00",
    }
