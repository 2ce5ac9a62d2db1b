"""The command that serves a memory to other programs: mcp."""

from __future__ import annotations

from typing import Any

from langchain_memengine.cli import options
from langchain_memengine.cli.opening import may_only_be_read, require_folder


def mcp(
    *,
    root: options.Root = options.DEFAULT_ROOT,
    user: options.User = None,
    embeddings: options.Embeddings = None,
) -> None:
    """Serve a memory over the Model Context Protocol, on standard input and output."""
    actor = options.actor_of(user)
    folder = require_folder(root)
    from langchain_memengine.config import load_config
    from langchain_memengine.engine.memory_engine import MemoryEngine
    from langchain_memengine.faces.mcp_server import mcp_server

    # A client does not wait for a large folder to be indexed: the first search does that.
    settings: dict[str, Any] = {"sync_on_open": False}
    if embeddings is not None:
        settings["embeddings"] = embeddings
    config, read_only = load_config(folder, **settings), may_only_be_read(folder)
    with MemoryEngine.open(folder, config=config, read_only=read_only) as engine:
        mcp_server(engine, actor=actor).run()
