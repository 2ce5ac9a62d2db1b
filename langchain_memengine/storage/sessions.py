"""Memory sessions: which sources a conversation may use, and what it was shown."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import RowMapping, insert, select, update

from langchain_memengine.shown import Shown
from langchain_memengine.storage.conversation_schema import (
    session_recalls,
    sessions,
)
from langchain_memengine.storage.times import from_ms, to_ms
from langchain_memengine.storage.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Session(Shown):
    """A conversation with the sources it may use.

    Attributes:
        id: Made by the engine.
        owner: Folder name of the user whose it is.
        thread_id: The conversation.
        sources: Source URIs, or prefixes that end with ``*``; none is all.
        created_at: When it began.
        archived_at: When it ended; ``None`` while it goes on.
    """

    id: str
    owner: str
    thread_id: str
    sources: tuple[str, ...]
    created_at: datetime
    archived_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class SessionRecall(Shown):
    """What a session was shown for one query.

    Attributes:
        query: What was asked.
        head: The branch that asked, if it said so.
        hits: Each with ``id``, ``path``, ``start_line``, ``end_line``, ``source``, ``score``,
            ``receipt`` and the other fields of a hit, but its words.
        at: When.
    """

    query: str
    head: str | None
    hits: tuple[Mapping[str, Any], ...]
    at: datetime


def create(tx: Transaction, session: Session) -> None:
    """Store a new session."""
    tx.connection.execute(
        insert(sessions).values(
            store_id=tx.store_id,
            id=session.id,
            owner=session.owner,
            thread_id=session.thread_id,
            sources=_json(session.sources),
            created_at=to_ms(session.created_at),
            archived_at=to_ms(session.archived_at),
        )
    )


def find(tx: Transaction, session_id: str, owner: str) -> Session | None:
    """Return a user's session; ``None`` if they have none of this id."""
    query = select(sessions).where(
        sessions.c.store_id == tx.store_id,
        sessions.c.id == session_id,
        sessions.c.owner == owner,
    )
    row = tx.connection.execute(query).mappings().one_or_none()
    return None if row is None else _from_row(row)


def latest(tx: Transaction, owner: str, *, limit: int) -> list[Session]:
    """Return a user's sessions, newest first; of those of one moment the highest id."""
    query = (
        select(sessions)
        .where(sessions.c.store_id == tx.store_id, sessions.c.owner == owner)
        .order_by(sessions.c.created_at.desc(), sessions.c.id.desc())
        .limit(limit)
    )
    return [_from_row(row) for row in tx.connection.execute(query).mappings()]


def archive(tx: Transaction, session_id: str, *, now: datetime) -> None:
    """Note when a session ended, unless it ended before."""
    tx.connection.execute(
        update(sessions)
        .where(
            sessions.c.store_id == tx.store_id,
            sessions.c.id == session_id,
            sessions.c.archived_at.is_(None),
        )
        .values(archived_at=to_ms(now))
    )


def add_recall(tx: Transaction, session_id: str, recall: SessionRecall) -> None:
    """Store what a session was shown."""
    tx.connection.execute(
        insert(session_recalls).values(
            store_id=tx.store_id,
            session_id=session_id,
            query=recall.query,
            head=recall.head,
            hits=_json(recall.hits),
            at=to_ms(recall.at),
        )
    )


def recalls(tx: Transaction, session_id: str) -> list[SessionRecall]:
    """Return what a session was shown, in order."""
    rows = tx.connection.execute(
        select(
            session_recalls.c.query,
            session_recalls.c.head,
            session_recalls.c.hits,
            session_recalls.c.at,
        )
        .where(
            session_recalls.c.store_id == tx.store_id, session_recalls.c.session_id == session_id
        )
        .order_by(session_recalls.c.num)
    )
    return [
        SessionRecall(query, head, tuple(json.loads(hits)), from_ms(at))
        for query, head, hits, at in rows
    ]


def _from_row(row: RowMapping) -> Session:
    return Session(
        row["id"],
        row["owner"],
        row["thread_id"],
        tuple(json.loads(row["sources"])),
        from_ms(row["created_at"]),
        from_ms(row["archived_at"]),
    )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
