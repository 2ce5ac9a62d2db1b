"""For whom a run of a graph, a tool or an agent asks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime, get_runtime

from langchain_memengine.engine.memory_engine import MemoryEngine
from langchain_memengine.types import (
    Actor,
)


def caller(engine: MemoryEngine, config: RunnableConfig) -> Actor:
    """Return who asks, called inside of a run.

    The user is ``user_id`` in the config's ``configurable`` or in the runtime context. One who is
    not the engine's own actor is no admin; without a user it is the engine's actor who asks.
    """
    runtime: Runtime[Any] | None = get_runtime()
    named = (config.get("configurable") or {}).get("user_id") or _user_in(
        runtime.context if runtime else None
    )
    user_id = engine.actor.user_id if named is None else str(named)
    return engine.actor if user_id == engine.actor.user_id else Actor(user_id)


def _user_in(context: object) -> object:
    """Return the ``user_id`` of a runtime context, a mapping or any object."""
    if isinstance(context, Mapping):
        return context.get("user_id")
    return getattr(context, "user_id", None)
