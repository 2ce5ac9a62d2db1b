"""The values of records as JSON, and back: what revisions keep and exports carry."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any, TypeVar

from pydantic import TypeAdapter

from langchain_memengine.answers import as_json
from langchain_memengine.storage.record_values import (
    MemoryRecord,
    RecordState,
    Revision,
    Supersession,
)

T = TypeVar("T")

_RECORD = TypeAdapter(MemoryRecord)
_REVISION = TypeAdapter(Revision)
_SUPERSESSION = TypeAdapter(Supersession)
_STATE = TypeAdapter(RecordState)


def record_from_json(values: Mapping[str, Any]) -> MemoryRecord:
    """Return the record that :func:`answers.as_json` made plain values of.

    Raises:
        ValueError: A value is missing, or no such record is possible.
    """
    return _read(_RECORD, values)


def revision_from_json(values: Mapping[str, Any]) -> Revision:
    """Return the revision that :func:`answers.as_json` made plain values of.

    Raises:
        ValueError: A value is missing, or no such revision is possible.
    """
    return _read(_REVISION, values)


def supersession_from_json(values: Mapping[str, Any]) -> Supersession:
    """Return the supersession that :func:`answers.as_json` made plain values of.

    Raises:
        ValueError: A value is missing, or no such supersession is possible.
    """
    return _read(_SUPERSESSION, values)


def state_json(state: RecordState) -> str | None:
    """Return a state as JSON, ``None`` where there is nothing."""
    if state == RecordState():
        return None
    return json.dumps(as_json(state), ensure_ascii=False, sort_keys=True)


def state_from_json(text: str | None) -> RecordState:
    """Return the state that :func:`state_json` wrote."""
    return RecordState() if text is None else _STATE.validate_json(text)


def _read(adapter: TypeAdapter[T], values: Mapping[str, Any]) -> T:
    read = adapter.validate_json(json.dumps(values), strict=True)
    if not all(moment.tzinfo for moment in _moments(read)):
        raise ValueError("A time has no time zone.")
    return read


def _moments(value: object) -> Iterator[datetime]:
    """Yield all times that a value holds."""
    if isinstance(value, datetime):
        yield value
    elif isinstance(value, tuple):
        for one in value:
            yield from _moments(one)
    elif is_dataclass(value):
        for field in fields(value):
            yield from _moments(getattr(value, field.name))
