"""The values that record rows become: memories, their revisions and what superseded them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from langchain_memengine.shown import Shown
from langchain_memengine.text.digests import digest
from langchain_memengine.types import (
    Metadata,
    Origin,
    Scope,
    Trust,
)

RECORD_PREFIX = "record:"
"""What the source URIs of records begin with, before their ids."""

RevisionKind = Literal[
    "add", "update", "merge", "supersede", "hide", "fold",
    "quarantine", "release", "undo", "forgotten",
]  # fmt: skip
"""What a revision did; one that is ``forgotten`` says nothing else any more.

A ``merge`` says the same as what took its place, a ``fold`` stands in MEMORY.md instead; a ``hide``
is of a chunk, a ``quarantine`` may be of a source, all others are of records.
"""

Place = tuple[Scope, str]
"""A scope and an owner's folder name, ``""`` for nobody's."""


@dataclass(frozen=True, slots=True)
class MemoryRecord(Shown):
    """One thing that is remembered, with where it came from.

    Attributes:
        id: Its id within the store.
        scope: Who may read and write it.
        owner: Folder name of the user (``slug(user_id)``) for ``personal`` memory, else ``""``.
        text: Its words.
        metadata: Filterable values.
        origin: Where the words came from.
        trust: How far they may influence the agent.
        thread_id: Conversation it was learnt in, if any.
        commit_id: Memory commit it belongs to, if any.
        created_at: When it was first remembered (aware UTC, in milliseconds, as all its times).
        updated_at: When it was last changed.
        valid_from: Not found before this time, if set.
        expires_at: Not found from this time on, if set.
        source: What it was learnt from, in the words of whoever remembered it.
    """

    id: str
    scope: Scope
    owner: str
    text: str
    metadata: Metadata
    origin: Origin
    trust: Trust
    thread_id: str | None
    commit_id: str | None
    created_at: datetime
    updated_at: datetime
    valid_from: datetime | None = None
    expires_at: datetime | None = None
    source: str = ""

    @property
    def place(self) -> Place:
        """Scope and owner, which decide who may read it."""
        return self.scope, self.owner

    def is_valid(self, now: datetime) -> bool:
        """Return whether it may be found at this time."""
        begins, ends = self.valid_from, self.expires_at
        return (begins is None or begins <= now) and (ends is None or now < ends)


@dataclass(frozen=True, slots=True)
class Supersession:
    """That one record took the place of another.

    Attributes:
        old_id: The record that is no longer current.
        new_id: The one that is; it may have been forgotten since.
        commit_id: Memory commit that decided so: on other branches the old one is current.
        at: When.
        confidence: How sure whoever decided was, 0 to 1.
    """

    old_id: str
    new_id: str
    commit_id: str | None
    at: datetime
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Quarantine(Shown):
    """That memory is set aside: nothing finds it until an admin releases it.

    Attributes:
        source: Source URI of a memory, or what records were learnt from; everything that begins
            so when it ends with ``*``, also what comes later.
        reason: Why, for people.
        by: Admin who did it, ``""`` for the engine itself.
        at: When.
    """

    source: str
    reason: str
    by: str
    at: datetime

    def covers(self, source: str) -> bool:
        """Return whether it holds for what has this source."""
        if self.source.endswith("*"):
            return source.startswith(self.source[:-1])
        return source == self.source

    @property
    def target_id(self) -> str:
        """What its revisions are about: the record, else a hash of the source."""
        return quarantine_target(self.source)


def quarantine_target(source: str) -> str:
    """Return the id under which the quarantine of a source is kept."""
    if source.startswith(RECORD_PREFIX) and not source.endswith("*"):
        return source.removeprefix(RECORD_PREFIX)
    return digest(source)


@dataclass(frozen=True, slots=True)
class Hiding:
    """That a chunk is not found, because another one says all it says.

    Attributes:
        kept_id: Id of the other chunk; while that is not stored, nothing is hidden.
        at: Since when.
    """

    kept_id: str
    at: datetime


@dataclass(frozen=True, slots=True)
class RecordState:
    """What a revision changes of a record, or of a chunk, and what an undo restores.

    Attributes:
        record: The record; ``None`` if there is none, and for a chunk.
        superseded_by: What took its place, on any branch, by the new record's id.
        hiding: What keeps a chunk from being found.
        quarantine: That it was set aside. For a source that is no record, that alone is its state.
    """

    record: MemoryRecord | None = None
    superseded_by: tuple[Supersession, ...] = ()
    hiding: Hiding | None = None
    quarantine: Quarantine | None = None


@dataclass(frozen=True, slots=True)
class Revision(Shown):
    """One change of one record, or of one chunk.

    Attributes:
        id: Its id, for ``undo``.
        kind: What was done.
        target_id: Id of the record, or of the chunk.
        at: When.
        commit_id: Memory commit it belongs to, if any.
        before: What there was.
        after: What there was then.
    """

    id: str
    kind: RevisionKind
    target_id: str
    at: datetime
    commit_id: str | None = None
    before: RecordState = field(default=RecordState())
    after: RecordState = field(default=RecordState())


@dataclass(frozen=True, slots=True)
class RecordFilter:
    """Which records are wanted.

    Attributes:
        scope: Only of this scope.
        owner: Only of this owner (a folder name).
        origin: Only from there.
        trust: Only trusted so far.
        thread_id: Only learnt in this conversation.
        source: Learnt from exactly this, or from what begins so when it ends with ``*``.
        since: Only first remembered at or after this time.
        until: Only first remembered before this time.
        valid_at: Only what may be found at this time.
    """

    scope: Scope | None = None
    owner: str | None = None
    origin: Origin | None = None
    trust: Trust | None = None
    thread_id: str | None = None
    source: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    valid_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class RecordCount:
    """How many records of one kind there are.

    Attributes:
        scope: Who may read them.
        owner: Whose they are.
        origin: Where they came from.
        trust: How far they are trusted.
        records: How many.
        first_at: When the oldest was first remembered.
        last_at: When the newest was.
    """

    scope: Scope
    owner: str
    origin: Origin
    trust: Trust
    records: int
    first_at: datetime
    last_at: datetime
