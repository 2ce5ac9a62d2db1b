"""``INSERT … ON CONFLICT``, which SQLite and PostgreSQL write in the same way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from sqlalchemy import Connection
from sqlalchemy.dialects import postgresql, sqlite

Insert = TypeVar("Insert", sqlite.Insert, postgresql.Insert)


def upsert(statement: Insert, names: Sequence[str], add: str | None) -> Insert:
    """Return an insertion that replaces the columns of rows whose primary key exists.

    Args:
        statement: Into the table.
        names: Columns of the rows.
        add: A column whose new value is added to the old one instead of replacing it.
    """
    keys = [column.name for column in statement.table.primary_key]
    changed: dict[str, Any] = {name: statement.excluded[name] for name in names if name not in keys}
    if not changed:
        return statement.on_conflict_do_nothing(index_elements=keys)
    if add is not None:
        changed[add] = statement.table.c[add] + statement.excluded[add]
    return statement.on_conflict_do_update(index_elements=keys, set_=changed)


def insert_unless_taken(
    connection: Connection, statement: Insert, key: Sequence[str]
) -> int | None:
    """Insert a row and return its number; ``None`` where the unique ``key`` exists already."""
    (number,) = statement.table.primary_key
    inserted = statement.on_conflict_do_nothing(index_elements=list(key)).returning(number)
    return connection.execute(inserted).scalar_one_or_none()
