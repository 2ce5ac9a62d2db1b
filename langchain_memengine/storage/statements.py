"""Statements: how long lists reach them, and the few that every search sends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from sqlalchemy import Connection, Select
from sqlalchemy.engine import Dialect
from sqlalchemy.exc import DBAPIError

T = TypeVar("T")

MAX_PARAMETERS = 500
"""Values in one IN list. Older SQLite builds accept 999 parameters in a statement."""


def batches(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """Cut values into runs that fit into one statement."""
    return (values[i : i + MAX_PARAMETERS] for i in range(0, len(values), MAX_PARAMETERS))


class HotQuery:
    """A query that every search sends.

    It is compiled once for each dialect and length of its lists, and then goes straight to the
    driver: SQLAlchemy's own way to the same rows costs several times what SQLite does. Rows are
    plain tuples, so columns that need a type of SQLAlchemy's to be read do not belong in it.
    """

    def __init__(self, statement: Select[Any]) -> None:
        """Take a statement with bind parameters; lists are ``bindparam(…, expanding=True)``."""
        self._statement = statement
        self._compiled = lru_cache(64)(self._compile)

    def rows(self, connection: Connection, parameters: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """Return the rows for these parameters.

        Raises:
            DBAPIError: The database failed.
        """
        shape = tuple(
            (name, len(value) if isinstance(value, list) else None)
            for name, value in parameters.items()
        )
        sql, order = self._compiled(connection.dialect, shape)
        flat = dict(pair for given in parameters.items() for pair in _flat(*given))
        cursor = connection.connection.cursor()
        try:
            cursor.execute(sql, flat if order is None else [flat[name] for name in order])
            return list(cursor.fetchall())
        except connection.dialect.loaded_dbapi.Error as error:
            raise DBAPIError.instance(sql, None, error, Exception) from error
        finally:
            cursor.close()

    def _compile(
        self, dialect: Dialect, shape: tuple[tuple[str, int | None], ...]
    ) -> tuple[str, Sequence[str] | None]:
        examples = {name: None if length is None else [None] * length for name, length in shape}
        state = self._statement.compile(dialect=dialect).construct_expanded_state(examples)
        return state.statement, state.positiontup


def _flat(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parameters that SQLAlchemy makes of one: a list is numbered from 1."""
    if isinstance(value, list):
        yield from ((f"{name}_{i}", one) for i, one in enumerate(value, start=1))
    else:
        yield name, value
