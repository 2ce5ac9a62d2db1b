"""What forgetting finds in the tables."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Table, select, true

from langchain_memengine.storage import kept, records
from langchain_memengine.storage.conversation_schema import (
    messages,
    session_recalls,
    sessions,
)
from langchain_memengine.storage.doomed_values import (
    Doomed,
    DoomedChunk,
    DoomedMessage,
    Selection,
)
from langchain_memengine.storage.job_schema import jobs
from langchain_memengine.storage.messages import archiving_commits
from langchain_memengine.storage.record_values import RECORD_PREFIX, MemoryRecord
from langchain_memengine.storage.schema import chunks, memories
from langchain_memengine.storage.statements import any_of, batches, begins_with, matches
from langchain_memengine.storage.times import to_ms
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.text.uris import is_of_message, learnt_from

_MESSAGE = (messages.c.key, messages.c.thread_id, messages.c.body)

Holds = Callable[[str], bool]
"""Tells whether a JSON text holds forgotten words."""


def select_rows(tx: Transaction, wanted: Selection) -> Doomed:
    """Return the rows that a selection names."""
    found = Doomed(records=_records(tx, wanted))
    own = [RECORD_PREFIX + record.id for record in found.records]
    by_num: dict[int, DoomedChunk] = {}
    for part in _parts(wanted):
        by_num.update(_chunks(tx, _of_chunks(part)))
    for batch in batches(own):
        by_num.update(_chunks(tx, chunks.c.source.in_(batch)))
    found.chunks = list(by_num.values())
    found.messages = _messages(tx, wanted, found.chunks)
    if wanted.thread_id is not None or wanted.owner is not None:
        found.jobs = _keys(tx, jobs, jobs.c.num, wanted)
        found.sessions = _keys(tx, sessions, sessions.c.id, wanted)
    return found


def add_holders(
    tx: Transaction, found: Doomed, owners: Collection[str] | None, holds: Holds
) -> None:
    """Add messages, jobs and recorded queries of these owners that hold forgotten words.

    A job also goes that carries a part of a message: what its author did not quote, say.
    """
    keys = {message.key for message in found.messages}
    for row in _rows(tx, messages, _MESSAGE, owners):
        message = DoomedMessage(*row)
        if message.key not in keys and holds(message.body):
            found.messages.append(message)
    gone = {(message.thread_id, message.message_id) for message in found.messages}
    columns = (jobs.c.num, jobs.c.payload, jobs.c.thread_id)
    for num, payload, thread_id in _rows(tx, jobs, columns, owners):
        carried = {(thread_id, one) for one in _carried_messages(payload)}
        if num not in found.jobs and (holds(payload) or carried & gone):
            found.jobs.append(num)
    found.recalls = _holding_recalls(tx, {chunk.id for chunk in found.chunks}, owners, holds)


def chunks_of_messages(tx: Transaction, found: Iterable[DoomedMessage]) -> list[DoomedChunk]:
    """Return the chunks of archived messages, in all commits that archived them."""
    which = (messages.c.owner, messages.c.thread_id, messages.c.message_id)
    by_thread: dict[tuple[str, str], set[str]] = defaultdict(set)
    for batch in batches([message.key for message in found]):
        for owner, thread, message in _rows(tx, messages, which, None, messages.c.key.in_(batch)):
            by_thread[owner, thread].add(message)
    return [
        chunk
        for (owner, thread), ids in by_thread.items()
        for chunk in _chunks(
            tx, (chunks.c.thread_id == thread) & (chunks.c.owner == owner)
        ).values()
        if chunk.message_id in ids
    ]


def chunks_of_paths(tx: Transaction, workspace_id: str, paths: Sequence[str]) -> list[DoomedChunk]:
    """Return the chunks of some files of a workspace."""
    return [
        chunk
        for batch in batches(paths)
        for chunk in _chunks(
            tx, (chunks.c.workspace_id == workspace_id) & chunks.c.path.in_(batch)
        ).values()
    ]


def owners_of_messages(tx: Transaction, prefix: str) -> frozenset[str]:
    """Return the owners of messages that begin with a prefix."""
    of_store = messages.c.store_id == tx.store_id
    found = select(messages.c.owner).where(of_store, begins_with(messages.c.owner, prefix))
    rows = kept.rows(tx, messages, found.distinct())
    return frozenset(owner for (owner,) in rows)


def old_archive(tx: Transaction, before: datetime, owners: Collection[str] | None) -> Doomed:
    """Return the messages that were archived before a time, with their chunks."""
    is_old = messages.c.created_at < to_ms(before)
    old = [DoomedMessage(*row) for row in _rows(tx, messages, _MESSAGE, owners, is_old)]
    archived = archiving_commits(tx, [message.key for message in old])
    found = Doomed(messages=[message for message in old if message.key in archived])
    found.chunks = chunks_of_messages(tx, found.messages)
    return found


def holding_sources(tx: Transaction, partitions: Sequence[str], holds: Holds) -> list[str]:
    """Return the sources of chunks in these partitions that hold forgotten words, sorted."""
    rows = tx.connection.execute(
        select(chunks.c.source, chunks.c.text).where(
            chunks.c.store_id == tx.store_id, chunks.c.partition_key.in_(list(partitions))
        )
    )
    return sorted({source for source, text in rows if holds(text)})


def _records(tx: Transaction, wanted: Selection) -> list[MemoryRecord]:
    reach = [] if wanted.places is None else [records.is_in(wanted.places)]
    conditions: list[ColumnElement[bool]] = []
    if wanted.thread_id is not None:
        conditions.append(memories.c.thread_id == wanted.thread_id)
    elif wanted.owner is not None:
        conditions.append(records.is_in([("personal", wanted.owner)]))
    elif wanted.source is not None:
        conditions.append(
            any_of(records.source_is(one) for one in learnt_from(wanted.source))
            if not wanted.source.startswith(RECORD_PREFIX)
            else matches(memories.c.id, wanted.source.removeprefix(RECORD_PREFIX))
        )
    else:
        ids = [s.removeprefix(RECORD_PREFIX) for s in wanted.sources if s.startswith(RECORD_PREFIX)]
        conditions += [memories.c.id.in_(batch) for batch in batches(ids)]
    return [found for one in conditions for found in records.matching(tx, one, *reach)]


def _carried_messages(payload: str) -> Iterator[str]:
    """Yield the ids of the messages whose words a job carries."""
    try:
        carried = json.loads(payload).get("messages")
    except (ValueError, AttributeError):  # damaged: it says nothing
        return
    for one in carried if isinstance(carried, list) else ():
        if isinstance(one, dict):
            yield str(one.get("id"))


def _parts(wanted: Selection) -> list[Selection]:
    """Return selections whose lists fit into one statement each."""
    if not wanted.sources:
        return [wanted]
    return [replace(wanted, sources=tuple(batch)) for batch in batches(wanted.sources)]


def _of_chunks(wanted: Selection) -> ColumnElement[bool]:
    if wanted.thread_id is not None:
        condition: ColumnElement[bool] = chunks.c.thread_id == wanted.thread_id
    elif wanted.owner is not None:
        condition = (chunks.c.scope == "personal") & (chunks.c.owner == wanted.owner)
    elif wanted.source is not None:
        condition = matches(chunks.c.source, wanted.source)
    else:
        condition = chunks.c.source.in_(wanted.sources)
    if wanted.places is not None:
        condition &= any_of(
            (chunks.c.scope == scope) & (chunks.c.owner == owner) for scope, owner in wanted.places
        )
    return condition


def _chunks(tx: Transaction, condition: ColumnElement[bool]) -> dict[int, DoomedChunk]:
    rows = tx.connection.execute(
        select(
            chunks.c.num,
            chunks.c.id,
            chunks.c.source,
            chunks.c.text,
            chunks.c.text_hash,
            chunks.c.partition_key,
            chunks.c.path,
            chunks.c.workspace_id,
            chunks.c.owner,
            chunks.c.thread_id,
            chunks.c["metadata"],
        ).where(chunks.c.store_id == tx.store_id, condition)
    )
    return {
        num: DoomedChunk(*[*fields, _message_id(fields[1], meta)]) for num, *fields, meta in rows
    }


def _message_id(source: str, metadata: str) -> str | None:
    """Return which message a chunk is of; metadata of an application's texts tells nothing."""
    if not is_of_message(source):
        return None
    found: str | None = json.loads(metadata).get("message_id")
    return found


