"""The engine as a LangChain chat message history."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import BaseMessage

from langchain_memengine.engine.memory_engine import MemoryEngine
from langchain_memengine.types import Actor


class MemEngineChatMessageHistory(BaseChatMessageHistory):
    """The messages of one chat session, kept in the engine's database.

    LangChain deprecates the base class for version 2.0 in favour of LangGraph's persistence. In a
    new application let a checkpointer keep the messages, and the engine what is to outlast them:

    ```python
    graph = StateGraph(MessagesState).add_node(answer).add_edge(START, "answer")
    app = graph.compile(checkpointer=SqliteSaver.from_conn_string("chats.sqlite"))
    app.invoke({"messages": [("user", "Hello")]}, {"configurable": {"thread_id": "chat-1"}})
    ```

    For an application built on ``RunnableWithMessageHistory``:

    ```python
    chat = RunnableWithMessageHistory(
        chain,
        lambda session_id: MemEngineChatMessageHistory(engine, session_id),
        input_messages_key="question",
        history_messages_key="history",
    )
    ```

    Every user has sessions of their own. Messages get an id when they have none, and one whose id
    is there already is not added again. Several processes may write to a session at the same time:
    nothing is lost, and messages added together stay together. Reading never shortens anything.

    Args:
        engine: Where the messages are kept.
        session_id: Which chat.
        user_id: Whose chat; default: the engine's actor's.
    """

    def __init__(
        self, engine: MemoryEngine, session_id: str, *, user_id: str | None = None
    ) -> None:
        self._history = engine.history(
            session_id, actor=None if user_id is None else Actor(user_id)
        )

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]  # the base declares a plain attribute
        """All messages, oldest first."""
        return self._history.read()

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Add messages at the end, all or none."""
        self._history.add(messages)

    def clear(self) -> None:
        """Remove all messages of the session."""
        self._history.clear()

    async def aget_messages(self) -> list[BaseMessage]:
        """Return all messages without blocking the event loop."""
        return await asyncio.to_thread(self._history.read)

    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Add messages without blocking the event loop."""
        await asyncio.to_thread(self._history.add, messages)

    async def aclear(self) -> None:
        """Remove all messages without blocking the event loop."""
        await asyncio.to_thread(self._history.clear)
