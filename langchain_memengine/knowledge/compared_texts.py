"""What a consolidation compares, and what its report says of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from langchain_memengine.config import MemEngineConfig
from langchain_memengine.knowledge.consolidation import Duplicate, Passage
from langchain_memengine.knowledge.consolidation_report import Consolidated
from langchain_memengine.knowledge.learnt_facts import subject_of
from langchain_memengine.retrieval.record_chunks import chunks_of_record, record_source
from langchain_memengine.retrieval.visibility import TRUSTS
from langchain_memengine.storage.chunk_values import StoredChunk
from langchain_memengine.storage.record_values import MemoryRecord

_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ComparedText:
    """A text with what a report says of it.

    Attributes:
        passage: What is compared.
        hashes: Of its chunks' texts.
        owner: Folder name of the user whose memory it is in, ``""`` for everyone's.
        place: Where it stands: ``path:start-end``, or a source URI.
    """

    passage: Passage
    hashes: tuple[str, ...]
    owner: str
    place: str


def of_note(note: MemoryRecord, config: MemEngineConfig) -> ComparedText:
    """Return an agents' note as a text to compare."""
    pieces = [chunk for chunk, _ in chunks_of_record(note, config)]
    trust = TRUSTS.index(note.trust)
    passage = Passage(note.id, note.text, subject_of(note), trust, note.created_at)
    return ComparedText(passage, tuple(one.hash for one in pieces), "", record_source(note.id))


def of_chunk(chunk: StoredChunk) -> ComparedText:
    """Return a chunk as a text to compare."""
    # What is said under one heading, or in one conversation, is not said under another one.
    group = (chunk.scope, chunk.thread_id, chunk.heading)
    at = chunk.event_at or _LONG_AGO
    passage = Passage(chunk.id, chunk.text, group, TRUSTS.index(chunk.trust), at)
    return ComparedText(passage, (chunk.text_hash,), chunk.owner, chunk.location)


def entry(found: Duplicate, by_id: Mapping[str, ComparedText], *, is_note: bool) -> Consolidated:
    """Return what a report says of a duplicate among texts by their ids."""
    text, kept = by_id[found.id], by_id[found.kept_id]
    return Consolidated(
        action="merged" if is_note else "hidden",
        id=found.id,
        kept_id=found.kept_id,
        owner=text.owner,
        place=text.place,
        kept_place=kept.place,
        text=text.passage.text,
        reason="says the same" if found.is_same else "says all of it and more",
        similarity=found.similarity,
        cosine=found.cosine,
    )
