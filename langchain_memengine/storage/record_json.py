"""The values of records as JSON, and back: what revisions keep and exports carry."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any

from langchain_memengine.answers import as_json
from langchain_memengine.storage.record_values import (
    Hiding,
    MemoryRecord,
    Quarantine,
    RecordState,
    Supersession,
)

_TIMES = ("created_at", "updated_at", "valid_from", "expires_at")


def record_from_json(values: Mapping[str, Any]) -> MemoryRecord:
    """Return the record that :func:`answers.as_json` made plain values of.

    Raises:
        ValueError: A value is missing, or no such record is possible.
    """
    names = {one.name for one in fields(MemoryRecord)}
    try:
        known = {name: value for name, value in values.items() if name in names}
        times = {name: _moment(known.get(name)) for name in _TIMES}
        return MemoryRecord(**{**known, **times})
    except (TypeError, AttributeError) as error:
        raise ValueError(f"This is no record: {error}.") from error


def state_json(state: RecordState) -> str | None:
    """Return a state as JSON, ``None`` where there is nothing."""
    if state == RecordState():
        return None
    return json.dumps(as_json(state), ensure_ascii=False, sort_keys=True)


def state_from_json(text: str | None) -> RecordState:
    """Return the state that :func:`state_json` wrote."""
    if text is None:
        return RecordState()
    return _state(json.loads(text))


def _state(values: Mapping[str, Any]) -> RecordState:
    record = values["record"]
    hiding, quarantine = values.get("hiding"), values.get("quarantine")  # neither in older rows
    return RecordState(
        None if record is None else record_from_json(record),
        tuple(supersession_from_json(one) for one in values["superseded_by"]),
        None if hiding is None else Hiding(hiding["kept_id"], _moment(hiding["at"])),
        None if quarantine is None else quarantine_from_json(quarantine),
    )


def supersession_from_json(values: Mapping[str, Any]) -> Supersession:
    """Return the supersession that :func:`answers.as_json` made plain values of.

    Raises:
        ValueError: A value is missing.
    """
    try:
        return Supersession(**{**values, "at": _moment(values["at"])})
    except (KeyError, TypeError) as error:
        raise ValueError(f"This is no supersession: {error}.") from error


def quarantine_from_json(values: Mapping[str, Any]) -> Quarantine:
    """Return the quarantine that :func:`answers.as_json` made plain values of.

    Raises:
        ValueError: A value is missing.
    """
    try:
        return Quarantine(**{**values, "at": _moment(values["at"])})
    except (KeyError, TypeError) as error:
        raise ValueError(f"This is no quarantine: {error}.") from error


def _moment(text: str | None) -> Any:
    return None if text is None else datetime.fromisoformat(text)
