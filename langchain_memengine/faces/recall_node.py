"""Recall as a node of a LangGraph graph, before the model."""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig

from langchain_memengine.conversation.transcript import newest_human
from langchain_memengine.engine.memory_engine import MemoryEngine
from langchain_memengine.faces.nodes import MemoryState
from langchain_memengine.faces.running import caller, head_in, thread_id_in
from langchain_memengine.faces.state_node import StateNode
from langchain_memengine.faces.timed_recall import (
    RECALL_SECONDS,
    Asked,
    TimedRecall,
    TurnMemory,
)
from langchain_memengine.text.digests import digest


class RecallState(MemoryState, total=False):
    """State of a graph that recalls.

    Attributes:
        recalled: Markdown for the system prompt, fenced as data; ``""`` when there is nothing.
        recalled_for: Which user and message it was recalled for.
        recall_note: What it lacks, ``""`` if nothing.
    """

    recalled: str
    recalled_for: str
    recall_note: str


def recall_node(
    engine: MemoryEngine,
    *,
    k: int | None = None,
    max_tokens: int = 0,
    seconds: float = RECALL_SECONDS,
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
    ``seconds``, costs the turn nothing but what would have been recalled; ``recall_note`` says so,
    and says what was poorer than it could be.

    Args:
        engine: The memory.
        k: Memories, at most; default: the ranking's own.
        max_tokens: Estimated tokens of all of them; 0 is unlimited.
        seconds: How long a turn waits for its memories.

    Raises:
        ConfigurationError: A number is negative.
    """
    return _RecallNode(engine, TimedRecall(engine, k=k, max_tokens=max_tokens, seconds=seconds))


class _RecallNode(StateNode):
    """A node that recalls."""

    def __init__(self, engine: MemoryEngine, recall: TimedRecall) -> None:
        super().__init__("recall")
        self._engine = engine
        self._recall = recall

    def __call__(self, state: RecallState, config: RunnableConfig) -> dict[str, Any]:
        """Run as a function; LangGraph reads from here which state the node works on."""
        return self.invoke(state, config)

    def _run(self, state: Any, config: RunnableConfig) -> dict[str, Any]:
        asked, key = self._turn(state, config)
        if state.get("recalled_for") == key:
            return {}
        return _update(state, self._recall.recall(asked), key)

    async def _arun(self, state: Any, config: RunnableConfig) -> dict[str, Any]:
        asked, key = self._turn(state, config)
        if state.get("recalled_for") == key:
            return {}
        return _update(state, await self._recall.arecall(asked), key)

    def _turn(self, state: Any, config: RunnableConfig) -> tuple[Asked, str]:
        """Return what was said last, and what the turn is known by."""
        actor = caller(self._engine, config)
        thread_id = thread_id_in(config)
        said = newest_human(state.get("messages") or ())
        text = str(said.text) if said else ""
        parts = (actor.user_id, str(said.id) if said else "", text)
        head = None if thread_id is None else head_in(state, config)
        return Asked(text, actor, thread_id, head), digest(*parts)[:16]


def _update(state: Any, told: TurnMemory, key: str) -> dict[str, Any]:
    is_new = told.note != (state.get("recall_note") or "")
    note = {"recall_note": told.note} if is_new else {}
    return {"recalled": told.fragment, "recalled_for": key, **note}
