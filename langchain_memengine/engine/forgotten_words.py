"""Which words are forgotten: they go wherever else the engine keeps them, too."""

from __future__ import annotations

import json

from langchain_memengine.conversation.source_uris import summarised_by
from langchain_memengine.retrieval.record_chunks import record_id
from langchain_memengine.storage import revisions
from langchain_memengine.storage.doomed_values import Doomed, DoomedMessage
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.text.erasing import MIN_CHARS, Erasure, flat


def forgotten_words(tx: Transaction, found: Doomed, *, with_chunks: bool) -> Erasure:
    """Return the words that are forgotten: also those that records had before.

    A whole conversation or owner is not looked for text by text, its records are.
    """
    texts = [record.text for record in found.records]
    for revision in revisions.of_records(tx, [record.id for record in found.records]):
        texts += [s.record.text for s in (revision.before, revision.after) if s.record]
    if with_chunks:
        said = [c.text for c in found.chunks if record_id(c.source) is None and not c.path]
        said += [text for message in found.messages for text in _texts_of(message)]
        # That one "ok" is forgotten says nothing about all others.
        texts += [text for text in said if len(flat(text)) >= MIN_CHARS]
    return Erasure(texts)


def forgotten_by_thread(found: Doomed, words: Erasure) -> dict[str, Erasure]:
    """Return what is forgotten and, by conversation, the whole messages that are."""
    said: dict[str, list[str]] = {}
    for message in found.messages:
        said.setdefault(message.thread_id, []).extend(_texts_of(message))
    return {thread_id: Erasure([*texts, *words.texts]) for thread_id, texts in said.items()}


def shown_in_entries(found: Doomed) -> frozenset[str]:
    """Return the ids of records and commits that go with all that entries of notes show of them.

    The entry of a commit shows what its summary says.
    """
    commits = (summarised_by(chunk.source) for chunk in found.chunks)
    return frozenset([*(record.id for record in found.records), *filter(None, commits)])


def _texts_of(message: DoomedMessage) -> list[str]:
    """Return what a message says, as transcripts show it."""
    content = json.loads(message.body)["data"]["content"]
    blocks = [content] if isinstance(content, str) else content
    return [b if isinstance(b, str) else str(b.get("text", "")) for b in blocks]
