"""Quarantines: memory that nothing finds until it is released.

Like a supersession, one takes the next value of the counter of commits, so that searches know when
to look again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, bindparam, delete, select

from langchain_memengine.storage import dialects, kept
from langchain_memengine.storage.quarantine_schema import quarantines
from langchain_memengine.storage.record_values import RECORD_PREFIX, Quarantine
from langchain_memengine.storage.schema import (
    chunks,
    memories,
)
from langchain_memengine.storage.statements import HotQuery, batches, matches
from langchain_memengine.storage.times import from_ms, to_ms
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.text.uris import learnt_from

_EVERY = select(
    quarantines.c.source, quarantines.c.reason, quarantines.c.by_user, quarantines.c.at
).order_by(quarantines.c.at.desc(), quarantines.c.source)
_OF_TARGETS = HotQuery(
    _EVERY.where(
        quarantines.c.store_id == bindparam("store_id"),
        quarantines.c.target_id.in_(bindparam("ids", expanding=True)),
    )
)


def put(tx: Transaction, target_id: str, new: Quarantine | None) -> None:
    """Make this the quarantine of a target; ``None`` ends it."""
    of_target = (quarantines.c.store_id == tx.store_id) & (quarantines.c.target_id == target_id)
    tx.connection.execute(delete(quarantines).where(of_target))
    if new is not None:
        row = {
            "store_id": tx.store_id,
            "target_id": target_id,
            "source": new.source,
            "reason": new.reason,
            "by_user": new.by,
            "at": to_ms(new.at),
        }
        dialects.upsert(tx.connection, quarantines, [row])
    _changed(tx)


def of_targets(tx: Transaction, ids: Iterable[str]) -> dict[str, Quarantine]:
    """Return the quarantines of those of these targets that have one."""
    return {
        one.target_id: one
        for batch in batches(list(ids))
        for one in _from_rows(
            _OF_TARGETS.rows(tx.connection, {"store_id": tx.store_id, "ids": list(batch)})
        )
    }


def everything(tx: Transaction) -> list[Quarantine]:
    """Return all quarantines of the store, newest first."""
    return _found(tx)


def forget(tx: Transaction, sources: Collection[str]) -> int:
    """Remove the quarantines of exactly these sources; return how many there were."""
    removed = 0
    for batch in batches(list(sources)):
        mine = (quarantines.c.store_id == tx.store_id) & quarantines.c.source.in_(batch)
        removed += tx.connection.execute(delete(quarantines).where(mine)).rowcount
    if removed:
        _changed(tx)
    return removed


def hidden_sources(tx: Transaction, known: Sequence[Quarantine] | None = None) -> frozenset[str]:
    """Return the sources of everything that is quarantined now.

    What records were learnt from counts for the records. Items of stores are nobody's memory.

    Args:
        tx: A view of the database.
        known: All quarantines of the store, if the caller has read them.
    """
    known = everything(tx) if known is None else known
    if not known:
        return frozenset()
    exact = {one.source for one in known if not one.source.endswith("*")}
    found = set(exact)
    named = sorted(set().union(*map(learnt_from, exact)))
    of_records: list[ColumnElement[bool]] = [
        memories.c.source.in_(batch) for batch in batches(named)
    ]
    for one in known:
        if one.source in exact:
            continue
        of_records += [matches(memories.c.source, name) for name in learnt_from(one.source)]
        begins = (chunks.c.scope != "store") & matches(chunks.c.source, one.source)
        rows = select(chunks.c.source).where(chunks.c.store_id == tx.store_id, begins).distinct()
        found.update(tx.connection.execute(rows).scalars())
    for condition in of_records:
        ids = select(memories.c.id).where(
            memories.c.store_id == tx.store_id, memories.c.source != "", condition
        )
        found.update(RECORD_PREFIX + one for (one,) in kept.rows(tx, memories, ids))
    return frozenset(found)


def _changed(tx: Transaction) -> None:
    tx.touch()
    _ = tx.commit_seq


def _found(tx: Transaction, *conditions: ColumnElement[bool]) -> list[Quarantine]:
    of_store = quarantines.c.store_id == tx.store_id
    return _from_rows(tx.connection.execute(_EVERY.where(of_store, *conditions)))


def _from_rows(rows: Iterable[Sequence[Any]]) -> list[Quarantine]:
    return [Quarantine(source, reason, by, from_ms(at)) for source, reason, by, at in rows]
