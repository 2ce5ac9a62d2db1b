"""Rows of experiences. Uses never bump the change counter: nothing is found differently."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, delete, func, select, update

from langchain_memengine.storage import dialects
from langchain_memengine.storage.experience_schema import experiences
from langchain_memengine.storage.experience_values import (
    Experience,
    ExperienceKind,
    ExperienceStats,
    IntentRow,
)
from langchain_memengine.storage.statements import HotQuery, batches
from langchain_memengine.storage.times import from_ms, to_ms
from langchain_memengine.storage.transaction import Transaction

_REMOVED = "experiences_removed_seq"

_TIMES = ("created_at", "last_used_at", "decayed_at")
_COLUMNS = tuple(column for column in experiences.c if column.name not in {"store_id", "seq"})
_NAMES = tuple(column.name for column in _COLUMNS)

_of_store = experiences.c.store_id == bindparam("store_id")
_BY_ID = HotQuery(
    select(*_COLUMNS).where(_of_store, experiences.c.id.in_(bindparam("ids", expanding=True)))
)
_INTENTS = HotQuery(
    select(
        experiences.c.id,
        experiences.c.user,
        experiences.c.kind,
        experiences.c.intent,
        experiences.c.tags,
        experiences.c.created_at,
        experiences.c.weight * experiences.c.success_score,
    ).where(_of_store, experiences.c.seq > bindparam("after_seq"))
)


def put(tx: Transaction, learnt: Sequence[Experience]) -> None:
    """Store experiences; those with a known id replace what it stood for."""
    rows = [
        {
            **{name: getattr(one, name) for name in _NAMES},
            **{name: to_ms(getattr(one, name)) for name in _TIMES},
            "solution": json.dumps(one.solution, ensure_ascii=False),
            "tags": json.dumps(one.tags, ensure_ascii=False),
            "store_id": tx.store_id,
            "seq": tx.seq,
        }
        for one in learnt
    ]
    dialects.upsert(tx.connection, experiences, rows)


def by_id(tx: Transaction, ids: Sequence[str]) -> dict[str, Experience]:
    """Return the experiences that exist, by id."""
    found: dict[str, Experience] = {}
    for batch in batches(ids):
        rows = _BY_ID.rows(tx.connection, {"store_id": tx.store_id, "ids": list(batch)})
        found |= {one.id: one for one in map(_experience, rows)}
    return found


def latest(
    tx: Transaction,
    users: Collection[str],
    kind: ExperienceKind | None = None,
    *,
    limit: int | None = None,
) -> list[Experience]:
    """Return what these users learnt, the newest first."""
    statement = (
        select(*_COLUMNS)
        .where(experiences.c.store_id == tx.store_id, experiences.c.user.in_(users))
        .order_by(experiences.c.created_at.desc(), experiences.c.id)
        .limit(limit)
    )
    if kind is not None:
        statement = statement.where(experiences.c.kind == kind)
    return [_experience(tuple(row)) for row in tx.connection.execute(statement)]


def all_users(tx: Transaction) -> list[str]:
    """Return who learnt something, ``""`` for what is everyone's."""
    found = select(experiences.c.user).where(experiences.c.store_id == tx.store_id).distinct()
    return [user for (user,) in tx.connection.execute(found)]


def of_users(
    tx: Transaction, users: Sequence[str], *, session: str | None = None
) -> Iterator[Experience]:
    """Yield what these users learnt, in one conversation if it is named."""
    for batch in batches(users):
        statement = select(*_COLUMNS).where(
            experiences.c.store_id == tx.store_id, experiences.c.user.in_(batch)
        )
        if session is not None:
            statement = statement.where(experiences.c.session == session)
        for row in tx.connection.execute(statement):
            yield _experience(tuple(row))


def intents(tx: Transaction, *, after_seq: int) -> list[IntentRow]:
    """Return what became findable, or differently so, after a value of the change counter."""
    rows = _INTENTS.rows(tx.connection, {"store_id": tx.store_id, "after_seq": after_seq})
    return [
        IntentRow(id_, user, kind, intent, tuple(json.loads(tags)), created_ms, quality)
        for id_, user, kind, intent, tags, created_ms, quality in rows
    ]


