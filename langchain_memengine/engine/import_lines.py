"""The lines of an export, checked: whoever wrote the file may have made anything up."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from langchain_memengine.errors import ConfigurationError, ScopeError
from langchain_memengine.retrieval import visibility
from langchain_memengine.retrieval.documents import document_uri
from langchain_memengine.storage.record_values import MemoryRecord
from langchain_memengine.text.chunking import is_genuine
from langchain_memengine.text.sanitize import clean_metadata
from langchain_memengine.types import Actor, Chunk, Commit, Provenance, Scope

_TIMES = ("event_at", "valid_from", "expires_at")


def require_own(scope: Scope, owner: str, actor: Actor) -> None:
    """Make sure that an actor may write what an export holds.

    Raises:
        ScopeError: They may not.
    """
    if scope == "personal" and owner != visibility.owner_of("personal", actor):
        raise ScopeError(f"{actor.user_id!r} may not import the memory of another user.")
    if not (scope == "agent_notes" and actor.is_admin):
        visibility.require_write(scope, actor)


def checked_record(record: MemoryRecord) -> MemoryRecord:
    """Return a record whose values the tables take.

    Raises:
        ValueError: One is no such value.
    """
    texts = (record.id, record.scope, record.owner, record.text, record.origin, record.trust)
    if not all(isinstance(one, str) for one in texts) or not 0 < len(record.id) <= 64:  # noqa: PLR2004  # what the column holds
        raise ValueError("no text")
    if not isinstance(record.metadata, dict):
        raise TypeError("metadata")
    return record


def chunk_of(values: Mapping[str, Any], source: str) -> Chunk:
    """Return a chunk of a source.

    Raises:
        TypeError: It lacks a value.
        ValueError: It is another source's, or its id or hash is made up.
    """
    chunk = Chunk(**values)
    if chunk.source != source or not is_genuine(chunk):
        raise ValueError("a chunk of another text")
    return chunk


def provenance_of(pair: Mapping[str, Any], source: str) -> Provenance:
    """Return what a chunk of a source carries.

    Raises:
        KeyError: It lacks a value.
        TypeError: It has one that nothing carries.
        ValueError: It is of a file, or under another owner's name.
    """
    values = dict(pair["provenance"])
    for name in _TIMES:
        values[name] = None if values[name] is None else datetime.fromisoformat(values[name])
    provenance = Provenance(**values)
    if provenance.path or provenance.workspace_id:
        raise ValueError("a chunk of a file")
    if source.startswith("doc:") and not source.startswith(document_uri(provenance.owner, "")):
        raise ValueError("a text under somebody else's name")
    return provenance


def commit_of(values: Mapping[str, Any], thread: str) -> Commit:
    """Return a memory commit of a thread.

    Raises:
        KeyError: It lacks a value.
        ValueError: It is another thread's.
    """
    made = datetime.fromisoformat(values["created_at"])
    commit = Commit(str(values["id"]), thread, tuple(values["parents"]), str(values["kind"]), made)
    if values["thread_id"] != thread:
        raise ValueError("a commit of another thread")
    return commit


def text_of(origin: str | Path | IO[str]) -> str:
    """Return the text of a file, by its path or opened.

    Raises:
        ConfigurationError: It cannot be read as UTF-8.
    """
    if not isinstance(origin, str | Path):
        return origin.read()
    try:
        return Path(origin).read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{origin} cannot be read as UTF-8 text: {error}.") from error


def storable(value: Any) -> Any:
    """Return a line without what no database stores; ``None`` if that leaves no line."""
    try:
        return clean_metadata(value) if isinstance(value, dict) else None
    except ConfigurationError:
        return None


def json_of(text: str) -> Any:
    """Return the value of a JSON text; ``None`` if it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
