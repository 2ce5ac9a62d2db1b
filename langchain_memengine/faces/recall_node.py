"""Recall as a node of a LangGraph graph, before the model."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackManagerForChainRun,
    CallbackManagerForChainRun,
)
from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.runtime import get_runtime

from langchain_memengine.conversation.transcript import is_human
from langchain_memengine.engine.memory_engine import MemoryEngine
from langchain_memengine.errors import ConfigurationError, MemEngineError
from langchain_memengine.faces.nodes import MemoryState
from langchain_memengine.faces.running import caller
from langchain_memengine.types import (
    Actor,
)

logger = logging.getLogger(__name__)

_WORKERS = 4  # recalls at a time; while all of them hang, further ones run out of time in the queue


class RecallState(MemoryState, total=False):
    """State of a graph that recalls.

    Attributes:
        recalled: Markdown for the system prompt, fenced as data; ``""`` when there is nothing.
        recalled_for: Which user and message it was recalled for.
    """

    recalled: str
    recalled_for: str


def recall_node(
    engine: MemoryEngine,
    *,
    k: int | None = None,
    max_tokens: int = 0,
    seconds: float = 2.0,
) -> Runnable[Any, dict[str, Any]]:
    """Return a node that recalls what the model should know before it answers.

    ```python
    graph.add_node("recall", recall_node(engine))
    graph.add_edge(START, "recall").add_edge("recall", "model")

    def model_node(state: RecallState) -> dict:
        return {"messages": [model.invoke([SystemMessage(state["recalled"]), *state["messages"]])]}
    ```

    It recalls once for each message of a user, however often a loop of tools comes by, and writes
    to ``recalled``, never to ``messages``: what is remembered today is no part of what was said.
    The user is found as by :func:`summarization_node`. A memory that fails, or takes longer than
    ``seconds``, costs the turn nothing but what would have been recalled; ``memory_note`` says so.

    Args:
        engine: The memory.
        k: Memories, at most; default: the ranking's own.
        max_tokens: Estimated tokens of all of them; 0 is unlimited.
        seconds: How long a turn waits for its memories.

    Raises:
        ConfigurationError: ``seconds`` is negative.
    """
    if seconds < 0:
        raise ConfigurationError(f"seconds={seconds:g} must not be negative.")
    return _RecallNode(engine, k=k, max_tokens=max_tokens, seconds=seconds)


class _RecallNode(Runnable[Any, dict[str, Any]]):
    """The node, with and without blocking."""

    def __init__(
        self, engine: MemoryEngine, *, k: int | None, max_tokens: int, seconds: float
    ) -> None:
        self.name = "recall"
        self._engine = engine
        self._k = k
        self._max_tokens = max_tokens
        self._seconds = seconds

    def __call__(self, state: RecallState, config: RunnableConfig) -> dict[str, Any]:
        """Run as a function; LangGraph reads from here which state the node works on."""
        return self.invoke(state, config)

    def invoke(
        self,
        input: Any,  # noqa: A002  # LangChain's signature
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Return the update of the state."""
        return self._call_with_config(self._run, input, config, **kwargs)

    async def ainvoke(
        self,
        input: Any,  # noqa: A002  # LangChain's signature
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Return the update of the state without blocking."""
        return await self._acall_with_config(self._arun, input, config, **kwargs)

    def _run(
        self,
        state: Any,
        run_manager: CallbackManagerForChainRun,  # noqa: ARG002  # asks for a config that traces
        config: RunnableConfig,
    ) -> dict[str, Any]:
        said, actor, key = self._turn(state, config)
        if state.get("recalled_for") == key:
            return {}
        try:
            fragment = self._begun(said, actor, state, config).result(self._seconds)
        except Exception as error:  # noqa: BLE001  # no failure of a memory may cost the turn
            return self._failed(error, key)
        return {"recalled": fragment, "recalled_for": key}

    async def _arun(
        self,
        state: Any,
        run_manager: AsyncCallbackManagerForChainRun,  # noqa: ARG002  # the same
        config: RunnableConfig,
    ) -> dict[str, Any]:
        said, actor, key = self._turn(state, config)
        if state.get("recalled_for") == key:
            return {}
        try:
            future = asyncio.wrap_future(self._begun(said, actor, state, config))
            fragment = await asyncio.wait_for(future, self._seconds)
        except Exception as error:  # noqa: BLE001  # the same
            return self._failed(error, key)
        return {"recalled": fragment, "recalled_for": key}

    def _turn(self, state: Any, config: RunnableConfig) -> tuple[str, Actor, str]:
        """Return what was said last, by whom, and what the turn is known by."""
        actor = caller(self._engine, config)
        said = _newest_human(state.get("messages") or ())
        text = str(said.text) if said else ""
        parts = (actor.user_id, str(said.id) if said else "", text)
        digest = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass"))
        return text, actor, digest.hexdigest()[:16]

    def _begun(self, said: str, actor: Actor, state: Any, config: RunnableConfig) -> Future[str]:
        """Begin to recall in a thread, so that the turn need not wait for its end."""
        runtime = get_runtime()
        info = runtime.execution_info if runtime else None
        thread_id = (info.thread_id if info else None) or (config.get("configurable") or {}).get(
            "thread_id"
        )
        head = state.get("memory_head")

        def recall() -> str:
            return self._engine.recall(
                said,
                self._k,
                actor=actor,
                max_tokens=self._max_tokens,
                thread_id=thread_id,
                head=head if thread_id else None,
            ).prompt_fragment()

        return self._pool.submit(recall)

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(_WORKERS, thread_name_prefix="memengine-recall")

    def _failed(self, error: Exception, key: str) -> dict[str, Any]:
        if isinstance(error, TimeoutError):
            reason = f"it took longer than {self._seconds:g} s."
        elif isinstance(error, MemEngineError):
            reason = str(error)
        else:
            reason = f"{type(error).__name__}."
        note = f"Nothing was recalled: {reason}"
        logger.warning("recall: %s", note)
        return {"recalled": "", "recalled_for": key, "memory_note": note}


def _newest_human(messages: Sequence[BaseMessage]) -> BaseMessage | None:
    return next((message for message in reversed(messages) if is_human(message)), None)