def removed_seq(tx: Transaction) -> int:
    """Return the value of the change counter when experiences were last removed; 0 if never."""
    return int(tx.get_meta(_REMOVED) or 0)


def keys(tx: Transaction) -> set[tuple[str, str]]:
    """Return (user, id) of every experience."""
    rows = tx.connection.execute(
        select(experiences.c.user, experiences.c.id).where(experiences.c.store_id == tx.store_id)
    )
    return {(user, id_) for user, id_ in rows}


def note_use(tx: Transaction, ids: Sequence[str], *, now: datetime) -> None:
    """Count one use of each."""
    for batch in batches(ids):
        tx.connection.execute(
            update(experiences)
            .where(experiences.c.store_id == tx.store_id, experiences.c.id.in_(batch))
            .values(use_count=experiences.c.use_count + 1, last_used_at=to_ms(now))
        )


def weights(tx: Transaction) -> list[tuple[str, float, int]]:
    """Return (id, weight, milliseconds from when on age is not in the weight yet) of each."""
    times = [experiences.c[name] for name in _TIMES]
    rows = tx.connection.execute(
        select(experiences.c.id, experiences.c.weight, *times).where(
            experiences.c.store_id == tx.store_id
        )
    )
    return [
        (id_, weight, max(ms for ms in moments if ms is not None)) for id_, weight, *moments in rows
    ]


def set_weights(tx: Transaction, new: Mapping[str, float], *, now: datetime) -> None:
    """Replace weights by id; the age up to now is in them."""
    if not new:
        return
    statement = (
        update(experiences)
        .where(experiences.c.store_id == tx.store_id, experiences.c.id == bindparam("of_id"))
        .values(weight=bindparam("new_weight"), decayed_at=to_ms(now), seq=tx.seq)
    )
    rows = [{"of_id": id_, "new_weight": weight} for id_, weight in new.items()]
    tx.connection.execute(statement, rows)


def remove(tx: Transaction, ids: Sequence[str]) -> int:
    """Remove experiences for good; return how many there were."""
    removed = 0
    for batch in batches(ids):
        statement = delete(experiences).where(
            experiences.c.store_id == tx.store_id, experiences.c.id.in_(batch)
        )
        removed += tx.connection.execute(statement).rowcount
    return _noted(tx, removed)


def remove_below(tx: Transaction, weight: float) -> int:
    """Remove what weighs less, for good; return how many those were."""
    statement = delete(experiences).where(
        experiences.c.store_id == tx.store_id, experiences.c.weight < weight
    )
    return _noted(tx, tx.connection.execute(statement).rowcount)


def stats(tx: Transaction) -> ExperienceStats:
    """Return how much was learnt, over all users."""
    columns = experiences.c
    rows = tx.connection.execute(
        select(
            columns.kind,
            func.count(),
            func.sum(columns.use_count),
            func.sum(columns.weight),
            func.sum(columns.success_score),
        )
        .where(columns.store_id == tx.store_id)
        .group_by(columns.kind)
        .order_by(columns.kind)
    ).all()
    total = sum(row[1] for row in rows)
    if not total:
        return ExperienceStats()
    return ExperienceStats(
        total=total,
        by_kind={row[0]: row[1] for row in rows},
        uses=int(sum(row[2] for row in rows)),
        average_weight=sum(row[3] for row in rows) / total,
        average_success=sum(row[4] for row in rows) / total,
    )


def _noted(tx: Transaction, removed: int) -> int:
    """Tell other processes by the change counter that rows are gone."""
    if removed:
        tx.set_meta(_REMOVED, str(tx.seq))
    return removed


def _experience(row: Sequence[Any]) -> Experience:
    values = dict(zip(_NAMES, row, strict=True))
    values |= {name: from_ms(values[name]) for name in _TIMES}
    return Experience(
        **{
            **values,
            "solution": json.loads(values["solution"]),
            "tags": tuple(json.loads(values["tags"])),
        }
    )
