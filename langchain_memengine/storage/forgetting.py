"""Remove what is forgotten from the tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Table, delete, select, update

from langchain_memengine.storage import chunks as chunk_rows
from langchain_memengine.storage import (
    experiences,
    files,
    hidden_chunks,
    kept,
    quarantines,
    records,
    revisions,
    supersessions,
)
from langchain_memengine.storage.conversation_schema import (
    archived_messages,
    history_messages,
    messages,
    session_recalls,
    sessions,
)
from langchain_memengine.storage.doomed_values import Doomed, DoomedChunk, DoomedMessage
from langchain_memengine.storage.job_schema import jobs
from langchain_memengine.storage.record_values import RECORD_PREFIX
from langchain_memengine.storage.schema import (
    chunk_access,
    chunks,
    embeddings,
)
from langchain_memengine.storage.statements import batches
from langchain_memengine.storage.times import to_ms
from langchain_memengine.storage.transaction import Transaction


def remove(
    tx: Transaction, found: Doomed, *, now: datetime, workspace_id: str, keep_history: bool
) -> Counter[str]:
    """Remove rows with all that hangs on them; return how many there were, by kind.

    Args:
        tx: An open write transaction.
        found: What goes.
        now: Time of the change.
        workspace_id: Of the folder whose files go by themselves, and their rows by a sync.
        keep_history: Whether messages stay that a chat history has as well.
    """
    removed: Counter[str] = Counter()
    ids = [record.id for record in found.records]
    removed["records"] = records.remove(tx, ids)
    chunk_ids = [chunk.id for chunk in found.chunks]
    removed["revisions"] = revisions.forget(tx, [*ids, *chunk_ids])
    supersessions.remove(tx, ids)
    hidden_chunks.forget(tx, chunk_ids)
    unseen: dict[str, set[str]] = {}
    for chunk in found.chunks:
        if chunk.workspace_id not in {"", workspace_id}:
            unseen.setdefault(chunk.workspace_id, set()).add(chunk.path)
    for folder, paths in unseen.items():
        files.forget(tx, folder, sorted(paths))
    sources = {chunk.source for chunk in found.chunks if chunk.workspace_id != workspace_id}
    quarantines.forget(tx, [*sources, *(RECORD_PREFIX + one for one in ids)])
    removed["chunks"] = chunk_rows.replace_sources(tx, {source: [] for source in sources}, now=now)
    removed["messages"] = _remove_messages(tx, found.messages, keep_history=keep_history)
    removed["experiences"] = experiences.remove(tx, found.experiences)
    removed["jobs"] = _blank_jobs(tx, found.jobs, now)
    removed["sessions"] = _remove_where(tx, sessions, sessions.c.id, found.sessions)
    _remove_where(tx, session_recalls, session_recalls.c.session_id, found.sessions)
    removed["recorded queries"] = _remove_where(
        tx, session_recalls, session_recalls.c.num, found.recalls
    )
    return removed


def remove_unused(tx: Transaction, gone: Sequence[DoomedChunk]) -> Counter[str]:
    """Remove the embeddings and access counts that chunks left behind and no other one uses."""
    counted: Counter[str] = Counter()
    unused = (
        ("embeddings", embeddings, embeddings.c.text_hash, chunks.c.text_hash, "text_hash"),
        ("access counts", chunk_access, chunk_access.c.chunk_id, chunks.c.id, "id"),
    )
    for kind, table, column, of_chunk, name in unused:
        for batch in batches(sorted({getattr(chunk, name) for chunk in gone})):
            used = select(of_chunk).where(chunks.c.store_id == tx.store_id, of_chunk.in_(batch))
            counted[kind] += tx.connection.execute(
                delete(table).where(
                    table.c.store_id == tx.store_id, column.in_(batch), column.not_in(used)
                )
            ).rowcount
    return counted


def _remove_messages(tx: Transaction, found: Sequence[DoomedMessage], *, keep_history: bool) -> int:
    keys = [message.key for message in found]
    _remove_where(tx, archived_messages, archived_messages.c.message_key, keys)
    if keep_history:
        in_history = {
            key
            for batch in batches(keys)
            for key in tx.connection.execute(
                select(history_messages.c.message_key).where(
                    history_messages.c.store_id == tx.store_id,
                    history_messages.c.message_key.in_(batch),
                )
            ).scalars()
        }
        keys = [key for key in keys if key not in in_history]
    else:
        _remove_where(tx, history_messages, history_messages.c.message_key, keys)
    return kept.remove(tx, messages, keys)


def _blank_jobs(tx: Transaction, nums: Sequence[int], now: datetime) -> int:
    """Take what jobs were to do out of them; the rows stay, because a key may be kept for good."""
    blank: dict[str, Any] = {"payload": "{}", "error": None, "token": None, "lease_until": None}
    blanked = 0
    for batch in batches(nums):
        mine = (jobs.c.store_id == tx.store_id) & jobs.c.num.in_(batch)
        blanked += tx.connection.execute(update(jobs).where(mine).values(blank)).rowcount
        tx.connection.execute(
            update(jobs)
            .where(mine, jobs.c.state.in_(("ready", "running", "dead")))
            .values(state="cancelled", finished_at=to_ms(now))
        )
        tx.connection.execute(
            update(jobs).where(mine, jobs.c.keeps_key.is_(False)).values(live_key=None)
        )
    return blanked


def _remove_where(tx: Transaction, table: Table, column: Any, values: Sequence[Any]) -> int:
    return sum(
        tx.connection.execute(
            delete(table).where(table.c.store_id == tx.store_id, column.in_(batch))
        ).rowcount
        for batch in batches(values)
    )
