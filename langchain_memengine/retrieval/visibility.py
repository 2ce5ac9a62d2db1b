"""Who may read and write what."""

from __future__ import annotations

import hashlib

from langchain_memengine.errors import ScopeError
from langchain_memengine.storage.chunk_values import SHARED_PARTITION, partition_key
from langchain_memengine.text.sanitize import clean_text
from langchain_memengine.types import Actor, Scope
from langchain_memengine.workspace.layout import slug

_ADMIN_SCOPES: frozenset[Scope] = frozenset({"global", "agent_config"})
_ENGINE_SCOPES: frozenset[Scope] = frozenset({"agent_notes", "wiki", "db_cache"})


_THREAD = "thread:"  # no slug holds a colon, so no user's folder has such a name


def readable_partitions(actor: Actor) -> tuple[str, ...]:
    """Return the partitions an actor may read: what all may read, and what is theirs."""
    mine = partition_key("personal", slug(actor.user_id))
    config = (partition_key("agent_config", ""),) if actor.is_admin else ()
    return (SHARED_PARTITION, mine, *config)


def thread_owner(thread_id: str) -> str:
    """Return the owner of what several users' conversation leaves behind: nobody but itself."""
    return _THREAD + hashlib.sha256(clean_text(thread_id).encode()).hexdigest()


def thread_partition(thread_id: str) -> str:
    """Return the partition of a conversation of several users; who knows its id may read it."""
    return partition_key("personal", thread_owner(thread_id))


def default_scope(actor: Actor) -> Scope:
    """Return where an actor's texts go when they name no scope: to everyone only by an admin."""
    return "global" if actor.is_admin else "personal"


def owner_of(scope: Scope, actor: Actor) -> str:
    """Return whose a text of this scope is: the actor's folder name, or ``""`` for nobody's."""
    return slug(actor.user_id) if scope == "personal" else ""


def require_write(scope: Scope, actor: Actor) -> None:
    """Make sure that an actor may write to a scope.

    Raises:
        ScopeError: The actor may not.
    """
    if scope in _ENGINE_SCOPES:
        raise ScopeError(
            f"Only the engine writes to the scope {scope!r}. Use 'personal' or 'global'."
        )
    if scope in _ADMIN_SCOPES and not actor.is_admin:
        raise ScopeError(
            f"{actor.user_id!r} may not write to the scope {scope!r}: it needs an admin. "
            "Use the scope 'personal', or Actor(..., is_admin=True)."
        )
