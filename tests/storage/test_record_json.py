"""What JSON is a record, and what is none, whoever wrote it."""

from datetime import UTC, datetime

import pytest

from langchain_memengine.answers import as_json
from langchain_memengine.storage.record_json import (
    record_from_json,
    revision_from_json,
    state_from_json,
    state_json,
    supersession_from_json,
)
from langchain_memengine.storage.record_values import (
    Hiding,
    MemoryRecord,
    Quarantine,
    RecordState,
    Revision,
    Supersession,
)

NOW = datetime(2026, 5, 19, 12, 0, tzinfo=UTC)
RECORD = MemoryRecord(
    "r", "personal", "anna", "tea", {"n": [1, None]}, "user", "trusted", None, "c", NOW, NOW
)
OVER = Supersession("r", "s", None, NOW, 0.5)
STATE = RecordState(RECORD, (OVER,), Hiding("k", NOW), Quarantine("record:r", "why", "", NOW))
REVISION = Revision("1", "update", "r", NOW, None, RecordState(), STATE)


def test_states_come_back_and_nothing_is_nothing():
    assert state_from_json(state_json(STATE)) == STATE
    assert state_json(RecordState()) is None
    assert state_from_json(None) == RecordState()


def test_a_state_of_before_hidings_and_quarantines_is_read():
    assert state_from_json('{"record": null, "superseded_by": []}') == RecordState()


def test_what_newer_releases_know_of_a_record_is_left_out():
    assert record_from_json({**as_json(RECORD), "mood": "good"}) == RECORD


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("text", None),
        ("text", 5),
        ("scope", "everyone"),
        ("trust", ["trusted"]),
        ("thread_id", 10**25),
        ("commit_id", {"a": 1}),
        ("metadata", []),
        ("created_at", None),
        ("created_at", 5),
        ("updated_at", "yesterday"),
        ("expires_at", "2026-05-19T12:00:00"),
    ],
)
def test_a_record_with_a_value_of_another_kind_is_none(name, value):
    with pytest.raises(ValueError):  # nobody is shown what it says
        record_from_json({**as_json(RECORD), name: value})


@pytest.mark.parametrize(
    ("read", "values"),
    [
        (record_from_json, "record"),
        (record_from_json, {}),
        (revision_from_json, {**as_json(REVISION), "id": []}),
        (revision_from_json, {**as_json(REVISION), "kind": "eaten"}),
        (revision_from_json, {**as_json(REVISION), "at": "2026-05-19T12:00:00"}),
        (revision_from_json, {**as_json(REVISION), "before": None}),
        (supersession_from_json, {**as_json(OVER), "confidence": "very"}),
        (supersession_from_json, {**as_json(OVER), "new_id": None}),
        (supersession_from_json, {**as_json(OVER), "at": None}),
    ],
)
def test_neither_is_a_revision_or_a_supersession(read, values):
    with pytest.raises(ValueError):
        read(values)


def test_a_time_without_a_zone_is_found_however_deep_it_stands():
    past = as_json(REVISION)
    assert revision_from_json(past) == REVISION
    past["after"]["superseded_by"][0]["at"] = "2026-05-19T12:00:00"
    with pytest.raises(ValueError, match="no time zone"):
        revision_from_json(past)
