"""The run of a graph that a face is called in: in which conversation, and for whom."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime, get_runtime

from langchain_memengine.conversation.thread import Thread, messages_of, unnamed_thread
from langchain_memengine.engine.memory_engine import MemoryEngine
from langchain_memengine.errors import ScopeError
from langchain_memengine.types import Actor

_INNER = "|"  # what LangGraph puts between the graphs of a namespace
_CHECKPOINTER = "__pregel_checkpointer"  # it has no public name


def thread_in(engine: MemoryEngine, state: Mapping[str, Any], config: RunnableConfig) -> Thread:
    """Return the conversation that a graph's step runs in, and who asks as in :func:`caller`."""
    runtime = _runtime()
    info = runtime.execution_info if runtime else None
    user_id = user_in(config) or engine.actor.user_id
    named = thread_id_in(config)
    thread_id = named or state.get("memory_thread")
    users = (*(state.get("memory_users") or ()), user_id)
    return Thread(
        thread_id=thread_id or unnamed_thread(user_id, messages_of(state)),
        user_id=user_id,
        users=tuple(dict.fromkeys(users)),
        head=(state.get("memory_head") or "") if thread_id else "",
        now=engine.now(),
        checkpoint_id=info.checkpoint_id if info else None,
        is_named=bool(named),
    )


def head_in(state: object, config: RunnableConfig, *, is_private: bool = False) -> str | None:
    """Return the heads that a graph's state asks from; ``None`` asks from no branch.

    Args:
        state: A mapping or any object. One that is not kept knows nothing of what earlier runs
            committed, and without checkpoints there is one branch only.
        config: Of the run.
        is_private: Whether a graph around this one may keep the heads to itself, as around an
            agent: its newest branch counts then.
    """
    head = (
        state.get("memory_head")
        if isinstance(state, Mapping)
        else getattr(state, "memory_head", None)
    )
    is_kept = (config.get("configurable") or {}).get(_CHECKPOINTER, True) is not None
    return head if head or (is_kept and not (is_private and _is_nested())) else None


def thread_id_in(config: RunnableConfig) -> str | None:
    """Return the id of the conversation; ``None`` outside of any."""
    runtime = _runtime()
    info = runtime.execution_info if runtime else None
    found = (info.thread_id if info else None) or (config.get("configurable") or {}).get(
        "thread_id"
    )
    return None if found is None else str(found)


def caller(engine: MemoryEngine, config: RunnableConfig) -> Actor:
    """Return who asks: the user of the run, see :func:`user_in`, else the engine's actor.

    A user who is not the engine's own actor is no admin.

    Raises:
        ScopeError: The user has no name: that would be the engine's actor, who may be an admin.
    """
    return actor_named(engine, user_in(config))


def actor_named(engine: MemoryEngine, user_id: str | None) -> Actor:
    """Return the actor of a user; the engine's own for its own user, or for none."""
    return engine.actor if user_id in {None, engine.actor.user_id} else Actor(str(user_id))


def user_in(config: RunnableConfig) -> str | None:
    """Return the user that a run is for: ``user_id`` in its config, or in its runtime context.

    Raises:
        ScopeError: The user has no name.
    """
    named = (config.get("configurable") or {}).get("user_id")
    if named is None:
        runtime = _runtime()
        named = _user_of(runtime.context if runtime else None)
    if named is None:
        return None
    if not str(named):
        raise ScopeError("The user_id of the run is empty. Name a user, or leave it out.")
    return str(named)


def _is_nested() -> bool:
    """Return whether the graph that runs is part of another one: a node of it, or called by one."""
    runtime = _runtime()
    info = runtime.execution_info if runtime else None
    return info is not None and _INNER in info.checkpoint_ns


def _runtime() -> Runtime[Any] | None:
    """Return what LangGraph tells the step that runs; ``None`` outside of any."""
    try:
        return get_runtime()
    except RuntimeError:
        return None


def _user_of(context: object) -> object:
    """Return the ``user_id`` of a graph's runtime context, a mapping or any object."""
    if isinstance(context, Mapping):
        return context.get("user_id")
    return getattr(context, "user_id", None)
