"""The values that forgetting passes on: what was asked for, and the rows that are to go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from langchain_memengine.storage.record_values import MemoryRecord, Place


@dataclass(frozen=True, slots=True)
class Selection:
    """What is to be forgotten. One of the first four is set.

    Attributes:
        sources: These source URIs, and the records that they are of.
        source: This source URI, or all that begin so when it ends with ``*``; and the records
            that were learnt from it.
        thread_id: What belongs to this conversation.
        owner: What is personal memory of this owner (a folder name).
        places: Only what is in these scopes, of these owners; ``None`` is everywhere.
    """

    sources: tuple[str, ...] = ()
    source: str | None = None
    thread_id: str | None = None
    owner: str | None = None
    places: Sequence[Place] | None = None

    @property
    def owners(self) -> tuple[str, ...] | None:
        """Whose messages, sessions and jobs are within reach; ``None`` is everybody's."""
        return None if self.places is None else tuple({owner for _, owner in self.places})


@dataclass(frozen=True, slots=True)
class DoomedChunk:
    """A chunk that is to go."""

    id: str
    source: str
    text: str
    text_hash: str
    partition_key: str
    path: str
    workspace_id: str
    owner: str
    thread_id: str | None
    message_id: str | None


@dataclass(frozen=True, slots=True)
class DoomedMessage:
    """A message that is to go: its key, its conversation and its body as JSON."""

    key: str
    thread_id: str
    body: str


@dataclass(slots=True)
class Doomed:
    """Rows that are to go.

    Attributes:
        records: Memories.
        chunks: Searchable pieces, those of the records among them.
        messages: Messages of archives and histories.
        jobs: Numbers of jobs whose payload goes.
        sessions: Ids of sessions with all they recorded.
        recalls: Numbers of single things that sessions recorded.
    """

    records: list[MemoryRecord] = field(default_factory=list)
    chunks: list[DoomedChunk] = field(default_factory=list)
    messages: list[DoomedMessage] = field(default_factory=list)
    jobs: list[int] = field(default_factory=list)
    sessions: list[str] = field(default_factory=list)
    recalls: list[int] = field(default_factory=list)
