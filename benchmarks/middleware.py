"""Measure what the memory middleware adds to a turn of an agent whose model answers at once.

    python benchmarks/middleware.py --memories 10000

Two agents, one with the middleware and one without, are asked the same questions in turns of ten.
A conversation has 20 turns, and LangGraph's checkpointer keeps it in memory.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
from collections.abc import Callable
from typing import Any

from corpus import chunks, queries
from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver
from search import embeddings_named
from timing import interleaved, report

from langchain_memengine import MemoryEngine, MemoryMiddleware
from tests.fakes.chat_models import ScriptedChatModel

TURNS = 20
"""Turns of a conversation."""


def agent_with(*middleware: MemoryMiddleware) -> Callable[[str], object]:
    """Return an agent that answers at once, as a function of what the user says."""
    model = ScriptedChatModel(replies=lambda _: "It is as you say.")
    agent: Any = create_agent(
        model, system_prompt="Be brief.", middleware=middleware, checkpointer=InMemorySaver()
    )
    turns = itertools.count()

    def ask(text: str) -> object:
        thread_id = f"t{next(turns) // TURNS}"
        said = {"messages": [("user", text)]}
        return agent.invoke(said, {"configurable": {"thread_id": thread_id}})

    return ask


def main() -> None:
    """Print what a turn costs more."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--turns", type=int, default=225)
    parser.add_argument("--embeddings", default="stub", help="stub, local or local:minilm")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as root,
        MemoryEngine.open(root, embeddings=embeddings_named(options.embeddings)) as engine,
    ):
        engine.add_texts(chunks(options.memories))
        engine.search("warm up")
        times = interleaved(
            {"without": agent_with(), "with memory": agent_with(MemoryMiddleware(engine))},
            queries(options.turns),
        )
    without, ours = times["without"], times["with memory"]
    result = {
        "memories": options.memories,
        "turns": options.turns,
        "embeddings": options.embeddings,
        **times,
        "added": {name: ours[name] - without[name] for name in ours},
    }
    report(result, as_json=options.json)


if __name__ == "__main__":
    main()
