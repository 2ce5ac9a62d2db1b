"""The lines of an export, checked: whoever wrote the file may have made anything up."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import IO, Any, TypeVar

from pydantic import TypeAdapter

from langchain_memengine.engine.remembering import MAX_SOURCE_CHARS
from langchain_memengine.errors import ConfigurationError, ScopeError
from langchain_memengine.given import MOST
from langchain_memengine.retrieval import visibility
from langchain_memengine.retrieval.documents import document_uri
from langchain_memengine.storage.record_values import (
    MemoryRecord,
    Revision,
    Supersession,
)
from langchain_memengine.text.chunking import is_genuine
from langchain_memengine.text.sanitize import MAX_DEPTH, as_utc, clean_metadata
from langchain_memengine.types import Actor, Chunk, Commit, Provenance, Scope

RecordPast = tuple[list[Revision], list[Supersession]]
"""What was done to a record, and what took its place."""

_Value = TypeVar("_Value")

_HASHED_ID = re.compile("[0-9a-f]{32}")
_ANY_ID = re.compile(".{1,64}", re.DOTALL)
_MAX_NAME_CHARS = 1024
# What the columns hold on every database.
_MAX_CHARS = {
    **dict.fromkeys(("id", "target_id", "old_id", "new_id", "kept_id", "commit_id", "parents"), 64),
    "thread_id": 255,
    "kind": 32,
}
_MAX_DEPTH = MAX_DEPTH + 5  # of a line, whose revisions hold records, which hold metadata


def require_own(scope: Scope, owner: str, actor: Actor) -> None:
    """Make sure that an actor may write what an export holds.

    Raises:
        ScopeError: They may not.
    """
    if scope == "personal" and owner != visibility.owner_of("personal", actor):
        raise ScopeError(f"{actor.user_id!r} may not import the memory of another user.")
    if not (scope == "agent_notes" and actor.is_admin):
        visibility.require_write(scope, actor)


def record_of(line: Mapping[str, Any]) -> tuple[MemoryRecord, RecordPast]:
    """Return a record with its past, whose values the tables take.

    Raises:
        KeyError: There is none.
        ValueError: It lacks a value, has one that cannot be, or something in its past is about
            another record.
        ScopeError: It claims more trust than its origin has.
    """
    record = _typed(MemoryRecord, line["record"])
    if not record.text.strip() or len(record.source) > MAX_SOURCE_CHARS:
        raise ValueError("no words, or too long a source")
    # Users' own ids are hashes: no personal record may stand where a shared one could be named.
    if not (_HASHED_ID if record.scope == "personal" else _ANY_ID).fullmatch(record.id):
        raise ValueError("no id of a record")
    _require_provenance(record, has_evidence=_evidence(record))
    past = [_typed(Revision, one) for one in line.get("revisions", ())]
    over = [_typed(Supersession, one) for one in line.get("superseded_by", ())]
    states = [state for one in past for state in (one.before, one.after)]
    earlier = [state.record for state in states if state.record is not None]
    about = [one.target_id for one in past] + [one.id for one in earlier]
    about += [one.old_id for state in states for one in state.superseded_by]
    about += [one.old_id for one in over]
    if set(about) - {record.id} or {one.place for one in earlier} - {record.place}:
        raise ValueError("a past of another record")
    return record, (past, over)


def require_personal(record: MemoryRecord, actor: Actor) -> None:
    """Make sure that a record that is somebody's own may be.

    Raises:
        ScopeError: It is a tool's, a file's or a model's word without evidence.
    """
    if record.scope == "personal":
        has_evidence = _evidence(record)
        visibility.require_record("personal", actor, record.origin, has_evidence=has_evidence)


def note_of(line: Mapping[str, Any]) -> tuple[str, str]:
    """Return name and text of a note; settings and state are none, whatever they are called.

    Raises:
        KeyError: It lacks a value.
        TypeError: One is no text.
        ValueError: The name is none of a Markdown file.
    """
    name, text = line["name"], line["text"]
    if not isinstance(name, str) or not isinstance(text, str):
        raise TypeError("no note")
    is_hidden = any(part.startswith(".") or not part for part in name.split("/"))
    if is_hidden or not name.endswith(".md") or len(name) > _MAX_NAME_CHARS or "\\" in name:
        raise ValueError("no name of a note")
    return name, text


def chunk_of(values: Mapping[str, Any], source: str) -> Chunk:
    """Return a chunk of a source.

    Raises:
        ValueError: It lacks a value, has one that cannot be, or is another source's, or its id or
            hash is made up.
    """
    chunk = _typed(Chunk, values)
    if chunk.source != source or not is_genuine(chunk):
        raise ValueError("a chunk of another text")
    return chunk


def provenance_of(pair: Mapping[str, Any], source: str) -> Provenance:
    """Return what a chunk of a source carries.

    Raises:
        KeyError: There is nothing.
        ScopeError: It claims more trust than its origin has.
        ValueError: It has a value that nothing carries, is of a file, or under another owner's
            name.
    """
    provenance = _typed(Provenance, pair["provenance"])
    if provenance.path or provenance.workspace_id:
        raise ValueError("a chunk of a file")
    _require_provenance(provenance, has_evidence=False)
    if source.startswith("doc:") and not source.startswith(document_uri(provenance.owner, "")):
        raise ValueError("a text under somebody else's name")
    return provenance


def commit_of(values: Mapping[str, Any], thread: str) -> Commit:
    """Return a memory commit of a thread.

    Raises:
        ValueError: It lacks a value, has one that cannot be, or is another thread's.
    """
    commit = _typed(Commit, values)
    if commit.thread_id != thread:
        raise ValueError("a commit of another thread")
    return commit


def text_of(origin: str | Path | IO[str]) -> str:
    """Return the text of a file, by its path or opened.

    Raises:
        ConfigurationError: It cannot be read as UTF-8, or was opened as bytes.
    """
    try:
        if isinstance(origin, str | Path):
            return Path(origin).read_bytes().decode("utf-8-sig")
        text = origin.read()
    except (OSError, ValueError) as error:  # also of a file that was closed
        raise ConfigurationError(f"{origin} cannot be read as UTF-8 text: {error}.") from error
    if not isinstance(text, str):
        raise ConfigurationError(
            f"{origin} was opened as bytes. Open it as text, or give its path."
        )
    return text


def storable(value: Any) -> Any:
    """Return a line without what no database stores; ``None`` if that leaves no line."""
    try:
        return clean_metadata(value, levels=_MAX_DEPTH) if isinstance(value, dict) else None
    except ConfigurationError:
        return None


def json_of(text: str) -> Any:
    """Return the value of a JSON text; ``None`` if it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _evidence(record: MemoryRecord) -> bool:
    return bool(record.metadata.get("evidence"))


