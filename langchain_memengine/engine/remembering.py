"""Keep records: single memories with an owner, an origin and a history of their own."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from typing import Any
from uuid import uuid4

from langchain_memengine.engine.parts import EngineParts
from langchain_memengine.errors import ConfigurationError, NotFoundError
from langchain_memengine.retrieval import visibility
from langchain_memengine.retrieval.current_records import known_records
from langchain_memengine.retrieval.documents import MAX_THREAD_CHARS
from langchain_memengine.retrieval.records import RecordKeeper
from langchain_memengine.storage import records, revisions
from langchain_memengine.storage.database import Transaction, from_ms, to_ms
from langchain_memengine.storage.record_values import (
    MemoryRecord,
    RecordCount,
    RecordFilter,
    RecordState,
    Revision,
)
from langchain_memengine.text.sanitize import as_utc, clean_metadata, clean_text
from langchain_memengine.types import Actor, Origin, Scope, Trust

_MAX_ID_CHARS = 64  # what the columns hold on every database
_MAX_SOURCE_CHARS = 1024
_PAGE = 500


class Remembering(EngineParts):
    """The chapter of the engine for records."""

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
        the id given, and :meth:`get` takes both.

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
        now = _stored_time(self._clock())
        new = MemoryRecord(
            id=uuid4().hex if id is None else record_id(id, owner),
            scope=scope,
            owner=owner,
            text=_words(text),
            metadata=clean_metadata({**(metadata or {}), **proof}),
            origin=origin,
            trust=trust,
            thread_id=None if thread_id is None else _fitting("thread_id", thread_id),
            commit_id=None,
            created_at=now,
            updated_at=now,
            valid_from=_stored_time(valid_from),
            expires_at=_stored_time(expires_at),
            source=_fitting("source", source, _MAX_SOURCE_CHARS),
        )
        return self._put_record(new)

    def get(self, id: str, *, actor: Actor | None = None) -> MemoryRecord:  # noqa: A002  # as above
        """Return a record by its id, also one that is superseded or not valid now.

        Raises:
            NotFoundError: There is no such record, or the actor may not read it.
        """
        with self._database.read() as tx:
            return self._readable(tx, id, actor or self.actor)

    def list_records(  # noqa: PLR0913  # keywords, each with a default
        self,
        *,
        scope: Scope | None = None,
        owner: str | None = None,
        origin: Origin | None = None,
        trust: Trust | None = None,
        thread_id: str | None = None,
        source: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        current: bool = True,
        limit: int = 100,
        after: MemoryRecord | None = None,
        actor: Actor | None = None,
    ) -> list[MemoryRecord]:
        """Return the records that the actor may read, newest first, a page at a time.

        Args:
            scope: Only of this scope.
            owner: Only personal ones of this user id.
            origin: Only from there.
            trust: Only trusted so far.
            thread_id: Only learnt in this conversation.
            source: Learnt from exactly this, or from what begins so when it ends with ``*``.
            since: Only first remembered at or after this time.
            until: Only first remembered before this time.
            current: Leave out what is superseded, or not valid now.
            limit: Records, at most.
            after: The last record of the page before.
            actor: Who asks.
        """
        if limit < 0:
            raise ConfigurationError(f"limit={limit} must not be negative.")
        wanted = RecordFilter(
            scope=scope,
            owner=None if owner is None else visibility.owner_of("personal", Actor(owner)),
            origin=origin,
            trust=trust,
            thread_id=thread_id,
            source=source,
            since=None if since is None else as_utc(since),
            until=None if until is None else as_utc(until),
            valid_at=self._clock() if current else None,
        )
        places = visibility.readable_places(actor or self.actor)
        found: list[MemoryRecord] = []
        with self._database.read() as tx:
            while len(found) < limit:
                page = records.page(tx, places, wanted, after=after, limit=_PAGE)
                found += known_records(tx, page, current=current)
                if len(page) < _PAGE:
                    break
                after = page[-1]
        return found[:limit]

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
        now = _stored_time(self._clock())

        def change(state: RecordState) -> RecordState:
            if state.record is None or state.record.place != found.place:
                raise _no_record(id)
            new = replace(state.record, **changes)
            is_same = new == state.record
            return state if is_same else replace(state, record=replace(new, updated_at=now))

        changed = self._records.change({found.id: change}, "update", now=now)[found.id].record
        return changed or found

    def revisions(self, id: str, *, actor: Actor | None = None) -> list[Revision]:  # noqa: A002
        """Return what was done to a record, oldest first; what was forgotten says only that.

        Raises:
            NotFoundError: There never was such a record, or the actor may not read it.
        """
        actor = actor or self.actor
        with self._database.read() as tx:
            names = _names(id, actor)
            found = revisions.of_records(tx, names)
        mine = [one for one in found if _may_read(one, actor)]
        if not mine:
            raise _no_record(id)
        return mine

    def undo(self, revision_id: str, *, actor: Actor | None = None) -> MemoryRecord | None:
        """Make a record exactly what it was before a revision; return it, ``None`` if it was none.

        An undo is a revision too, and can be undone.

        Raises:
            NotFoundError: There is no such revision, the actor may not read it, or it was
                forgotten.
            ScopeError: The actor may not write the record.
            StorageError: The record was changed again since, or the database failed.
        """
        actor = actor or self.actor
        with self._database.read() as tx:
            revision = revisions.get(tx, clean_text(revision_id))
        if not _may_read(revision, actor):
            raise NotFoundError(f"There is no revision {revision_id!r}. See: engine.revisions(id)")
        for state in (revision.before, revision.after):
            if state.record is not None:
                self._require_change(state.record, actor)
        return self._records.undo(revision, now=_stored_time(self._clock())).record

    def supersede(self, old_id: str, new_id: str, *, actor: Actor | None = None) -> None:
        """Let one record take the place of another, which searches then no longer return.

        Raises:
            NotFoundError: There is no such record, or the actor may not read it.
            ScopeError: The actor may not write the old one.
            StorageError: The database failed; nothing is stored.
        """
        actor = actor or self.actor
        with self._database.read() as tx:
            old, new = (self._readable(tx, one, actor) for one in (old_id, new_id))
        self._require_change(old, actor)
        if old.id == new.id:
            raise ConfigurationError(f"The record {old_id!r} cannot take its own place.")
        self._records.supersede(old.id, new.id, now=_stored_time(self._clock()))

    def audit(self, *, actor: Actor | None = None) -> list[RecordCount]:
        """Return how many records there are by scope, owner, origin and trust: who wrote what.

        An admin sees the numbers of all users, anybody else those of what they may read.
        """
        actor = actor or self.actor
        places = None if actor.is_admin else visibility.readable_places(actor)
        with self._database.read() as tx:
            return records.counts(tx, places)

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
            if old is None:
                return replace(state, record=new)
            if old.place != new.place:
                raise ConfigurationError(
                    f"The id {new.id!r} is taken by a record of another scope. Use another id."
                )
            as_before = replace(new, created_at=old.created_at, updated_at=old.updated_at)
            if as_before == old:
                return state
            return replace(state, record=replace(as_before, updated_at=new.updated_at))

        stored = self._records.change({new.id: change}, "update", now=new.updated_at)
        return stored[new.id].record or new

    def _readable(self, tx: Transaction, name: str, actor: Actor) -> MemoryRecord:
        found = records.by_ids(tx, _names(name, actor))
        for one in _names(name, actor):
            if one in found and found[one].place in visibility.readable_places(actor):
                return found[one]
        raise _no_record(name)

    def _require_change(self, record: MemoryRecord, actor: Actor) -> None:
        """Make sure that an actor may change a record; an admin may change agents' notes too.

        Raises:
            ScopeError: The actor may not.
        """
        if not (record.scope == "agent_notes" and actor.is_admin):
            visibility.require_write(record.scope, actor)


def record_id(name: str, owner: str) -> str:
    """Return the id under which an owner's record of a name is stored, ``""`` for nobody's.

    Raises:
        ConfigurationError: The name is empty or too long.
    """
    cleaned = clean_text(name)
    if not 0 < len(cleaned) <= _MAX_ID_CHARS:
        raise ConfigurationError(
            f"An id of {len(cleaned)} characters cannot be stored. Use 1 to {_MAX_ID_CHARS}."
        )
    if not owner:
        return cleaned
    return hashlib.sha256(f"{owner}\0{cleaned}".encode()).hexdigest()[:32]


def _names(name: str, actor: Actor) -> list[str]:
    """Return the ids that an actor may mean by a name."""
    cleaned = clean_text(name)[:_MAX_ID_CHARS]
    if not cleaned:
        return []
    return [record_id(cleaned, visibility.owner_of("personal", actor)), cleaned]


def _no_record(name: str) -> NotFoundError:
    return NotFoundError(f"There is no record {name!r}. See: engine.list_records()")


def _may_read(revision: Revision, actor: Actor) -> bool:
    """Return whether an actor may know of a revision; what was forgotten tells nothing."""
    places = visibility.readable_places(actor)
    known = [s.record for s in (revision.before, revision.after) if s.record is not None]
    return revision.kind == "forgotten" or (
        bool(known) and all(record.place in places for record in known)
    )


def _words(text: str) -> str:
    cleaned = clean_text(text)
    if not cleaned.strip():
        raise ConfigurationError("There is nothing to remember: the text is blank.")
    return cleaned


def _fitting(name: str, value: str, longest: int = MAX_THREAD_CHARS) -> str:
    cleaned = clean_text(value)
    if len(cleaned) > longest:
        raise ConfigurationError(
            f"{name} has {len(cleaned)} characters; at most {longest} can be stored."
        )
    return cleaned


def _stored_time(moment: datetime | None) -> Any:
    """Return a time as it comes back from the database: in UTC, to the millisecond."""
    return None if moment is None else from_ms(to_ms(as_utc(moment)))
