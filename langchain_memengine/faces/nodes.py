"""The engine as nodes of a LangGraph graph."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Protocol

from langchain_core.callbacks import adispatch_custom_event, dispatch_custom_event
from langchain_core.messages import AnyMessage, BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import merge_configs, run_in_executor
from langgraph.constants import TAG_NOSTREAM
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict

from langchain_memengine.conversation.compaction import CompactionLimits
from langchain_memengine.conversation.context import DEFAULT_LIMITS
from langchain_memengine.conversation.flush import FLUSH_TOKENS, Flusher
from langchain_memengine.conversation.lineage import join_heads
from langchain_memengine.conversation.summarization import (
    OnTrimmed,
    Summarizer,
    piece_tokens_of,
)
from langchain_memengine.conversation.thread import Archive, Step, Thread, join_users
from langchain_memengine.engine.memory_engine import MemoryEngine
from langchain_memengine.faces.running import thread_in
from langchain_memengine.faces.state_node import StateNode
from langchain_memengine.models.asking import ChatModel, Steps, aanswered, answered
from langchain_memengine.types import Actor

logger = logging.getLogger(__name__)

EVENT = "memengine_compaction"
"""Name of the custom event a node dispatches when it trimmed, or should have."""


class MemoryState(TypedDict, total=False):
    """State of a graph with memory: plain values and messages only.

    A graph that has ``messages`` with LangGraph's own reducer needs no more: a node of this module
    brings the other keys along. Subclass it, or name them in your state, to see them in outputs.

    Attributes:
        messages: The conversation.
        summary: Running summary of what was trimmed; show it with ``with_previous_context``.
        memory_head: The branch's memory commits, joined by ``+``.
        memory_note: What went less well than asked the last time; ``""`` when nothing did.
        memory_users: For whom the graph ran in this thread.
        memory_thread: Where it is archived, if the run names no thread.
        llm_input_messages: What the model should see, where ``messages`` are not trimmed.
        summarized: Ids of messages that the summary covers, where they are not trimmed.
    """

    messages: Annotated[list[AnyMessage], add_messages]
    summary: str
    memory_head: Annotated[str, join_heads]
    memory_note: str
    memory_users: Annotated[list[str], join_users]
    memory_thread: str
    llm_input_messages: list[AnyMessage]
    summarized: dict[str, str]


def summarization_node(  # noqa: PLR0913  # keywords, each with a default
    engine: MemoryEngine,
    model: ChatModel | None = None,
    *,
    archive: Archive | None = None,
    limits: CompactionLimits = DEFAULT_LIMITS,
    trim_messages: bool = True,
    piece_tokens: int | None = None,
    on_trimmed: OnTrimmed | None = None,
    learn: bool = True,
) -> Runnable[Any, dict[str, Any]]:
    """Return a node that keeps a conversation within its limit and loses nothing.

    It archives the oldest messages, adds a paragraph to the running summary, and removes them by
    id. Put it behind the model, to run after a turn, or before it:

    ```python
    graph.add_node("summarize", summarization_node(engine, model))
    ```

    The user comes from ``config["configurable"]["user_id"]`` or the runtime context's ``user_id``,
    else it is the engine's actor. While the thread runs for nobody else, the archive is their
    personal memory, and so is the summary of what only they said. What several users' thread
    archives is for those who name the thread. When the model fails, nothing is trimmed this time,
    ``memory_note`` says so, and the turn goes on.

    Args:
        engine: The memory.
        model: Writes the summaries: a chat model, or any Runnable that takes messages and returns
            a message or a text. ``None`` makes them of people's own sentences.
        archive: Where the full text goes, before anything is removed; default: the engine's own.
        limits: When to compact, and how far.
        trim_messages: ``False`` leaves ``messages`` as they are and writes what the model should
            see to ``llm_input_messages``; the node belongs before the model then.
        piece_tokens: Tokens of a transcript in one prompt; default: half of the model's input
            window, or 8,000 when its profile does not say.
        on_trimmed: Called with (person, transcript of their own lines, commit id) for each person
            in what went.
        learn: Queue the learning of facts from what went, see ``engine.learn``. With an archive
            of your own the facts belong to no branch.
    """
    if model is None:
        piece_tokens = 0

    def queue(person: str, own: Sequence[BaseMessage], thread: Thread, commit_id: str) -> None:
        head = commit_id if archive is None else ""
        engine.learn(own, thread_id=thread.thread_id, head=head, actor=Actor(person))

    work = Summarizer(
        archive or engine.archive,
        limits,
        piece_tokens=piece_tokens_of(model) if piece_tokens is None else piece_tokens,
        trims=trim_messages,
        on_trimmed=on_trimmed,
        learn=queue if learn else None,
    )
    return _Node("summarization", engine, model, work)


def flush_node(
    engine: MemoryEngine,
    model: ChatModel | None = None,
    *,
    archive: Archive | None = None,
    flush_tokens: int = FLUSH_TOKENS,
    piece_tokens: int | None = None,
) -> Runnable[Any, dict[str, Any]]:
    """Return a node that shortens an agent loop which outgrows the model within one request.

    Put it between the tools and the model. When the messages exceed ``flush_tokens``, what is
    worth keeping of the older ones is saved, and the loop goes on with the system prompt, the
    current user message and the newest six messages. See ``memory_flush``.

    Args:
        engine: The memory; while the thread runs for one user, what is worth keeping is also
            written to their day's file, where people read it and searches pass over it.
        model: Says what is worth keeping; without one that is what people said and tools returned.
        archive: Where the full text and what is worth keeping go, before anything is removed;
            default: the engine's own.
        flush_tokens: A loop of more is flushed.
        piece_tokens: Tokens of a transcript in one prompt, as for :func:`summarization_node`.
    """
    if model is None:
        piece_tokens = 0
    work = Flusher(
        archive or engine.archive,
        engine,
        flush_tokens=flush_tokens,
        piece_tokens=piece_tokens_of(model) if piece_tokens is None else piece_tokens,
    )
    return _Node("flush", engine, model, work)


class _Work(Protocol):
    def steps(self, state: Mapping[str, Any], thread: Thread) -> Steps[Step]:
        """Yield what to ask, and return what to store."""
        ...


class _Node(StateNode):
    """A node that plans, asks and stores."""

    def __init__(
        self, name: str, engine: MemoryEngine, model: ChatModel | None, work: _Work
    ) -> None:
        super().__init__(name)
        self._engine = engine
        self._model = model
        self._work = work

    def __call__(self, state: MemoryState, config: RunnableConfig) -> dict[str, Any]:
        """Run as a function; LangGraph reads from here which state a node works on."""
        return self.invoke(state, config)

    def _run(self, state: Any, config: RunnableConfig) -> dict[str, Any]:
        steps = self._work.steps(state, thread_in(self._engine, state, config))
        step = answered(steps, self._model, _unstreamed(config))
        update = step.store()
        if step.event is not None:
            self._log(step.event)
            dispatch_custom_event(EVENT, step.event, config=config)
        return update

    async def _arun(self, state: Any, config: RunnableConfig) -> dict[str, Any]:
        steps = self._work.steps(state, thread_in(self._engine, state, config))
        step = await aanswered(steps, self._model, _unstreamed(config))
        update = await run_in_executor(config, step.store)
        if step.event is not None:
            self._log(step.event)
            await adispatch_custom_event(EVENT, step.event, config=config)
        return update

    def _log(self, event: Mapping[str, Any]) -> None:
        level = logging.WARNING if event["note"] else logging.INFO
        logger.log(level, "%s: %s", self.name, ", ".join(f"{k}={v}" for k, v in event.items()))


def _unstreamed(config: RunnableConfig) -> RunnableConfig:
    """Return the config for asking a model whose reply is not the answer of the turn."""
    return merge_configs(config, {"tags": [TAG_NOSTREAM]})
