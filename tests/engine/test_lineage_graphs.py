"""Memory follows the checkpoints of LangGraph's savers in memory and in SQLite."""

from contextlib import AsyncExitStack

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from tests.engine.contract_lineage import Chat, LineageContract


class TestLineage(LineageContract):
    @pytest.fixture(params=["memory", "sqlite", "async sqlite"])
    async def chat(self, request):
        async with AsyncExitStack() as stack:
            if request.param == "memory":
                saver = InMemorySaver()
            elif request.param == "sqlite":
                saver = stack.enter_context(SqliteSaver.from_conn_string(":memory:"))
            else:
                saver = await stack.enter_async_context(
                    AsyncSqliteSaver.from_conn_string(":memory:")
                )
            chat = Chat(saver, is_async=request.param == "async sqlite")
            stack.callback(chat.engine.close)
            yield chat
