"""Make foreign text and metadata storable, once, at the boundary."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any

from langchain_memengine.errors import ConfigurationError

_SURROGATE = re.compile("[\ud800-\udfff]")
MAX_DEPTH = 50
"""Levels of lists and mappings in metadata, at most."""

_MAX_INT_BITS = 1024  # what a float can hold; JSON texts of far larger ones cannot be read back


def clean_text(text: str) -> str:
    """Return text that every database stores: no NUL, lone surrogates replaced by U+FFFD.

    Raises:
        ConfigurationError: It is no text.
    """
    if not isinstance(text, str):
        raise ConfigurationError(f"A str was expected, and a {type(text).__name__} given.")
    return _SURROGATE.sub("\ufffd", text.replace("\0", ""))


def clean_metadata(
    metadata: Mapping[Any, Any] | None, *, levels: int = MAX_DEPTH
) -> dict[str, Any]:
    """Return metadata as JSON types that come back from storage as they went in.

    Datetimes become ISO 8601 in UTC (naive ones are read as UTC), dates ISO 8601, tuples and sets
    lists, NaN and infinities ``None``; keys become strings.

    Args:
        metadata: Any values.
        levels: How deep they may be nested.

    Raises:
        ConfigurationError: It is no mapping, or a value has a type that JSON does not know, is an
            integer of more than 1,024 bits, or is nested deeper.
    """
    if not isinstance(metadata or {}, Mapping):
        raise ConfigurationError(
            f"Metadata is a {type(metadata).__name__}. Pass a mapping: {{name: value}}."
        )
    return {_key(key): _clean(value, _key(key), levels) for key, value in (metadata or {}).items()}


def as_utc(moment: datetime) -> datetime:
    """Return the aware UTC datetime; a naive one is read as UTC.

    Raises:
        ConfigurationError: It is no datetime, or in UTC before the year 1 or after 9999.
    """
    if not isinstance(moment, datetime):
        raise ConfigurationError(
            f"{moment!r} is no time. Pass a datetime, with its time zone if it is not in UTC."
        )
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise ConfigurationError(
            f"The time {moment.isoformat()} is outside the calendar in UTC. "
            "Use one from the years 1 to 9999."
        ) from error


def _key(key: Any) -> str:
    return clean_text(str(key))


def _clean(value: Any, key: str, levels: int) -> Any:
    if levels < 1:
        raise ConfigurationError(
            f"The metadata value {key!r} is nested too deep, or holds itself; at most {MAX_DEPTH} "
            "levels can be stored. Use flat values."
        )
    match value:
        case Mapping():
            return {
                _key(k): _clean(inner, f"{key}.{_key(k)}", levels - 1) for k, inner in value.items()
            }
        case set() | frozenset():
            return sorted((_clean(inner, key, levels - 1) for inner in value), key=repr)
        case list() | tuple():
            return [_clean(inner, key, levels - 1) for inner in value]
        case _:
            return _clean_scalar(value, key)


def _clean_scalar(value: Any, key: str) -> Any:
    match value:
        case None | bool():
            cleaned: Any = value
        case int() if value.bit_length() <= _MAX_INT_BITS:
            cleaned = value
        case int():
            raise ConfigurationError(
                f"The metadata value {key!r} is an integer of {value.bit_length()} bits; at most "
                f"{_MAX_INT_BITS} can be stored. Store it as text."
            )
        case str():
            cleaned = clean_text(value)
        case float():
            cleaned = value if math.isfinite(value) else None
        case datetime():
            cleaned = as_utc(value).isoformat()
        case date():
            cleaned = value.isoformat()
        case _:
            raise ConfigurationError(
                f"The metadata value {key!r} has the type {type(value).__name__}, which cannot be "
                "stored. Use text, numbers, booleans, dates, lists or mappings of them."
            )
    return cleaned
