"""The frozen values that pass between modules.

They hold no behaviour beyond what can be derived from their own fields, and they import no
framework, so every layer may use them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

Scope = Literal["global", "personal", "agent_notes", "agent_config", "wiki", "db_cache", "store"]
"""Who may read and write a memory; see ``retrieval.visibility``."""

Origin = Literal["user", "assistant", "tool", "file", "app", "llm_extract"]
"""Where a text came from."""

Trust = Literal["trusted", "unverified", "untrusted"]
"""How far a text may influence the agent."""

VectorPath = Literal["exact", "chroma"]
"""Which index answered the vector leg."""

Metadata = Mapping[str, Any]
"""JSON-able values a memory carries: str, int, float, bool, None, lists and nested mappings."""

Progress = Callable[[int, int], None]
"""Called with (done, total) while long work goes on."""

LOCAL_USER = "local"
"""Id of the single user of a store that names no users."""

MAX_THREAD_CHARS = 255
"""Characters of the id of a conversation, or of a message: what every database holds."""


@dataclass(frozen=True, slots=True)
class Actor:
    """The caller of an operation.

    Attributes:
        user_id: Whose personal memory is readable and writable.
        is_admin: Whether global and agent configuration memory is writable.
    """

    user_id: str = LOCAL_USER
    is_admin: bool = False


LOCAL_ADMIN = Actor(LOCAL_USER, is_admin=True)
"""The default actor: the one local user, who owns the machine."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """One searchable piece of a text.

    Attributes:
        id: ``sha256(source + NUL + start_line + NUL + text)``, hexadecimal.
        source: URI of the text: ``file:<workspace>/<path>``, ``doc:<owner>/<id>``, …
        ord: Position in the text, from 0.
        start_line: First line, 1-based, as an editor counts.
        end_line: Last line, 1-based, inclusive.
        tokens: Estimated tokens of ``text``.
        text: Verbatim slice of the source.
        hash: ``sha256(text)``, hexadecimal; the key of its embedding.
        heading: The headings the chunk stands under, joined with `` > ``; ``""`` if none.
    """

    id: str
    source: str
    ord: int
    start_line: int
    end_line: int
    tokens: int
    text: str
    hash: str
    heading: str = ""


@dataclass(frozen=True, slots=True)
class Provenance:
    """What a stored text carries besides its words; the same for all chunks of one text.

    Attributes:
        scope: Who may read and write it.
        owner: Whose ``personal`` memory it is, else ``""``: folder name of the user
            (``slug(user_id)``), or ``thread:…`` for what several users' conversation archived.
        origin: Where the text came from.
        trust: How far it may influence the agent.
        path: Workspace-relative path of a file, with ``/``; ``""`` when it is no file.
        workspace_id: Which workspace the file belongs to; ``""`` when it is no file.
        thread_id: Conversation it was learnt in, if any.
        commit_id: Memory commit it belongs to, if any.
        event_at: When what it tells happened (aware UTC); ``None`` never ages.
        valid_from: Not returned before this time, if set.
        expires_at: Not returned from this time on, if set.
        metadata: The user's own values, filterable.
    """

    scope: Scope = "global"
    owner: str = ""
    origin: Origin = "app"
    trust: Trust = "trusted"
    path: str = ""
    workspace_id: str = ""
    thread_id: str | None = None
    commit_id: str | None = None
    event_at: datetime | None = None
    valid_from: datetime | None = None
    expires_at: datetime | None = None
    metadata: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Filter:
    """What a search may return, applied before the best ``k`` are chosen.

    Attributes:
        path: Glob over workspace-relative paths (``*`` and ``**``), like ``daily/**``.
        source: Source URI, exactly, or a prefix when it ends with ``*``.
        sources: Source URIs, or prefixes that end with ``*``, of which one must match; none
            given lets all pass.
        not_sources: Source URIs that may not be returned.
        metadata: Conditions by key: a value for equality, ``{"$in": [...]}``, or a range
            with ``$gt``, ``$gte``, ``$lt``, ``$lte``. All must hold; a missing key never does.
            ``{"$or": [{...}, {...}]}`` and ``$and`` combine such mappings.
        scope: Only memory of this scope.
        since: Only what happened at or after this time (aware).
        until: Only what happened before this time (aware).
    """

    path: str | None = None
    source: str | None = None
    sources: tuple[str, ...] = ()
    not_sources: tuple[str, ...] = ()
    metadata: Metadata = field(default_factory=dict)
    scope: Scope | None = None
    since: datetime | None = None
    until: datetime | None = None

    @property
    def is_empty(self) -> bool:
        """Whether everything passes."""
        return self == _NO_FILTER


_NO_FILTER = Filter()


@dataclass(frozen=True, slots=True)
class Commit:
    """What a step of a conversation added to memory, like a commit in git.

    Attributes:
        id: Hash of thread, parents, kind and what it is about: the same step again has it too.
        thread_id: Conversation it was made in.
        parents: Ids of the commits it follows on its branch, sorted.
        kind: What was stored: ``archive``, ``fact``, …
        created_at: When it was first made (aware UTC).
    """

    id: str
    thread_id: str
    parents: tuple[str, ...]
    kind: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Fact:
    """One line worth pinning in MEMORY.md.

    Attributes:
        source: Where it stands, like ``architecture.md#Decisions``.
        text: The fact itself, one line.
        origin: Whose words it is; those of a tool, a file or a model are never pinned.
    """

    source: str
    text: str
    origin: Origin = "app"
