"""Texts that an application adds, as sources with chunks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any, Protocol
from urllib.parse import quote, unquote
from uuid import uuid4

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.retrieval.sources import TextChunks
from langchain_memengine.text.chunking import chunk_markdown
from langchain_memengine.text.digests import bounded
from langchain_memengine.text.sanitize import as_utc, clean_metadata, clean_text
from langchain_memengine.types import MAX_THREAD_CHARS, Provenance

EVENT_TIME_KEYS = ("event_at", "timestamp", "time", "created_at", "date")
"""Metadata keys that tell when something happened; the first with a date counts."""

THREAD_KEYS = ("thread_id", "session_id", "session")
"""Metadata keys that tell which conversation a text belongs to; the first that is there counts."""

_PREFIX = "doc:"


class DocumentLike(Protocol):
    """What is used of LangChain's ``Document``."""

    page_content: str
    metadata: dict[str, Any]
    id: str | None


@dataclass(frozen=True, slots=True)
class NewDocument:
    """A text to remember.

    Attributes:
        text: Its words.
        metadata: Filterable values.
        id: Chosen by the application; the same id again replaces the text.
    """

    text: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    id: str = field(default_factory=lambda: uuid4().hex)


def new_documents(
    texts: Sequence[str],
    metadatas: Sequence[Mapping[str, Any] | None] | None,
    ids: Sequence[str | None] | None,
) -> list[NewDocument]:
    """Pair texts with metadata and ids; a missing id is made.

    Raises:
        ConfigurationError: The lists differ in length, or metadata cannot be stored.
    """
    require_list("texts", texts)
    for name, values in (("metadatas", metadatas), ("ids", ids)):
        if isinstance(values, str | Mapping):
            raise ConfigurationError(f"{name} is a single one. Pass a list: [{name[:-1]}].")
        if values is not None and len(values) != len(texts):
            raise ConfigurationError(
                f"{len(texts)} texts came with {len(values)} {name}; give one for each, or none."
            )
    return [
        NewDocument(
            text=clean_text(text),
            metadata=clean_metadata(metadatas[i] if metadatas else None),
            id=clean_text((ids[i] if ids else None) or uuid4().hex),
        )
        for i, text in enumerate(texts)
    ]


def require_list(name: str, values: Sequence[str]) -> None:
    """Make sure that a list of texts is no single text, whose letters would be taken one by one.

    Raises:
        ConfigurationError: It is a single text.
    """
    if isinstance(values, str):
        raise ConfigurationError(f"{name} is a single text. Pass a list: [{name[:-1]}].")


def document_uri(owner: str, document_id: str) -> str:
    """Return the source URI of an application's text; each owner has ids of their own."""
    return f"{_PREFIX}{owner}/{quote(clean_text(document_id), safe='')}"


def document_id(source: str) -> str | None:
    """Return the application's id in a source URI; ``None`` for files and everything else."""
    if not source.startswith(_PREFIX):
        return None
    return unquote(source.partition("/")[2])


def chunks_of_document(
    document: NewDocument,
    place: Provenance,
    *,
    now: datetime,
    chunk_tokens: int,
    overlap_tokens: int,
) -> tuple[str, TextChunks]:
    """Return a document's source URI and its chunks, which carry what their place does."""
    source = document_uri(place.owner, document.id)
    provenance = replace(
        place,
        thread_id=thread_of(document.metadata),
        event_at=event_time(document.metadata) or now,
        metadata=document.metadata,
    )
    pieces = chunk_markdown(document.text, chunk_tokens, overlap_tokens, source=source)
    return source, [(chunk, provenance) for chunk in pieces]


def thread_of(metadata: Mapping[str, Any]) -> str | None:
    """Return the conversation a text belongs to, by its metadata."""
    for key in THREAD_KEYS:
        value = metadata.get(key)
        if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
            return bounded(clean_text(str(value)), MAX_THREAD_CHARS)
    return None


def event_time(metadata: Mapping[str, Any]) -> datetime | None:
    """Return when something happened, by its metadata: an ISO 8601 text or a date."""
    for key in EVENT_TIME_KEYS:
        value = metadata.get(key)
        if isinstance(value, datetime):
            return as_utc(value)
        if isinstance(value, str | date):
            try:
                return as_utc(datetime.fromisoformat(str(value)))
            except ValueError:
                continue  # some other text under that key
    return None
