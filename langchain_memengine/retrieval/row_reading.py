"""What the derived indexes read of a chunk's row."""

from __future__ import annotations

import json

from langchain_memengine.storage.chunk_values import IndexRow

AUTHOR_KEYS = ("author", "speaker", "sender", "name", "user")
"""Metadata keys that tell who wrote a text; the first that is there counts."""

_MAX_AUTHOR_CHARS = 100  # a longer one is no name
_ROLES = frozenset({"user", "human", "assistant", "ai", "agent", "bot", "system", "tool"})


def author(row: IndexRow) -> str:
    """Return who wrote a chunk, by its metadata; ``""`` if that does not name a person."""
    if row.metadata_json == "{}":
        return ""
    metadata = json.loads(row.metadata_json)
    name = next((metadata[key] for key in AUTHOR_KEYS if metadata.get(key)), "")
    is_name = isinstance(name, str) and len(name) <= _MAX_AUTHOR_CHARS
    return name if is_name and name.lower() not in _ROLES else ""


def group(row: IndexRow) -> str:
    """Return the name of the file or conversation a chunk belongs to, ``""`` for neither."""
    if row.path:
        return f"file {row.path}"
    return f"thread {row.thread_id}" if row.thread_id else ""


def place(row: IndexRow) -> float | None:
    """Return when a message came in its conversation; the chunks of a file have no neighbours.

    A section of a file is about something of its own, a message answers the one before.
    """
    is_message = bool(row.thread_id) and not row.path
    return float(row.event_ms or 0) if is_message else None


def keyword_text(path: str, heading: str, text: str) -> str:
    """Return what the keyword index reads of a chunk: file name and headings count as text."""
    name = path.rpartition(".")[0]
    return "\n".join(part for part in (name, heading, text) if part)
