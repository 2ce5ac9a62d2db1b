"""Make tables: what a new store costs is almost all the writing of these statements."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache

from sqlalchemy import Connection, Index, Table, inspect
from sqlalchemy.engine import Dialect
from sqlalchemy.schema import CreateIndex, CreateTable

from langchain_memengine.storage.statements import control


def create_missing(connection: Connection, tables: Sequence[Table], there: Collection[str]) -> None:
    """Create those of some tables that are not there, with their indexes.

    Args:
        connection: A connection in a transaction.
        tables: What is to be there.
        there: Names of the tables that are.

    Raises:
        DBAPIError: The database failed.
    """
    for table in tables:
        if table.name not in there:
            for statement in _written(table, _Kind(connection.dialect)):
                control(connection, statement)


def create_missing_index(
    connection: Connection, table: Table, name: str, there: Collection[str]
) -> None:
    """Create an index of a table, unless it is there; a new table was made with its indexes.

    Args:
        connection: A connection in a transaction.
        table: What has the index.
        name: Of the index.
        there: Names of the tables that were there before any was made.

    Raises:
        DBAPIError: The database failed.
    """
    if table.name in there and name not in {
        one["name"] for one in inspect(connection).get_indexes(table.name)
    }:
        index = next(one for one in table.indexes if one.name == name)
        control(connection, _index_statement(index, connection.dialect))


class _Kind:
    """A dialect that equals others of the same database and release: they write the same."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        is_mariadb = getattr(dialect, "is_mariadb", False)
        self._key = (dialect.name, dialect.driver, is_mariadb, dialect.server_version_info)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Kind) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


@lru_cache(maxsize=256)
def _written(table: Table, kind: _Kind) -> tuple[str, ...]:
    """Return the statements that create a table and its indexes."""
    indexes = sorted(table.indexes, key=lambda index: str(index.name))
    return (
        str(CreateTable(table).compile(dialect=kind.dialect)),
        *(_index_statement(index, kind.dialect) for index in indexes),
    )


def _index_statement(index: Index, dialect: Dialect) -> str:
    return str(CreateIndex(index).compile(dialect=dialect))
