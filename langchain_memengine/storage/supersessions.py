"""Supersessions: which record took the place of which, and on which branch.

Like a moved head, one takes the next value of the counter of commits, so that searches know when
to look again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, bindparam, delete, select

from langchain_memengine.storage import dialects
from langchain_memengine.storage.record_values import Supersession
from langchain_memengine.storage.schema import supersessions
from langchain_memengine.storage.statements import HotQuery, batches
from langchain_memengine.storage.times import from_ms, to_ms
from langchain_memengine.storage.transaction import Transaction

_EVERY = select(
    supersessions.c.old_id,
    supersessions.c.new_id,
    supersessions.c.commit_id,
    supersessions.c.at,
    supersessions.c.confidence,
).order_by(supersessions.c.old_id, supersessions.c.new_id)
_OF_RECORDS = HotQuery(
    _EVERY.where(
        supersessions.c.store_id == bindparam("store_id"),
        supersessions.c.old_id.in_(bindparam("ids", expanding=True)),
    )
)


def replace(tx: Transaction, old_id: str, new: Iterable[Supersession]) -> None:
    """Make these all that took the place of a record."""
    of_old = (supersessions.c.store_id == tx.store_id) & (supersessions.c.old_id == old_id)
    tx.connection.execute(delete(supersessions).where(of_old))
    rows = [
        {
            "store_id": tx.store_id,
            "old_id": old_id,
            "new_id": one.new_id,
            "commit_id": one.commit_id,
            "confidence": one.confidence,
            "at": to_ms(one.at),
        }
        for one in new
    ]
    dialects.upsert(tx.connection, supersessions, rows)
    tx.touch()
    _ = tx.commit_seq


def of_records(tx: Transaction, ids: Iterable[str]) -> list[Supersession]:
    """Return what took the place of some records, by the new record's id."""
    return [
        one
        for batch in batches(list(ids))
        for one in _from_rows(
            _OF_RECORDS.rows(tx.connection, {"store_id": tx.store_id, "ids": list(batch)})
        )
    ]


def by_records(tx: Transaction, ids: Iterable[str]) -> list[Supersession]:
    """Return what some records took the place of, by the old record's id."""
    return [
        one
        for batch in batches(list(ids))
        for one in _supersessions(tx, supersessions.c.new_id.in_(batch))
    ]


def everything(tx: Transaction) -> list[Supersession]:
    """Return all supersessions of the store."""
    return _supersessions(tx)


def remove(tx: Transaction, ids: Iterable[str]) -> None:
    """Remove what took the place of some records.

    What they took the place of stays superseded, even by a record that is gone.
    """
    for batch in batches(list(ids)):
        of_batch = (supersessions.c.store_id == tx.store_id) & supersessions.c.old_id.in_(batch)
        if tx.connection.execute(delete(supersessions).where(of_batch)).rowcount:
            _ = tx.commit_seq


def _supersessions(tx: Transaction, *conditions: ColumnElement[bool]) -> list[Supersession]:
    of_store = supersessions.c.store_id == tx.store_id
    return _from_rows(tx.connection.execute(_EVERY.where(of_store, *conditions)))


def _from_rows(rows: Iterable[Sequence[Any]]) -> list[Supersession]:
    return [
        Supersession(old_id, new_id, commit_id, from_ms(at), confidence)
        for old_id, new_id, commit_id, at, confidence in rows
    ]
