"""Small chat graphs with a memory node, and what a test wants to know of them."""

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from langchain_memengine.faces.nodes import MemoryState

ANSWER = "answer " * 10  # 70 characters: 18 tokens, and 3 for the message


def answer(state: dict[str, Any]) -> dict[str, Any]:
    """Answer as a chat model would, with an id made from the question's."""
    return {"messages": [AIMessage(ANSWER, id=f"a-{state['messages'][-1].id}")]}


def chat_graph(
    node: Any,
    *,
    state: type = MemoryState,
    model: Callable[..., Any] = answer,
    before: bool = False,
    checkpointer: BaseCheckpointSaver | None = None,
    **options: Any,
) -> CompiledStateGraph:
    """Return START → model → memory, or the other way round with ``before``."""
    graph = StateGraph(state).add_node("model", model).add_node("memory", node, **options)
    first, second = ("memory", "model") if before else ("model", "memory")
    graph.add_edge(START, first).add_edge(first, second)
    return graph.compile(checkpointer=checkpointer or InMemorySaver())


def ids(messages: Sequence[BaseMessage]) -> list[str | None]:
    """Return the ids of messages, in order."""
    return [message.id for message in messages]


def config(thread_id: str = "t", **configurable: Any) -> dict[str, Any]:
    """Return the config of a thread."""
    return {"configurable": {"thread_id": thread_id, **configurable}}
