"""Times as they stand in the tables: whole milliseconds since 1970 UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import overload

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@overload
def to_ms(moment: datetime) -> int: ...
@overload
def to_ms(moment: None) -> None: ...
@overload
def to_ms(moment: datetime | None) -> int | None: ...
def to_ms(moment: datetime | None) -> int | None:
    """Return milliseconds since 1970 UTC of an aware datetime."""
    return None if moment is None else (moment - _EPOCH) // timedelta(milliseconds=1)


@overload
def from_ms(milliseconds: int) -> datetime: ...
@overload
def from_ms(milliseconds: None) -> None: ...
@overload
def from_ms(milliseconds: int | None) -> datetime | None: ...
def from_ms(milliseconds: int | None) -> datetime | None:
    """Return the aware UTC datetime of milliseconds since 1970."""
    return None if milliseconds is None else _EPOCH + timedelta(milliseconds=milliseconds)
