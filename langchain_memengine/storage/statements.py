"""Statements: how long lists reach them, and the few that every search sends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar, cast

from sqlalchemy import (
    Boolean,
    ColumnElement,
    Connection,
    Select,
    false,
    func,
    literal_column,
    or_,
)
from sqlalchemy.engine import Dialect
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

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
        lengths = tuple(
            len(value) if isinstance(value, list) else None for value in parameters.values()
        )
        sql, names, places = self._compiled(connection.dialect, tuple(parameters), lengths)
        values = [parameters[name] if at is None else parameters[name][at] for name, at in places]
        cursor = connection.connection.cursor()
        try:
            cursor.execute(sql, dict(zip(names, values, strict=True)) if names else values)
            return list(cursor.fetchall())
        except connection.dialect.loaded_dbapi.Error as error:
            raise _as_sqlalchemy_raises(connection, sql, error) from error
        finally:
            cursor.close()

    def _compile(
        self, dialect: Dialect, parameters: Sequence[str], lengths: Sequence[int | None]
    ) -> tuple[str, Sequence[str], Sequence[tuple[str, int | None]]]:
        """Return the SQL, its parameters' names, and which given value each of them takes.

        There are no names where parameters go by position.
        """
        shape = list(zip(parameters, lengths, strict=True))
        examples = {name: None if length is None else [None] * length for name, length in shape}
        state = self._statement.compile(dialect=dialect).construct_expanded_state(examples)
        sources: dict[str, tuple[str, int | None]] = {}
        for name, length in shape:
            if length is None:
                sources[name] = (name, None)
            else:  # SQLAlchemy numbers the values of a list from 1
                sources.update((f"{name}_{i + 1}", (name, i)) for i in range(length))
        if state.positiontup is None:
            return state.statement, list(sources), list(sources.values())
        return state.statement, (), [sources[name] for name in state.positiontup]


def control(connection: Connection, statement: str) -> None:
    """Send a statement that SQLAlchemy need not know of; its own way costs as much as a query.

    Raises:
        DBAPIError: The database failed.
    """
    cursor = connection.connection.cursor()
    try:
        cursor.execute(statement)
    except connection.dialect.loaded_dbapi.Error as error:
        raise _as_sqlalchemy_raises(connection, statement, error) from error
    finally:
        cursor.close()


def _as_sqlalchemy_raises(connection: Connection, sql: str, error: Any) -> DBAPIError:
    """Return SQLAlchemy's error for one of the driver's; a lost connection is given up."""
    driver = connection.connection.dbapi_connection
    is_lost = connection.dialect.is_disconnect(error, driver, None)
    if is_lost:
        connection.invalidate(error)
    return as_sqlalchemy_wraps(connection.dialect, sql, error, is_lost=is_lost)


def as_sqlalchemy_wraps(dialect: Dialect, sql: str, error: Any, *, is_lost: bool) -> DBAPIError:
    """Return SQLAlchemy's error for one of the driver's, where SQLAlchemy does not make it."""
    base = dialect.loaded_dbapi.Error
    wrapped = DBAPIError.instance(sql, None, error, base, connection_invalidated=is_lost)
    return cast("DBAPIError", wrapped)


def any_of(conditions: Iterable[ColumnElement[bool]]) -> ColumnElement[bool]:
    """Return the condition that one of these is met; none of none, where ``or_()`` asks nothing."""
    return or_(false(), *conditions)


def begins_with(column: ColumnElement[str], prefix: str) -> ColumnElement[bool]:
    """Return the condition that a text begins so; ``LIKE`` takes ``a`` for ``A`` on SQLite."""
    return _BeginsWith(column, prefix, len(prefix))


class _BeginsWith(FunctionElement[bool]):
    """Whether a text begins with one of so many characters."""

    inherit_cache = True
    type = Boolean()


@compiles(_BeginsWith)
def _compared(condition: _BeginsWith, compiler: SQLCompiler, **options: Any) -> str:
    text, prefix, length = condition.clauses
    return compiler.process(func.substr(text, literal_column("1"), length) == prefix, **options)


@compiles(_BeginsWith, "clickhousedb")
def _started(condition: _BeginsWith, compiler: SQLCompiler, **options: Any) -> str:
    text, prefix, _ = condition.clauses  # where substr counts bytes
    return compiler.process(func.startsWith(text, prefix), **options)


def matches(column: ColumnElement[str], pattern: str) -> ColumnElement[bool]:
    """Return the condition that a text is this one, or begins so where a ``*`` ends the pattern."""
    return begins_with(column, pattern[:-1]) if pattern.endswith("*") else column == pattern


def without_index(column: ColumnElement[str]) -> ColumnElement[str]:
    """Return a column that no index leads to.

    Without statistics SQLite takes the index on the partition, which leads through all of it, for
    a few rows that another index would lead to. What is no bare column has no index.
    """
    return column.concat(literal_column("''"))  # HotQuery knows no parameter of SQLAlchemy's


def is_in(column: ColumnElement[str], partition: str, *, after_seq: int) -> ColumnElement[bool]:
    """Return the condition that rows changed after ``after_seq`` are in a partition.

    Only few have changed: the index on ``seq`` leads to them.
    """
    return (without_index(column) if after_seq else column) == partition
