"""Memory follows the checkpoints of LangGraph's PostgreSQL savers, with and without blocking."""

from contextlib import AsyncExitStack

import pytest

from tests.engine.contract_lineage import Chat, LineageContract

pytest.importorskip("langgraph.checkpoint.postgres", reason="needs langgraph-checkpoint-postgres")


@pytest.fixture(scope="module")
def url(postgresql):
    """The address of a database, as the savers are told it."""
    return postgresql.url().replace("+psycopg", "")


class TestLineage(LineageContract):
    @pytest.fixture(params=["postgres", "async postgres"])
    async def chat(self, request, url):
        from langgraph.checkpoint.postgres import PostgresSaver
        from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

        async with AsyncExitStack() as stack:
            if request.param == "postgres":
                saver = stack.enter_context(PostgresSaver.from_conn_string(url))
                saver.setup()
                saver.delete_thread("t")
            else:
                saver = await stack.enter_async_context(AsyncPostgresSaver.from_conn_string(url))
                await saver.setup()
                await saver.adelete_thread("t")
            chat = Chat(saver, is_async=request.param == "async postgres")
            stack.callback(chat.engine.close)
            yield chat