def _messages(
    tx: Transaction, wanted: Selection, found: Sequence[DoomedChunk]
) -> list[DoomedMessage]:
    if wanted.thread_id is not None:
        conditions = [messages.c.thread_id == wanted.thread_id]
    elif wanted.owner is not None:
        conditions = [messages.c.owner == wanted.owner]
    else:
        named: dict[tuple[str, str], set[str]] = defaultdict(set)
        for chunk in found:
            if chunk.thread_id and chunk.message_id:
                named[chunk.owner, chunk.thread_id].add(chunk.message_id)
        conditions = [
            (messages.c.owner == owner)  # another user's conversation may have the same ids
            & (messages.c.thread_id == thread)
            & messages.c.message_id.in_(batch)
            for (owner, thread), ids in sorted(named.items())
            for batch in batches(sorted(ids))
        ]
    return [
        DoomedMessage(*row)
        for condition in conditions
        for row in _rows(tx, messages, _MESSAGE, wanted.owners, condition)
    ]


def _keys(tx: Transaction, table: Table, key: Any, wanted: Selection) -> list[Any]:
    condition = (
        table.c.thread_id == wanted.thread_id
        if wanted.thread_id is not None
        else table.c.owner == wanted.owner
    )
    return [found for (found,) in _rows(tx, table, (key,), wanted.owners, condition)]


def _rows(
    tx: Transaction,
    table: Table,
    columns: Sequence[Any],
    owners: Collection[str] | None,
    *conditions: ColumnElement[bool],
) -> Iterator[Any]:
    of_owners = true() if owners is None else table.c.owner.in_(list(owners))
    statement = select(*columns).where(table.c.store_id == tx.store_id, of_owners, *conditions)
    yield from kept.rows(tx, table, statement)


def _holding_recalls(
    tx: Transaction, chunk_ids: Collection[str], owners: Collection[str] | None, holds: Holds
) -> list[int]:
    of_owners = true() if owners is None else sessions.c.owner.in_(list(owners))
    rows = tx.connection.execute(
        select(session_recalls.c.num, session_recalls.c.query, session_recalls.c.hits)
        .join(
            sessions,
            (sessions.c.store_id == session_recalls.c.store_id)
            & (sessions.c.id == session_recalls.c.session_id),
        )
        .where(session_recalls.c.store_id == tx.store_id, of_owners)
    )
    return [
        num
        for num, query, hits in rows
        if holds(query) or any(hit["id"] in chunk_ids for hit in json.loads(hits))
    ]
