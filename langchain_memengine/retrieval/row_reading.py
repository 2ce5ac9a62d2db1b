"""What the derived indexes read of a chunk's row."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from langchain_memengine.storage.chunk_values import IndexRow
from langchain_memengine.text.markdown import DATE_KEYS

AUTHOR_KEYS = ("author", "speaker", "sender", "name", "user")
"""Metadata keys that tell who wrote a text; the first that is there counts."""

_MAX_AUTHOR_CHARS = 100  # a longer one is no name
_NO_WORDS = frozenset({*DATE_KEYS, "links"})
_MAX_FRONT_CHARS = 2000
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
        return f"file {row.workspace_id}/{row.path}"
    return f"thread {row.thread_id}" if row.thread_id else ""


def place(row: IndexRow) -> float | None:
    """Return when a message came in its conversation; the chunks of a file have no neighbours.

    A section of a file is about something of its own, a message answers the one before.
    """
    is_message = bool(row.thread_id) and not row.path
    return float(row.event_ms or 0) if is_message else None


def words_of(row: IndexRow) -> str:
    """Return what the keyword index reads of a row, see :func:`keyword_text`."""
    is_first = row.path and row.ord == 0 and row.metadata_json != "{}"
    front = said_in_front(json.loads(row.metadata_json)) if is_first else ""
    return keyword_text(row.path, row.heading, row.text, front)


def keyword_text(path: str, heading: str, text: str, front: str = "") -> str:
    """Return what the keyword index reads of a chunk: file name and headings count as text.

    Args:
        path: Of its file, or ``""``.
        heading: Headings it stands under.
        text: Its own text.
        front: What the front matter says, for the first chunk of a file.
    """
    name = path.rpartition(".")[0]
    return "\n".join(part for part in (name, heading, text, front) if part)


def said_in_front(metadata: Mapping[str, Any]) -> str:
    """Return what the front matter of a file says in words: title, tags and the like.

    Dates and links are none: the one is its age, the others stand in the text.
    """
    told = (value for key, value in sorted(metadata.items()) if key.lower() not in _NO_WORDS)
    listed = (one for value in told for one in (value if isinstance(value, list) else [value]))
    return "\n".join(one for one in listed if isinstance(one, str))[:_MAX_FRONT_CHARS]
