"""The engine as middleware of LangChain's agents."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, NotRequired

from langchain_core.messages import SystemMessage
from langgraph.config import get_config
from langgraph.runtime import Runtime

from langchain_memengine.conversation.compaction import CompactionLimits
from langchain_memengine.conversation.context import DEFAULT_LIMITS
from langchain_memengine.conversation.flush import FLUSH_TOKENS
from langchain_memengine.conversation.lineage import join_heads
from langchain_memengine.conversation.summaries import ended_with, previous_context
from langchain_memengine.conversation.thread import Thread, join_users
from langchain_memengine.engine.memory_engine import MemoryEngine
from langchain_memengine.errors import MissingDependencyError
from langchain_memengine.faces.nodes import flush_node, summarization_node
from langchain_memengine.faces.running import thread_in
from langchain_memengine.faces.timed_recall import RECALL_SECONDS, TimedRecall, TurnMemory
from langchain_memengine.faces.turn_recall import TurnRecall, turn_begins
from langchain_memengine.models.asking import ChatModel

try:
    from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest
    from langchain.agents.middleware.types import ModelResponse, PrivateStateAttr
    from langchain.tools import BaseTool
except ImportError as error:
    raise MissingDependencyError(
        "langchain", extra="agents", needed_for="MemoryMiddleware"
    ) from error


class AgentMemoryState(AgentState[Any]):
    """What memory keeps in an agent's state: private, in neither its input nor its output.

    ``agent.get_state(config).values`` has it, and so has a tool's ``runtime.state``. The keys are
    those of ``MemoryState``; ``recall_note`` says what went less well with the newest recall.
    """

    summary: NotRequired[Annotated[str, PrivateStateAttr]]
    memory_head: NotRequired[Annotated[str, PrivateStateAttr, join_heads]]
    memory_note: NotRequired[Annotated[str, PrivateStateAttr]]
    memory_users: NotRequired[Annotated[list[str], PrivateStateAttr, join_users]]
    memory_thread: NotRequired[Annotated[str, PrivateStateAttr]]
    recall_note: NotRequired[Annotated[str, PrivateStateAttr]]


class MemoryMiddleware(AgentMiddleware[AgentMemoryState, Any, Any]):
    """Gives an agent of ``create_agent`` a memory.

    ```python
    agent = create_agent(
        model,
        middleware=[MemoryMiddleware(engine, model)],
        checkpointer=InMemorySaver(),
    )
    agent.invoke({"messages": [("user", "When do we deploy?")]}, config)
    ```

    When a turn begins, what the user says is looked up, once, and stands behind the system prompt
    of every model call of the turn, fenced as data; it is in no message and in no state. A memory
    that fails, or is slow, does not stop the turn: a warning is logged, and ``recall_note`` in the
    state says so. Between model calls an agent loop of more than ``flush_tokens`` is flushed, and
    after the turn the conversation is compacted, both as ``flush_node`` and ``summarization_node``
    do it. What was summarised stands behind the system prompt, too.

    The user comes from ``config["configurable"]["user_id"]`` or the runtime context's ``user_id``,
    else it is the engine's actor. ``memory_head`` in the state follows forks.

    Args:
        engine: The memory.
        model: Writes summaries, and says what a flush should keep; ``None`` does without.
        tools: Tools that the agent gets with the memory.
        k: Memories in a prompt, at most; default: the ranking's own.
        max_tokens: Estimated tokens of them together; 0 is unlimited.
        recall_seconds: How long a turn waits for its memories.
        limits: When to compact, and how far.
        flush_tokens: An agent loop of more is flushed.

    Raises:
        ConfigurationError: ``k``, ``max_tokens`` or ``recall_seconds`` is negative.
    """

    state_schema = AgentMemoryState

    def __init__(  # noqa: PLR0913  # keywords, each with a default
        self,
        engine: MemoryEngine,
        model: ChatModel | None = None,
        *,
        tools: Sequence[BaseTool] = (),
        k: int | None = None,
        max_tokens: int = 0,
        recall_seconds: float = RECALL_SECONDS,
        limits: CompactionLimits = DEFAULT_LIMITS,
        flush_tokens: int = FLUSH_TOKENS,
    ) -> None:
        super().__init__()
        self.tools = list(tools)
        self._engine = engine
        recall = TimedRecall(engine, k=k, max_tokens=max_tokens, seconds=recall_seconds)
        self._recall = TurnRecall(engine, recall)
        self._flush = flush_node(engine, model, flush_tokens=flush_tokens)
        self._compaction = summarization_node(engine, model, limits=limits)

    def before_model(
        self,
        state: AgentMemoryState,
        runtime: Runtime[Any],  # noqa: ARG002  # LangChain's signature
    ) -> dict[str, Any] | None:
        """Recall what a turn that begins is about, and flush a loop that outgrew the model."""
        update = self._flush.invoke(state, get_config())
        if turn_begins(state):
            update |= _noted(state, self._recall.begin(state, self._thread(state)))
        return update

    async def abefore_model(
        self,
        state: AgentMemoryState,
        runtime: Runtime[Any],  # noqa: ARG002  # LangChain's signature
    ) -> dict[str, Any] | None:
        """Recall and flush without blocking."""
        update = await self._flush.ainvoke(state, get_config())
        if turn_begins(state):
            update |= _noted(state, await self._recall.abegin(state, self._thread(state)))
        return update

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any]:
        """Show the model what was recalled and what was summarised."""
        told = self._recall.current(request.state, self._thread(request.state))
        return handler(_informed(request, told))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Show the model what was recalled and what was summarised, without blocking."""
        told = await self._recall.acurrent(request.state, self._thread(request.state))
        return await handler(_informed(request, told))

    def after_agent(
        self,
        state: AgentMemoryState,
        runtime: Runtime[Any],  # noqa: ARG002  # LangChain's signature
    ) -> dict[str, Any] | None:
        """Compact the conversation if it is too long."""
        self._recall.end(state, self._thread(state))
        return self._compaction.invoke(state, get_config())

    async def aafter_agent(
        self,
        state: AgentMemoryState,
        runtime: Runtime[Any],  # noqa: ARG002  # LangChain's signature
    ) -> dict[str, Any] | None:
        """Compact the conversation if it is too long, without blocking."""
        self._recall.end(state, self._thread(state))
        return await self._compaction.ainvoke(state, get_config())

    def _thread(self, state: Mapping[str, Any]) -> Thread:
        return thread_in(self._engine, state, get_config())


def _noted(state: Mapping[str, Any], told: TurnMemory) -> dict[str, Any]:
    """Return the update that says what the recall lacked; it is empty once the state says so."""
    return {} if told.note == (state.get("recall_note") or "") else {"recall_note": told.note}


def _informed(request: ModelRequest[Any], told: TurnMemory) -> ModelRequest[Any]:
    """Return the request with memory behind its system prompt, what changes least in front."""
    state: Mapping[str, Any] = request.state
    parts = (previous_context(state.get("summary") or ""), told.fragment)
    text = "\n\n".join(part for part in parts if part)
    if not text:
        return request
    prompt = request.system_message
    return request.override(
        system_message=ended_with(prompt, text) if prompt else SystemMessage(text)
    )
