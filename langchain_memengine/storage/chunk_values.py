"""The values that chunk rows become."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from langchain_memengine.storage.times import from_ms
from langchain_memengine.types import (
    Chunk,
    Metadata,
    Origin,
    Provenance,
    Scope,
    Trust,
)

SHARED_PARTITION = "shared"
"""Partition of what every actor may read."""


class StoredChunk(NamedTuple):
    """A chunk row as it is in the database; times are milliseconds, metadata is JSON.

    A search reads a dozen of them, so what not every reader needs is made on demand.
    """

    num: int
    store_id: str
    partition_key: str
    id: str
    source: str
    ord: int
    start_line: int
    end_line: int
    tokens: int
    text: str
    text_hash: str
    heading: str
    scope: Scope
    owner: str
    origin: Origin
    trust: Trust
    path: str
    workspace_id: str
    thread_id: str | None
    commit_id: str | None
    event_ms: int | None
    valid_from_ms: int | None
    expires_ms: int | None
    metadata_json: str

    @property
    def chunk(self) -> Chunk:
        """The chunk itself."""
        return Chunk(
            id=self.id,
            source=self.source,
            ord=self.ord,
            start_line=self.start_line,
            end_line=self.end_line,
            tokens=self.tokens,
            text=self.text,
            hash=self.text_hash,
            heading=self.heading,
        )

    @property
    def location(self) -> str:
        """``path:start-end``, with the source URI when it is no file."""
        return f"{self.path or self.source}:{self.start_line}-{self.end_line}"

    @property
    def provenance(self) -> Provenance:
        """What the chunk carries besides its words."""
        return Provenance(
            scope=self.scope,
            owner=self.owner,
            origin=self.origin,
            trust=self.trust,
            path=self.path,
            workspace_id=self.workspace_id,
            thread_id=self.thread_id,
            commit_id=self.commit_id,
            event_at=self.event_at,
            valid_from=from_ms(self.valid_from_ms),
            expires_at=from_ms(self.expires_ms),
            metadata=self.metadata,
        )

    @property
    def event_at(self) -> datetime | None:
        """When what it tells happened."""
        return from_ms(self.event_ms)

    @property
    def metadata(self) -> Metadata:
        """The user's own values."""
        if self.metadata_json == "{}":
            return {}
        loaded: Metadata = json.loads(self.metadata_json)
        return loaded

    def is_valid(self, now_ms: int) -> bool:
        """Return whether the chunk may be returned at this time."""
        begins, ends = self.valid_from_ms, self.expires_ms
        return (begins is None or begins <= now_ms) and (ends is None or now_ms < ends)


@dataclass(frozen=True, slots=True)
class IndexRow:
    """What the derived indexes of a partition need of one chunk.

    Attributes:
        num: Row number; grows, never used twice.
        text: Text of the chunk.
        heading: Headings it stands under.
        path: Path of its file, or ``""``.
        text_hash: Key of its embedding.
        event_ms: When what it tells happened; ``None`` never ages.
        thread_id: Conversation it belongs to, if any.
        metadata_json: The user's own values.
        workspace_id: Which folder its file is in, or ``""``.
        ord: Position in its text, from 0.
    """

    num: int
    text: str
    heading: str
    path: str
    text_hash: str
    event_ms: int | None
    thread_id: str | None = None
    metadata_json: str = "{}"
    workspace_id: str = ""
    ord: int = 0


class FilterRow(NamedTuple):
    """What filters look at."""

    path: str
    source: str
    scope: str
    metadata_json: str


def partition_key(scope: Scope, owner: str) -> str:
    """Return the partition that chunks of this scope and owner are indexed in.

    What all may read is in one partition, everything else in one per scope and owner, so that a
    search never touches what its actor may not see.
    """
    if scope in {"global", "agent_notes"}:
        return SHARED_PARTITION
    if scope in {"personal", "store"}:
        return f"{scope}/{owner}"
    return scope
