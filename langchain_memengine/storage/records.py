"""Record rows: what is remembered, one row a memory."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, and_, func, or_, select

from langchain_memengine.storage import kept
from langchain_memengine.storage.record_values import (
    MemoryRecord,
    Place,
    RecordCount,
    RecordFilter,
)
from langchain_memengine.storage.schema import memories
from langchain_memengine.storage.statements import any_of, batches, matches
from langchain_memengine.storage.times import from_ms, to_ms
from langchain_memengine.storage.transaction import Transaction

_COLUMNS = (
    memories.c.id,
    memories.c.scope,
    memories.c.owner,
    memories.c.text,
    memories.c["metadata"],
    memories.c.origin,
    memories.c.trust,
    memories.c.thread_id,
    memories.c.commit_id,
    memories.c.created_at,
    memories.c.updated_at,
    memories.c.valid_from,
    memories.c.expires_at,
    memories.c.source,
)


def put(tx: Transaction, record: MemoryRecord) -> None:
    """Store a record, in place of the one with its id."""
    row = {
        "store_id": tx.store_id,
        "id": record.id,
        "text": record.text,
        "scope": record.scope,
        "owner": record.owner,
        "origin": record.origin,
        "trust": record.trust,
        "thread_id": record.thread_id,
        "commit_id": record.commit_id,
        "valid_from": to_ms(record.valid_from),
        "expires_at": to_ms(record.expires_at),
        "source": record.source,
        "metadata": json.dumps(
            dict(record.metadata), ensure_ascii=False, allow_nan=False, sort_keys=True
        ),
        "created_at": to_ms(record.created_at),
        "updated_at": to_ms(record.updated_at),
        "seq": tx.seq,
    }
    kept.put(tx, memories, [row])


def remove(tx: Transaction, ids: Iterable[str]) -> int:
    """Remove records; return how many there were."""
    removed = kept.remove(tx, memories, ids)
    if removed:
        tx.touch()
    return removed


def by_ids(tx: Transaction, ids: Iterable[str]) -> dict[str, MemoryRecord]:
    """Return those of these records that exist, whoever may read them."""
    found = {}
    for batch in batches(list(ids)):
        for record in _records(tx, memories.c.id.in_(batch)):
            found[record.id] = record
    return found


def page(
    tx: Transaction,
    places: Sequence[Place],
    wanted: RecordFilter,
    *,
    after: MemoryRecord | None = None,
    limit: int,
) -> list[MemoryRecord]:
    """Return records that may be read and are wanted, newest first, equally old ones by id.

    Args:
        tx: A view of the database.
        places: Scopes and owners that may be read.
        wanted: Which of them.
        after: Last record of the page before.
        limit: Records, at most.
    """
    conditions = [is_in(places), *_wanted(wanted)]
    if after is not None:
        created = to_ms(after.created_at)
        later = and_(memories.c.created_at == created, memories.c.id > after.id)
        conditions.append(or_(memories.c.created_at < created, later))
    return _records(tx, *conditions, limit=limit)


def expired(tx: Transaction, places: Sequence[Place] | None, now: datetime) -> list[MemoryRecord]:
    """Return records whose time is over; ``None`` looks at those of all users."""
    conditions = [] if places is None else [is_in(places)]
    return _records(tx, memories.c.expires_at <= to_ms(now), *conditions)


def counts(tx: Transaction, places: Sequence[Place] | None) -> list[RecordCount]:
    """Return how many records there are by scope, owner, origin and trust; ``None`` is all."""
    kind = (memories.c.scope, memories.c.owner, memories.c.origin, memories.c.trust)
    times = func.count(), func.min(memories.c.created_at), func.max(memories.c.created_at)
    conditions = [] if places is None else [is_in(places)]
    statement = (
        select(*kind, *times).where(memories.c.store_id == tx.store_id, *conditions).group_by(*kind)
    )
    found: dict[tuple[str, ...], RecordCount] = {}
    for row in kept.rows(tx, memories, statement):
        scope, owner, origin, trust, number, first, last = tuple(row)
        one = RecordCount(scope, owner, origin, trust, number, from_ms(first), from_ms(last))
        of_kind = (scope, owner, origin, trust)
        found[of_kind] = _together(found[of_kind], one) if of_kind in found else one
    return [found[of_kind] for of_kind in sorted(found)]


def _together(one: RecordCount, other: RecordCount) -> RecordCount:
    return replace(
        one,
        records=one.records + other.records,
        first_at=min(one.first_at, other.first_at),
        last_at=max(one.last_at, other.last_at),
    )


def is_in(places: Sequence[Place]) -> ColumnElement[bool]:
    """Return the condition that a record is in one of these scopes, of these owners."""
    return any_of((memories.c.scope == s) & (memories.c.owner == owner) for s, owner in places)


def source_is(source: str) -> ColumnElement[bool]:
    """Return the condition that a record was learnt from this, or from what begins so."""
    return matches(memories.c.source, source)


def matching(tx: Transaction, *conditions: ColumnElement[bool]) -> list[MemoryRecord]:
    """Return all records that meet these conditions, newest first."""
    return _records(tx, *conditions)


def _wanted(wanted: RecordFilter) -> list[ColumnElement[bool]]:
    equal = ("scope", "owner", "origin", "trust", "thread_id")
    found = [
        memories.c[name] == getattr(wanted, name)
        for name in equal
        if getattr(wanted, name) is not None
    ]
    if wanted.source is not None:
        found.append(source_is(wanted.source))
    if wanted.since is not None:
        found.append(memories.c.created_at >= to_ms(wanted.since))
    if wanted.until is not None:
        found.append(memories.c.created_at < to_ms(wanted.until))
    if wanted.valid_at is not None:
        at = to_ms(wanted.valid_at)
        begins, ends = memories.c.valid_from, memories.c.expires_at
        found += [or_(begins.is_(None), begins <= at), or_(ends.is_(None), ends > at)]
    return found


def _records(
    tx: Transaction, *conditions: ColumnElement[bool], limit: int | None = None
) -> list[MemoryRecord]:
    statement = (
        select(*_COLUMNS)
        .where(memories.c.store_id == tx.store_id, *conditions)
        .order_by(memories.c.created_at.desc(), memories.c.id)
        .limit(limit)
    )
    newest_first = sorted(
        kept.rows(tx, memories, statement), key=lambda row: (-row.created_at, row.id)
    )
    return [_from_row(row) for row in newest_first[:limit]]


def _from_row(row: Row[Any]) -> MemoryRecord:
    values = row._asdict()
    for name in ("created_at", "updated_at", "valid_from", "expires_at"):
        values[name] = from_ms(values[name])
    return MemoryRecord(**{**values, "metadata": json.loads(values["metadata"])})
