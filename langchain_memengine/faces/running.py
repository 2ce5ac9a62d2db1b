"""The run of a graph that a face is called in: in which conversation, and for whom."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime, get_runtime

from langchain_memengine.conversation.thread import Thread
from langchain_memengine.engine.memory_engine import MemoryEngine
from langchain_memengine.types import (
    Actor,
)

_NO_THREAD = "default"


def thread_in(engine: MemoryEngine, state: Mapping[str, Any], config: RunnableConfig) -> Thread:
    """Return the conversation that a graph's step runs in.

    The user is ``user_id`` in the config's ``configurable`` or in the runtime context, else the
    engine's actor.
    """
    configurable = config.get("configurable") or {}
    runtime: Runtime[Any] | None = get_runtime()
    info = runtime.execution_info if runtime else None
    user_id = str(
        configurable.get("user_id")
        or _user_in(runtime.context if runtime else None)
        or engine.actor.user_id
    )
    users = (*(state.get("memory_users") or ()), user_id)
    return Thread(
        thread_id=str(
            (info.thread_id if info else None) or configurable.get("thread_id") or _NO_THREAD
        ),
        user_id=user_id,
        users=tuple(dict.fromkeys(users)),
        head=state.get("memory_head") or "",
        now=engine.now(),
        checkpoint_id=info.checkpoint_id if info else None,
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
    return actor_named(engine, None if named is None else str(named))


def actor_named(engine: MemoryEngine, user_id: str | None) -> Actor:
    """Return the actor of a user; the engine's own for its own user, or for none."""
    return engine.actor if user_id in {None, engine.actor.user_id} else Actor(str(user_id))


def _user_in(context: object) -> object:
    """Return the ``user_id`` of a graph's runtime context, a mapping or any object."""
    if isinstance(context, Mapping):
        return context.get("user_id")
    return getattr(context, "user_id", None)
