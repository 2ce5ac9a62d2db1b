"""Texts that a step of a conversation learnt, as chunks of its commit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from langchain_core.messages import BaseMessage

from langchain_memengine.config import MemEngineConfig
from langchain_memengine.conversation.message_json import to_json, whole
from langchain_memengine.conversation.source_uris import learnt_source
from langchain_memengine.retrieval.sources import TextChunks
from langchain_memengine.text.chunking import chunk_markdown
from langchain_memengine.types import (
    Commit,
    Provenance,
)


def about(cause: BaseMessage | str) -> str:
    """Return the key of what a text was learnt from: a message with its content, or a name."""
    return cause if isinstance(cause, str) else to_json(whole(cause))


def learnt_chunks(
    texts: Sequence[str], commit: Commit, place: Provenance, config: MemEngineConfig
) -> dict[str, TextChunks]:
    """Return the chunks of texts by source; they carry the commit and happened when it was made."""
    provenance = replace(
        place,
        thread_id=commit.thread_id,
        commit_id=commit.id,
        event_at=commit.created_at,
    )
    found: dict[str, TextChunks] = {}
    for number, text in enumerate(texts, start=1):
        source = learnt_source(commit.thread_id, commit.id, number)
        pieces = chunk_markdown(text, config.chunk_tokens, config.overlap_tokens, source=source)
        found[source] = [(chunk, provenance) for chunk in pieces]
    return found
