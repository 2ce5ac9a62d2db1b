"""Revisions: what was done to each record, and what it was before."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, select

from langchain_memengine.errors import NotFoundError
from langchain_memengine.storage import kept
from langchain_memengine.storage.record_json import (
    state_from_json,
    state_json,
)
from langchain_memengine.storage.record_values import (
    RecordState,
    Revision,
    RevisionKind,
)
from langchain_memengine.storage.schema import memory_revisions
from langchain_memengine.storage.statements import batches
from langchain_memengine.storage.times import from_ms, to_ms
from langchain_memengine.storage.transaction import Transaction

_COLUMNS = (
    memory_revisions.c.id,
    memory_revisions.c.kind,
    memory_revisions.c.target_id,
    memory_revisions.c.at,
    memory_revisions.c.commit_id,
    memory_revisions.c.before,
    memory_revisions.c.after,
)


def put(tx: Transaction, new: Sequence[Revision]) -> None:
    """Store revisions, in place of those with their ids."""
    rows = [
        {
            "store_id": tx.store_id,
            "id": revision.id,
            "kind": revision.kind,
            "target_id": revision.target_id,
            "before": state_json(revision.before),
            "after": state_json(revision.after),
            "commit_id": revision.commit_id,
            "at": to_ms(revision.at),
        }
        for revision in new
    ]
    kept.put(tx, memory_revisions, rows)


def get(tx: Transaction, revision_id: str) -> Revision:
    """Return a revision.

    Raises:
        NotFoundError: There is no such revision.
    """
    found = _revisions(tx, memory_revisions.c.id == revision_id)
    if not found:
        raise no_revision(revision_id)
    return found[0]


def no_revision(revision_id: str) -> NotFoundError:
    """Return the error for a revision that is not there, or not for this actor."""
    return NotFoundError(
        f"There is no revision {revision_id!r}. See: memengine revisions, or in Python "
        "engine.revisions(id) and engine.latest_revisions()"
    )


def known(tx: Transaction, ids: Sequence[str]) -> set[str]:
    """Return those of these ids that revisions have."""
    return {
        found
        for batch in batches(ids)
        for (found,) in kept.rows(
            tx,
            memory_revisions,
            select(memory_revisions.c.id).where(
                memory_revisions.c.store_id == tx.store_id, memory_revisions.c.id.in_(batch)
            ),
        )
    }


def of_records(tx: Transaction, ids: Iterable[str]) -> list[Revision]:
    """Return the revisions of some records, oldest first."""
    return [
        revision
        for batch in batches(list(ids))
        for revision in _revisions(tx, memory_revisions.c.target_id.in_(batch))
    ]


def latest(tx: Transaction, *, before: Revision | None = None, limit: int) -> list[Revision]:
    """Return revisions, newest first, those of one moment by descending id.

    Args:
        tx: A view of the database.
        before: Last revision of the page before.
        limit: Revisions, at most.
    """
    at, key = memory_revisions.c.at, memory_revisions.c.id
    statement = select(*_COLUMNS).where(memory_revisions.c.store_id == tx.store_id)
    if before is not None:
        moment = to_ms(before.at)
        statement = statement.where((at < moment) | ((at == moment) & (key < before.id)))
    found = kept.rows(tx, memory_revisions, statement.order_by(at.desc(), key.desc()).limit(limit))
    in_order = sorted(found, key=lambda row: (row.at, row.id), reverse=True)
    return [_from_row(row) for row in in_order[:limit]]


def made_at(tx: Transaction, at: datetime, kinds: Collection[RevisionKind]) -> list[Revision]:
    """Return the revisions of some kinds that were made at a time, to the millisecond."""
    made = (memory_revisions.c.at == to_ms(at)) & memory_revisions.c.kind.in_(list(kinds))
    return _revisions(tx, made)


def newest(tx: Transaction, ids: Iterable[str]) -> dict[str, str]:
    """Return the ids of the last revisions of some records or chunks, by those."""
    return {revision.target_id: revision.id for revision in of_records(tx, ids)}


def undone(tx: Transaction, ids: Iterable[str]) -> set[str]:
    """Return the records and chunks whose last change somebody took back."""
    last = {revision.target_id: revision for revision in of_records(tx, ids)}
    return {target for target, revision in last.items() if revision.kind == "undo"}


def said_again(tx: Transaction, ids: Iterable[str]) -> set[tuple[str, str]]:
    """Return (record, what says the same in its place) of merges and folds of some records."""
    return {
        (revision.target_id, one.new_id)
        for revision in of_records(tx, ids)
        if revision.kind in {"merge", "fold"}
        for one in revision.after.superseded_by
        if one not in revision.before.superseded_by
    }


def forget(tx: Transaction, ids: Iterable[str]) -> int:
    """Take the words out of all revisions of some records; return how many had any.

    The rows stay, so that an undo can say that they were forgotten.
    """
    with_words = [found for found in of_records(tx, ids) if found.kind != "forgotten"]
    nothing = RecordState()
    put(tx, [replace(one, kind="forgotten", before=nothing, after=nothing) for one in with_words])
    return len(with_words)


def _revisions(tx: Transaction, condition: ColumnElement[bool]) -> list[Revision]:
    statement = select(*_COLUMNS).where(memory_revisions.c.store_id == tx.store_id, condition)
    found = kept.rows(tx, memory_revisions, statement)
    return [_from_row(row) for row in sorted(found, key=lambda row: (row.at, row.id))]


def _from_row(row: Row[Any]) -> Revision:
    values = row._asdict()
    values["at"] = from_ms(values["at"])
    for name in ("before", "after"):
        values[name] = state_from_json(values[name])
    return Revision(**values)
