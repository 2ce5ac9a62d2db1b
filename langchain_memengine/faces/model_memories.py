"""What a model keeps and gives up through a tool, and the names it knows memories by."""

from __future__ import annotations

import re
from collections.abc import Sequence

from langchain_memengine.engine.forgetting import BEYOND
from langchain_memengine.engine.memory_engine import MemoryEngine
from langchain_memengine.retrieval.documents import document_id
from langchain_memengine.retrieval.record_chunks import record_id
from langchain_memengine.text.digests import digest
from langchain_memengine.text.fencing import defused
from langchain_memengine.types import (
    Actor,
    Scope,
)

MAX_HITS = 20
"""Memories in one answer, whatever a model asks for."""

_ID_CHARS = 12  # short enough for a model to repeat, long enough to be one of its kind
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

    It is the agent's word, unverified: nobody knows whether the user said so. So it becomes no
    record of theirs, whoever may read it. The same words again, as a step of a graph that is
    retried or replayed saves them, are the same memory.

    Raises:
        ScopeError: The actor may not write to the scope.
        StorageError: The database failed; nothing is stored.
    """
    of_thread = {"thread_id": thread_id} if thread_id else None
    (saved,) = engine.add_texts(
        [text],
        [of_thread],
        ids=[digest(actor.user_id, thread_id or "", text)[:_ID_CHARS]],
        scope=scope,
        origin="assistant",
        actor=actor,
    )
    return saved


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


def poorer(degraded: Sequence[str]) -> str:
    """Return what made an answer poorer than asked, in lines for a model; ``""`` if nothing did."""
    told = (defused(" ".join(one.split())) for one in degraded)  # of file names, too
    return "".join(f"\nPoorer than asked: {one}\n" for one in told)
