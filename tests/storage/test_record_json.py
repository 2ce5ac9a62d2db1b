"""Records and their states come back from JSON as they were, or say what is wrong."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from langchain_memengine.answers import as_json
from langchain_memengine.storage.record_json import (
    quarantine_from_json,
    record_from_json,
    state_from_json,
    state_json,
    supersession_from_json,
)
from langchain_memengine.storage.record_values import (
    Hiding,
    MemoryRecord,
    Quarantine,
    RecordState,
    Supersession,
)
from tests.fakes.clock import START

RECORD = MemoryRecord(
    id="r",
    scope="personal",
    owner="anna",
    text="tea\u2028ü",
    metadata={"n": [1, {"a": None}]},
    origin="user",
    trust="trusted",
    thread_id=None,
    commit_id="c",
    created_at=START,
    updated_at=START,
    expires_at=START + timedelta(days=1),
)
OVER = Supersession("r", "s", None, START, 0.5)
ASIDE = Quarantine("record:r", "odd", "", START)


@pytest.mark.parametrize(
    "state",
    [
        RecordState(),
        RecordState(RECORD),
        RecordState(replace(RECORD, expires_at=None), (OVER,), None, ASIDE),
        RecordState(hiding=Hiding("kept", START)),
        RecordState(quarantine=ASIDE),
    ],
)
def test_a_state_comes_back_as_it_was(state):
    assert state_from_json(state_json(state)) == state


def test_nothing_is_no_text_and_letters_stay_readable():
    assert state_json(RecordState()) is None
    assert "ü" in str(state_json(RecordState(RECORD)))


def test_a_state_of_an_older_release_has_neither_hiding_nor_quarantine():
    values = json.loads(str(state_json(RecordState(RECORD))))
    del values["hiding"], values["quarantine"]
    assert state_from_json(json.dumps(values)) == RecordState(RECORD)


def test_what_a_record_does_not_know_is_passed_over():
    assert record_from_json(as_json(RECORD) | {"of a later release": 1}) == RECORD


@pytest.mark.parametrize(
    ("read", "value", "broken"),
    [
        (record_from_json, RECORD, {"id": None}),
        (record_from_json, RECORD, {"created_at": "yesterday"}),
        (record_from_json, RECORD, {"created_at": 5}),
        (supersession_from_json, OVER, {"at": None, "when": 1}),
        (quarantine_from_json, ASIDE, {"why": 1}),
    ],
)
def test_what_cannot_be_read_is_a_value_error(read, value, broken):
    values = as_json(value)
    assert read(values) == value
    if broken == {"id": None}:
        del values["id"]
    else:
        values |= broken
    with pytest.raises(ValueError, match=r"This is no|Invalid isoformat"):
        read(values)
