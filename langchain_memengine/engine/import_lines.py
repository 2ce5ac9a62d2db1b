"""The lines of an export, checked: whoever wrote the file may have made anything up."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import IO, Any, get_args

from langchain_memengine.errors import ConfigurationError, ScopeError
from langchain_memengine.retrieval import visibility
from langchain_memengine.retrieval.documents import document_uri
from langchain_memengine.storage.record_json import (
    record_from_json,
    revision_from_json,
    supersession_from_json,
)
from langchain_memengine.storage.record_values import (
    MemoryRecord,
    Revision,
    Supersession,
)
from langchain_memengine.text.chunking import is_genuine
from langchain_memengine.text.sanitize import clean_metadata
from langchain_memengine.types import (
    Actor,
    Chunk,
    Commit,
    Origin,
    Provenance,
    Scope,
    Trust,
)

RecordPast = tuple[list[Revision], list[Supersession]]
"""What was done to a record, and what took its place."""

_TIMES = ("event_at", "valid_from", "expires_at")
_HASHED_ID = re.compile("[0-9a-f]{32}")
_ANY_ID = re.compile(".{1,64}", re.DOTALL)
_MAX_NAME_CHARS = 1024


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
        KeyError: It lacks a value.
        TypeError: One has another type.
        ValueError: One is no such value, or something in its past is about another record.
        ScopeError: It claims more trust than its origin has.
    """
    record = record_from_json(line["record"])
    texts = (record.id, record.text, record.owner, record.source)
    if not all(isinstance(one, str) for one in texts) or not isinstance(record.metadata, dict):
        raise TypeError("no record")
    # Users' own ids are hashes: no personal record may stand where a shared one could be named.
    if not (_HASHED_ID if record.scope == "personal" else _ANY_ID).fullmatch(record.id):
        raise ValueError("no id of a record")
    _require_provenance(record, has_evidence=_evidence(record))
    past = [revision_from_json(one) for one in line.get("revisions", ())]
    over = [supersession_from_json(one) for one in line.get("superseded_by", ())]
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
        ScopeError: It claims more trust than its origin has.
        ValueError: It is of a file, or under another owner's name.
    """
    values = dict(pair["provenance"])
    for name in _TIMES:
        values[name] = None if values[name] is None else datetime.fromisoformat(values[name])
    provenance = Provenance(**values)
    if provenance.path or provenance.workspace_id:
        raise ValueError("a chunk of a file")
    _require_provenance(provenance, has_evidence=False)
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


def _evidence(record: MemoryRecord) -> bool:
    return bool(record.metadata.get("evidence"))


def _require_provenance(of: MemoryRecord | Provenance, *, has_evidence: bool) -> None:
    known = ((of.scope, Scope), (of.origin, Origin), (of.trust, Trust))
    if any(value not in get_args(values) for value, values in known):
        raise ValueError("no such scope, origin or trust")
    if bool(of.owner) != (of.scope == "personal"):
        raise ValueError("an owner of what is nobody's, or none of what is somebody's")
    visibility.trust_of(of.origin, of.trust, has_evidence=has_evidence)