def _require_provenance(of: MemoryRecord | Provenance, *, has_evidence: bool) -> None:
    if bool(of.owner) != (of.scope == "personal"):
        raise ValueError("an owner of what is nobody's, or none of what is somebody's")
    visibility.trust_of(of.origin, of.trust, has_evidence=has_evidence)


def _typed(kind: type[_Value], values: Any) -> _Value:
    """Return values as what they should be, if the tables take that.

    Raises:
        ValueError: One is missing, of another type, or cannot be stored.
    """
    # mypy asks the values to be hashable, not their type.
    made: _Value = _adapter(kind).validate_python(values)  # type: ignore[arg-type]
    _require_storable(made, "")
    return made


def _require_storable(value: Any, name: str) -> None:
    """Make sure that columns hold a value and all its fields.

    Raises:
        ValueError: A text is too long, a number out of range, metadata nested too deep, or a time
            without its zone or outside the calendar in UTC.
    """
    match value:
        case datetime() if value.tzinfo is None:
            raise ValueError(f"{name} has no time zone")
        case datetime():
            as_utc(value)
        case str() if len(value) > _MAX_CHARS.get(name, len(value)):
            raise ValueError(f"{name} is too long")
        case Mapping():
            clean_metadata(value)
        case int() if not 0 <= value <= MOST:
            raise ValueError(f"{name} is out of range")
        case tuple():
            for one in value:
                _require_storable(one, name)
        case _ if dataclasses.is_dataclass(value):
            for field in dataclasses.fields(value):
                _require_storable(getattr(value, field.name), field.name)


@cache
def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
