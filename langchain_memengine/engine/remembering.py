"""Keep records: single memories with an owner, an origin and a history of their own."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from typing import Any
from uuid import uuid4

from langchain_memengine.engine.reading_records import (
    ReadingRecords,
    may_read,
    no_record,
    record_id,
)
from langchain_memengine.errors import ConfigurationError, ScopeError
from langchain_memengine.retrieval import visibility
from langchain_memengine.retrieval.records import RecordKeeper, suspected
from langchain_memengine.retrieval.standing import require_found_instead, successors
from langchain_memengine.storage import revisions, stored_chunks
from langchain_memengine.storage.chunk_values import partition_key
from langchain_memengine.storage.record_values import (
    MemoryRecord,
    RecordState,
    Revision,
)
from langchain_memengine.storage.times import from_ms, to_ms
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.text.sanitize import as_utc, clean_metadata, clean_text
from langchain_memengine.types import (
    MAX_THREAD_CHARS,
    Actor,
    Origin,
    Scope,
    Trust,
)

logger = logging.getLogger(__name__)

MAX_SOURCE_CHARS = 1024  # what the column holds on every database


class Remembering(ReadingRecords):
    """The chapter of the engine that writes records."""

    def remember(  # noqa: PLR0913  # keywords, each with a default
        self,
        text: str,
        *,
        id: str | None = None,  # noqa: A002  # the name the record has it under
        scope: Scope | None = None,
        metadata: Mapping[str, Any] | None = None,
        origin: Origin = "user",
        trust: Trust | None = None,
        thread_id: str | None = None,
        expires_at: datetime | None = None,
        valid_from: datetime | None = None,
        source: str = "",
        evidence: str = "",
        actor: Actor | None = None,
    ) -> MemoryRecord:
        """Remember one thing; return its record. When this returns, it is on disk and found.

        The same id again with the same words changes nothing; with others it is an update, kept as
        a revision. Each user has ids of their own: a personal record's id is made of the owner and
        the id given, and :meth:`get` takes both. What no person vouches for and looks like an
        attempt to steer an agent is quarantined at once, which a warning in the log and
        :meth:`quarantined` tell.

        Args:
            text: Its words.
            id: Chosen by the application, at most 64 characters; default: a new one.
            scope: Who may read it; default: everyone if the actor is an admin, else the actor.
            metadata: Values to filter by. A date in it is when it happened, as for ``add_texts``.
            origin: Whose words they are. Those of a tool, a file or a model never become personal
                memory, except what was extracted (``llm_extract``) with evidence.
            trust: Less than the origin has by itself, never more.
            thread_id: Conversation it was learnt in.
            expires_at: Not found from this time on; ``vacuum`` removes it then.
            valid_from: Not found before this time.
            source: What it was learnt from, to list and forget by.
            evidence: The person's own words that an extracted text rests on, verbatim, as the
                caller checked; kept in the metadata.
            actor: Who remembers it, and whose it is if it is personal.

        Raises:
            ConfigurationError: There are no words, or a value cannot be stored.
            ScopeError: The actor may not write to the scope, or nothing of this origin may.
            StorageError: The database failed; nothing is stored.
        """
        actor = actor or self.actor
        scope = scope or visibility.default_scope(actor)
        visibility.require_record(scope, actor, origin, has_evidence=bool(evidence.strip()))
        trust = visibility.trust_of(origin, trust, has_evidence=bool(evidence.strip()))
        owner = visibility.owner_of(scope, actor)
        proof = {"evidence": evidence} if evidence.strip() else {}
        now = stored_time(self._clock())
        new = MemoryRecord(
            id=uuid4().hex if id is None else record_id(id, owner),
            scope=scope,
            owner=owner,
            text=_words(text),
            metadata=clean_metadata({**(metadata or {}), **proof}),
            origin=origin,
            trust=trust,
            thread_id=None if thread_id is None else fitting("thread_id", thread_id),
            commit_id=None,
            created_at=now,
            updated_at=now,
            valid_from=stored_time(valid_from),
            expires_at=stored_time(expires_at),
            source=fitting("source", source, MAX_SOURCE_CHARS),
        )
        if new.valid_from and new.expires_at and new.valid_from >= new.expires_at:
            raise ConfigurationError(
                f"Nothing is valid from {new.valid_from} and until {new.expires_at}: swap them."
            )
        return self._put_record(new)

    def update(
        self,
        id: str,  # noqa: A002  # as above
        *,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        actor: Actor | None = None,
    ) -> MemoryRecord:
        """Change a record's words or metadata; what it was is kept as a revision.

        Args:
            id: Of the record.
            text: New words; default: as they are.
            metadata: All of its new metadata; default: as it is.
            actor: Who changes it.

        Raises:
            NotFoundError: There is no such record, or the actor may not read it.
            ScopeError: The actor may not write it.
            StorageError: The database failed; nothing is stored.
        """
        actor = actor or self.actor
        with self._database.read() as tx:
            found = self._readable(tx, id, actor)
        self._require_change(found, actor)
        changes: dict[str, Any] = {}
        if text is not None:
            changes["text"] = _words(text)
        if metadata is not None:
            changes["metadata"] = clean_metadata(metadata)
        now = stored_time(self._clock())

        def change(state: RecordState) -> RecordState:
            if state.record is None or state.record.place != found.place:
                raise no_record(id)
            new = replace(state.record, **changes)
            is_same = new == state.record
            return state if is_same else replace(state, record=replace(new, updated_at=now))

        changed = self._records.change({found.id: change}, "update", now=now)[found.id].record
        self._tell_graph()
        return changed or found

    def undo(self, revision_id: str, *, actor: Actor | None = None) -> MemoryRecord | None:
        """Make a record exactly what it was before a revision; return it, ``None`` if it was none.

        A chunk that the revision hid is found again. An undo is a revision too, and can be undone.

        Raises:
            NotFoundError: There is no such revision, the actor may not read it, or it was
                forgotten.
            ScopeError: The actor may not write the record.
            StorageError: It was changed again since, or the database failed.
        """
        actor = actor or self.actor
        with self._database.read() as tx:
            revision = revisions.get(tx, clean_text(revision_id))
            is_own_chunk = self._hid_own_chunk(tx, revision, actor)
        if not (is_own_chunk or may_read(revision, actor)):
            raise revisions.no_revision(revision_id)
        if revision.before.quarantine != revision.after.quarantine and not actor.is_admin:
            raise ScopeError(
                f"{actor.user_id!r} may not undo the revision {revision_id!r}: only an admin takes "
                "memory out of quarantine, or puts it there."
            )
        for state in (revision.before, revision.after):
            if state.record is not None:
                self._require_change(state.record, actor)
        undone = self._records.undo(revision, now=stored_time(self._clock())).record
        self._tell_graph()
        self._tell_graph_of_release()
        return undone

    def supersede(self, old_id: str, new_id: str, *, actor: Actor | None = None) -> None:
        """Let one record take the place of another, which searches then no longer return.

        Raises:
            ConfigurationError: The old one took the place of the new one before, if by way of
                others; or who reads the old one may not read the new one, or not yet.
            NotFoundError: There is no such record, or the actor may not read it.
            ScopeError: The actor may not write the old one.
            StorageError: The database failed; nothing is stored.
        """
        actor = actor or self.actor
        with self._database.read() as tx:
            old, new = (self._readable(tx, one, actor) for one in (old_id, new_id))
            followers = successors(tx, new.id)
        self._require_change(old, actor)
        if old.id == new.id:
            raise ConfigurationError(f"The record {old_id!r} cannot take its own place.")
        require_found_instead(old, new, self._clock())
        if old.id in followers:
            raise ConfigurationError(
                f"{old_id!r} took the place of {new_id!r} before: neither would be found. Undo "
                f"that first, see engine.revisions({new_id!r}), or remember {new_id!r} anew."
            )
        self._records.supersede(old.id, new.id, now=stored_time(self._clock()))

    async def aremember(self, text: str, **options: Any) -> MemoryRecord:
        """Remember without blocking the event loop; options as in :meth:`remember`."""
        return await asyncio.to_thread(self.remember, text, **options)

    @cached_property
    def _records(self) -> RecordKeeper:
        return RecordKeeper(self._database, self._indexer, self.config)

    def _put_record(self, new: MemoryRecord) -> MemoryRecord:
        """Store a record, or update the one with its id; return it as it is then."""

        def change(state: RecordState) -> RecordState:
            old = state.record
            aside = suspected(new, new.updated_at)
            if old is None:
                return replace(state, record=new, quarantine=state.quarantine or aside)
            if old.place != new.place:
                raise ConfigurationError(
                    f"The id {new.id!r} is taken by a record of another scope. Use another id."
                )
            as_before = replace(new, created_at=old.created_at, updated_at=old.updated_at)
            if as_before == old:
                return state
            changed = replace(as_before, updated_at=new.updated_at)
            return replace(state, record=changed, quarantine=state.quarantine or aside)

        stored = self._records.change({new.id: change}, "update", now=new.updated_at)[new.id]
        self._tell_graph()
        if stored.quarantine is not None:
            logger.warning("The record %s is quarantined. %s", new.id, stored.quarantine.reason)
        return stored.record or new

    def _hid_own_chunk(self, tx: Transaction, revision: Revision, actor: Actor) -> bool:
        """Return whether a revision hid a chunk, or showed one, of the actor's own memory."""
        if revision.before.hiding is None and revision.after.hiding is None:
            return False
        mine = [partition_key("personal", visibility.owner_of("personal", actor))]
        target = [revision.target_id]
        return bool(stored_chunks.by_ids(tx, target, partitions=mine, now=self._clock()))

    def _require_change(self, record: MemoryRecord, actor: Actor) -> None:
        """Make sure that an actor may change a record; an admin may change agents' notes too.

        Raises:
            ScopeError: The actor may not.
        """
        if not (record.scope == "agent_notes" and actor.is_admin):
            visibility.require_write(record.scope, actor)


def _words(text: str) -> str:
    cleaned = clean_text(text)
    if not cleaned.strip():
        raise ConfigurationError("There is nothing to remember: the text is blank.")
    return cleaned


def fitting(name: str, value: str, longest: int = MAX_THREAD_CHARS) -> str:
    """Return a text that its column holds.

    Raises:
        ConfigurationError: It is too long.
    """
    cleaned = clean_text(value)
    if len(cleaned) > longest:
        raise ConfigurationError(
            f"{name} has {len(cleaned)} characters; at most {longest} can be stored."
        )
    return cleaned


def stored_time(moment: datetime | None) -> Any:
    """Return a time as it comes back from the database: in UTC, to the millisecond."""
    return None if moment is None else from_ms(to_ms(as_utc(moment)))
