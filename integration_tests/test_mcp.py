"""`memengine mcp` as assistants start it: a process of its own, spoken to over its pipes."""

import asyncio
import os
import sys

import pytest
from mcp import Client, StdioServerParameters

from langchain_memengine import MemoryEngine

KILN = "The kiln reaches 900 degrees."


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "memory"
    folder.mkdir()
    (folder / "glaze.md").write_text("# Glaze\n\nThe glaze is celadon.\n", encoding="utf-8")
    return folder


@pytest.fixture
def server(root):
    def started(*options):
        program = "from langchain_memengine.cli.main import main; main()"
        return StdioServerParameters(
            command=sys.executable,
            args=["-c", program, "mcp", "--root", str(root), "--embeddings", "none", *options],
            env={"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONWARNINGS": "error"},
        )

    return started


async def told(client, name, **arguments):
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content
    return result.content[0].text


async def test_client_saves_finds_and_forgets_over_two_processes(server, root):
    async with Client(server()) as client:
        assert client.server_info.name == "memengine"
        assert "celadon" in await told(client, "memory_search", query="glaze")
        saved = await told(client, "memory_save", text=KILN)
        await told(client, "memory_log", title="build", text="Fired the kiln.")
        (day,) = (await client.read_resource("memory://daily")).contents
        (log,) = (await client.read_resource(day.text)).contents
        assert "Fired the kiln." in log.text
    with MemoryEngine.open(root, embeddings=None) as engine:
        assert KILN in [hit.text for hit in engine.search("kiln").hits]
    async with Client(server()) as client:
        assert KILN in await told(client, "memory_recall", query="kiln")
        await told(client, "memory_forget", id=saved.removeprefix("Saved. Id: "))
        assert KILN not in await told(client, "memory_recall", query="kiln")


async def test_users_of_two_processes_have_memories_of_their_own(server):
    async with Client(server("--user", "anna")) as anna, Client(server("--user", "bert")) as bert:
        await told(anna, "memory_save", text=KILN)
        assert KILN in await told(anna, "memory_search", query="kiln")
        assert KILN not in await told(bert, "memory_search", query="kiln")
        assert "celadon" in await told(bert, "memory_search", query="glaze")


async def test_nothing_but_the_protocol_is_on_standard_output(server):
    parameters = server()
    process = await asyncio.create_subprocess_exec(
        parameters.command,
        *parameters.args,
        env={**os.environ, **parameters.env},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    hello = (
        b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": '
        b'"2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}\n'
    )
    out, err = await asyncio.wait_for(process.communicate(hello), 60)
    (line,) = out.splitlines()
    assert line.startswith(b'{"jsonrpc":"2.0","id":1,"result":')
    assert (process.returncode, err) == (0, b"")
