"""Records as the chunks that searches find."""

from __future__ import annotations

from langchain_memengine.config import MemEngineConfig
from langchain_memengine.retrieval.documents import event_time
from langchain_memengine.retrieval.sources import TextChunks
from langchain_memengine.storage.record_values import RECORD_PREFIX, MemoryRecord
from langchain_memengine.text.chunking import chunk_markdown
from langchain_memengine.types import Provenance


def record_source(record_id: str) -> str:
    """Return the source URI of a record's chunks."""
    return RECORD_PREFIX + record_id


def record_id(source: str) -> str | None:
    """Return the id of the record that a source URI is of; ``None`` for everything else."""
    return source.removeprefix(RECORD_PREFIX) if source.startswith(RECORD_PREFIX) else None


def chunks_of_record(record: MemoryRecord, config: MemEngineConfig) -> TextChunks:
    """Return a record's chunks; it happened when its metadata, validity or first row says."""
    provenance = Provenance(
        scope=record.scope,
        owner=record.owner,
        origin=record.origin,
        trust=record.trust,
        thread_id=record.thread_id,
        commit_id=record.commit_id,
        event_at=event_time(record.metadata) or record.valid_from or record.created_at,
        valid_from=record.valid_from,
        expires_at=record.expires_at,
        metadata=record.metadata,
    )
    pieces = chunk_markdown(
        record.text, config.chunk_tokens, config.overlap_tokens, source=record_source(record.id)
    )
    return [(chunk, provenance) for chunk in pieces]
