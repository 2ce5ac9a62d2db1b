"""Who may read and write what."""

from __future__ import annotations

from typing import get_args

from langchain_memengine.errors import ConfigurationError, ScopeError
from langchain_memengine.storage.chunk_values import SHARED_PARTITION, partition_key
from langchain_memengine.storage.record_values import Place
from langchain_memengine.text.digests import digest
from langchain_memengine.text.sanitize import clean_text
from langchain_memengine.types import (
    Actor,
    Origin,
    Scope,
    Trust,
)
from langchain_memengine.workspace.layout import slug

_SCOPES: tuple[Scope, ...] = get_args(Scope)
_ADMIN_SCOPES: frozenset[Scope] = frozenset({"global", "agent_config"})
_ENGINE_SCOPES: frozenset[Scope] = frozenset({"agent_notes", "wiki", "db_cache", "store"})
_PEOPLES_WORDS: frozenset[Origin] = frozenset({"user", "app"})
_AGENTS_WORDS: frozenset[Origin] = frozenset({"assistant", "tool", "llm_extract"})
_SHARED_SCOPES: tuple[Scope, ...] = ("global", "agent_notes")
_TRUST_OF: dict[Origin, Trust] = {
    "user": "trusted",
    "app": "trusted",
    "assistant": "unverified",
    "llm_extract": "unverified",
    "file": "untrusted",
    "tool": "untrusted",
}


TRUSTS: tuple[Trust, ...] = ("untrusted", "unverified", "trusted")
"""From the least to the most."""

THREAD_OWNERS = "thread:"
"""How owners begin that are conversations of several users; no slug of a user holds a colon."""


def readable_partitions(actor: Actor) -> tuple[str, ...]:
    """Return the partitions an actor may read: what all may read, and what is theirs."""
    mine = partition_key("personal", slug(actor.user_id))
    config = (partition_key("agent_config", ""),) if actor.is_admin else ()
    return (SHARED_PARTITION, mine, *config)


def readable_places(actor: Actor) -> tuple[Place, ...]:
    """Return the (scope, owner) pairs of the records that an actor may read."""
    shared: list[Place] = [(scope, "") for scope in _SHARED_SCOPES]
    config: list[Place] = [("agent_config", "")] if actor.is_admin else []
    return (*shared, ("personal", slug(actor.user_id)), *config)


def forgettable_places(actor: Actor) -> tuple[Place, ...] | None:
    """Return where an actor may forget: what is their own, for an admin everything (``None``)."""
    return None if actor.is_admin else (("personal", owner_of("personal", actor)),)


def thread_owner(thread_id: str) -> str:
    """Return the owner of what several users' conversation leaves behind: nobody but itself."""
    return THREAD_OWNERS + digest(clean_text(thread_id))


def thread_partition(thread_id: str) -> str:
    """Return the partition of a conversation of several users; who knows its id may read it."""
    return partition_key("personal", thread_owner(thread_id))


def is_shared(scope: Scope) -> bool:
    """Return whether everyone reads what is kept under a scope."""
    return scope in _SHARED_SCOPES


def default_scope(actor: Actor) -> Scope:
    """Return where an actor's texts go when they name no scope: to everyone only by an admin."""
    return "global" if actor.is_admin else "personal"


def owner_of(scope: Scope, actor: Actor) -> str:
    """Return whose a text of this scope is: the actor's folder name, or ``""`` for nobody's."""
    return slug(actor.user_id) if scope == "personal" else ""


def require_write(scope: Scope, actor: Actor) -> None:
    """Make sure that an actor may write to a scope.

    Raises:
        ConfigurationError: There is no such scope.
        ScopeError: The actor may not.
    """
    require_known_scope(scope)
    if scope in _ENGINE_SCOPES:
        raise ScopeError(
            f"Only the engine writes to the scope {scope!r}. Use 'personal' or 'global'."
        )
    if scope in _ADMIN_SCOPES and not actor.is_admin:
        raise ScopeError(
            f"{actor.user_id!r} may not write to the scope {scope!r}: it needs an admin. "
            "Use the scope 'personal', or Actor(..., is_admin=True)."
        )


def require_known_scope(scope: str) -> None:
    """Make sure that there is a scope of this name: nobody would read what is kept under another.

    Raises:
        ConfigurationError: There is none.
    """
    if scope not in _SCOPES:
        raise ConfigurationError(f"There is no scope {scope!r}. Choose from: {', '.join(_SCOPES)}.")


def require_record(scope: Scope, actor: Actor, origin: Origin, *, has_evidence: bool) -> None:
    """Make sure that an actor may keep words of an origin as a record of a scope.

    Nothing that a tool, a file or a model says becomes a person's own memory: only what the person
    said does, or what was extracted from it with their words as evidence. What agents say may go
    where agents take notes.

    Raises:
        ScopeError: The actor may not.
    """
    if scope == "personal" and not (
        origin in _PEOPLES_WORDS or (origin == "llm_extract" and has_evidence)
    ):
        raise ScopeError(
            f"Words of the origin {origin!r} cannot become personal memory without the person's "
            "own words as evidence. Use the scope 'agent_notes', which everyone reads, or pass "
            "origin='llm_extract' with evidence."
        )
    if scope != "agent_notes" or origin not in _AGENTS_WORDS:
        require_write(scope, actor)


def require_pinnable(origin: Origin) -> None:
    """Make sure that words of an origin may stand in every prompt.

    Raises:
        ScopeError: They are a tool's, a file's or a model's.
    """
    if origin not in _PEOPLES_WORDS:
        raise ScopeError(
            f"Words of the origin {origin!r} cannot be pinned: what is pinned stands in every "
            "prompt. If a person vouches for them, pin them with origin='user'."
        )


def trust_of(origin: Origin, wanted: Trust | None, *, has_evidence: bool) -> Trust:
    """Return how far words of an origin are trusted: less than usual if wanted, never more.

    Raises:
        ConfigurationError: There is no such origin, or no such trust.
        ScopeError: More trust is wanted than the origin has.
    """
    for name, given, known in (("origin", origin, tuple(_TRUST_OF)), ("trust", wanted, TRUSTS)):
        if given is not None and given not in known:
            raise ConfigurationError(
                f"There is no {name} {given!r}. Choose from: {', '.join(known)}."
            )
    usual = "trusted" if origin == "llm_extract" and has_evidence else _TRUST_OF[origin]
    if wanted is not None and TRUSTS.index(wanted) > TRUSTS.index(usual):
        raise ScopeError(
            f"Words of the origin {origin!r} are at most {usual!r}, not {wanted!r}. If a person "
            "vouches for them, remember them with origin='user'."
        )
    return wanted or _TRUST_OF[origin]
