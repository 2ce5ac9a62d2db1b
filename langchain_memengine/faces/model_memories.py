"""What a model keeps and gives up through a tool, and the names it knows memories by."""

from __future__ import annotations

import re

from langchain_memengine.engine.forgetting import BEYOND
from langchain_memengine.engine.memory_engine import MemoryEngine
from langchain_memengine.retrieval.documents import document_id
from langchain_memengine.retrieval.record_chunks import record_id
from langchain_memengine.types import (
    Actor,
    Scope,
)

_LINES = re.compile(r":\d+-\d+$")


def save(
    engine: MemoryEngine,
    text: str,
    actor: Actor,
    *,
    scope: Scope | None = None,
    thread_id: str | None = None,
) -> str:
    """Remember a text that a model wrote for a user; return its id.

    It is the user's, who talks to the model, and unverified: nobody knows whether they said so.

    Raises:
        ConfigurationError: There are no words.
        ScopeError: The actor may not write to the scope.
        StorageError: The database failed; nothing is stored.
    """
    return engine.remember(
        text, scope=scope, origin="app", trust="unverified", thread_id=thread_id, actor=actor
    ).id


def forget(engine: MemoryEngine, named: str, actor: Actor) -> str:
    """Forget a memory by its id, or by the place it was found at; return where its words still are.

    Raises:
        NotFoundError: There is no such saved memory, or the actor may not read it.
        ScopeError: The actor may not forget it.
        StorageError: A file or the database could not be written.
    """
    place = _LINES.sub("", named.strip())
    report = engine.forget([memory_id(place) or named.strip()], actor=actor)
    return " ".join(line for line in report.out_of_reach if line not in BEYOND)


def memory_id(source: str) -> str | None:
    """Return the id of the record or the added text that a source is; ``None`` for all others."""
    saved = record_id(source)
    return document_id(source) if saved is None else saved
