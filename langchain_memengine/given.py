"""Numbers and messages as callers give them, checked in one place.

What no clock or database takes, or each takes otherwise, is refused here, by the name that it was
given under.
"""

from __future__ import annotations

import numbers
import operator
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from langchain_memengine.errors import ConfigurationError

MOST = 2**31 - 1
"""Largest number that every database takes."""

MOST_DAYS = 365_000
"""Longest age: what is older than the calendar has no date."""

_SHOWN_CHARS = 40


def whole(name: str, value: Any, *, least: int = 0, most: int = MOST) -> int:
    """Return a whole number; one of another library becomes Python's own.

    Raises:
        ConfigurationError: It is none, or not from ``least`` to ``most``.
    """
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None or not least <= number <= most:
        raise _refused(name, value, f"a whole number from {least:,} to {most:,}")
    return number


def real(name: str, value: Any, *, least: float = 0, most: float = MOST) -> float:
    """Return a number that need not be whole.

    Raises:
        ConfigurationError: It is none, or not from ``least`` to ``most``.
    """
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not is_number or not least <= value <= most:
        raise _refused(name, value, f"a number from {least:,} to {most:,}")
    return float(value)


def age(name: str, value: Any) -> timedelta:
    """Return how old something must be at least.

    Raises:
        ConfigurationError: It is no time, negative, or longer than :data:`MOST_DAYS` days.
    """
    if not isinstance(value, timedelta) or not timedelta(0) <= value <= timedelta(days=MOST_DAYS):
        raise _refused(name, value, f"a timedelta from 0 to {MOST_DAYS:,} days")
    return value


def messages(value: Sequence[Any]) -> None:
    """Make sure that these are messages of LangChain.

    Raises:
        ConfigurationError: One is something else, like a text or a mapping.
    """
    for place, one in enumerate(value):
        if not (hasattr(one, "type") and hasattr(one, "content")):  # their class loads slowly
            raise ConfigurationError(
                f"messages[{place}] is a {type(one).__name__}, no message of LangChain. Convert "
                "them with langchain_core.messages.convert_to_messages first."
            )


def _refused(name: str, value: Any, wanted: str) -> ConfigurationError:
    try:
        given = str(value) if isinstance(value, timedelta) else repr(value)
    except ValueError:  # Python writes no integer of thousands of digits
        given = f"a {type(value).__name__} too long to show"
    given = given if len(given) <= _SHOWN_CHARS else f"{given[:_SHOWN_CHARS]}…"
    return ConfigurationError(f"{name}={given} must be {wanted}.")
