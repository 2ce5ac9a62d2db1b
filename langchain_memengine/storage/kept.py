"""Records, revisions and messages, whether their rows are here or in ClickHouse.

Beside ClickHouse a change is first a row here, in the transaction that makes it, marked to wait for
being moved there. So a reader takes the rows that are here, and of those there the ones that do not
wait; a removed one is a mark without a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, Table, delete, func, select

from langchain_memengine.storage import dialects
from langchain_memengine.storage.clickhouse import KEPT, key_of
from langchain_memengine.storage.statements import batches
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.storage.waiting_schema import waiting


def rows(tx: Transaction, table: Table, statement: Select[Any]) -> list[Row[Any]]:
    """Return what a statement finds in a table.

    There are rows here and rows in ClickHouse: each part is in the statement's order, has its limit
    and is counted by itself, so that the caller orders, cuts and adds up.

    Args:
        tx: A view of the database.
        table: The only one that the statement reads; one that is never in ClickHouse is read here.
        statement: With a condition on the store.
    """
    found = list(tx.connection.execute(statement))
    if tx.clickhouse is not None and table in KEPT:
        is_new = key_of(table).not_in(_waiting_keys(tx, table))
        found += tx.clickhouse.rows(table, statement.where(is_new))
    return found


def count(tx: Transaction, table: Table, *conditions: ColumnElement[bool]) -> int:
    """Return how many rows of the store meet these conditions."""
    counted = select(func.count()).select_from(table)
    found = rows(tx, table, counted.where(table.c.store_id == tx.store_id, *conditions))
    return sum(number for (number,) in found)


def put(tx: Transaction, table: Table, new: Sequence[Mapping[str, Any]]) -> None:
    """Store rows, in place of those with their keys."""
    dialects.upsert(tx.connection, table, new)
    mark(tx, table, [row[key_of(table).name] for row in new])


def remove(tx: Transaction, table: Table, keys: Iterable[str]) -> int:
    """Remove the rows with these keys; return how many there were."""
    removed = 0
    for batch in batches(list(keys)):
        mine = (table.c.store_id == tx.store_id) & key_of(table).in_(batch)
        there = _keys_to_mark(tx, table, mine)
        gone = tx.connection.execute(delete(table).where(mine)).rowcount
        mark(tx, table, there, removed=True)
        removed += gone if tx.clickhouse is None else len(there)
    return removed


def mark(tx: Transaction, table: Table, keys: Sequence[str], *, removed: bool = False) -> None:
    """Let rows wait for ClickHouse, if that is where they belong."""
    if tx.clickhouse is None or not keys:
        return
    common = {"store_id": tx.store_id, "table_name": table.name, "version": tx.seq}
    marks = [{**common, "key": key, "removed": removed} for key in keys]
    dialects.upsert(tx.connection, waiting, marks)
    tx.has_waiting = True


def _waiting_keys(tx: Transaction, table: Table) -> list[str]:
    of_table = (waiting.c.store_id == tx.store_id) & (waiting.c.table_name == table.name)
    return list(tx.connection.execute(select(waiting.c.key).where(of_table)).scalars())


def _keys_to_mark(tx: Transaction, table: Table, mine: ColumnElement[bool]) -> list[str]:
    if tx.clickhouse is None:
        return []
    return [key for (key,) in rows(tx, table, select(key_of(table)).where(mine))]
