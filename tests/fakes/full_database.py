"""A database with rows in every table, of two stores."""

from typing import Any

from sqlalchemy import Boolean, Column, Float, Integer, LargeBinary, Table, create_engine, insert
from sqlalchemy import select as select_rows

from langchain_memengine.storage.column_types import Words
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.graph_schema import GRAPH
from langchain_memengine.storage.graph_schema import metadata as graph_metadata
from langchain_memengine.storage.schema import metadata
from tests.storage.contract import NOW

TABLES = (*metadata.sorted_tables, *graph_metadata.sorted_tables)
STORES = ("a", "b")
LOGS = {"schema_migrations", "graph_migrations"}
EACH = 3


def fill(url: str) -> None:
    """Make both schemas and put rows into every table but the logs of migrations."""
    for store in STORES:
        for schema in ({}, {"schema": GRAPH}):
            Database(url, store_id=store, now=NOW, busy_timeout_ms=0, **schema).close()
    engine = create_engine(url)
    with engine.begin() as connection:
        for table in TABLES:
            if table.name not in LOGS:
                connection.execute(insert(table), [row(table, n) for n in range(EACH)])
    engine.dispose()


def row(table: Table, number: int) -> dict[str, Any]:
    """Return values that fit the columns; what may be NULL is, in every other row."""
    return {
        column.name: value(column, number)
        for column in table.c
        if column is not table.autoincrement_column
    }


def value(column: Column[Any], number: int) -> Any:
    if column.nullable and number % 2:
        return None
    if column.name == "store_id":
        return STORES[number % 2]
    by_type = {
        Words: f"{number}Ä {column.name} 🙂"[: getattr(column.type, "length", None)],
        Boolean: bool(number % 2),
        Float: 0.1 + number,
        LargeBinary: bytes(range(256)) + bytes([number]),
        Integer: 2**31 - 1 - number,
    }
    return next(made for kind, made in by_type.items() if isinstance(column.type, kind))


def everything(url: str) -> dict[str, list[tuple[Any, ...]]]:
    """Return all rows of all tables, each sorted by its key."""
    engine = create_engine(url)
    with engine.connect() as connection:
        found = {
            table.name: [
                tuple(one)
                for one in connection.execute(select_rows(table).order_by(*table.primary_key))
            ]
            for table in TABLES
        }
    engine.dispose()
    return found
