"""Measure what the memory middleware adds to a turn of an agent whose model answers at once.

    python benchmarks/middleware.py --memories 10000

Two agents are asked the same questions, one with the middleware and one without; each question
gives one difference. A conversation has 20 turns, and LangGraph's checkpointer keeps it in memory.
"""

from __future__ import annotations

import argparse
import gc
import tempfile
import time
from typing import Any

import numpy as np
from corpus import chunks, queries
from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver
from search import embeddings_named
from timing import WARM_UP, report

from langchain_memengine import MemoryEngine, MemoryMiddleware
from tests.fakes.scripted_chat_model import ScriptedChatModel

TURNS = 20
"""Turns of a conversation."""


def agent_with(*middleware: MemoryMiddleware) -> Any:
    """Return an agent that answers at once."""
    model = ScriptedChatModel(replies=lambda _: "It is as you say.")
    return create_agent(
        model, system_prompt="Be brief.", middleware=middleware, checkpointer=InMemorySaver()
    )


def turn_ms(agent: Any, number: int, text: str) -> tuple[float, float]:
    """Return the milliseconds of one turn, on the wall's clock and the processor's."""
    config = {"configurable": {"thread_id": f"t{number // TURNS}"}}
    wall, cpu = time.perf_counter_ns(), time.process_time_ns()
    agent.invoke({"messages": [("user", text)]}, config)
    return (time.perf_counter_ns() - wall) / 1e6, (time.process_time_ns() - cpu) / 1e6


def added_ms(engine: MemoryEngine, texts: list[str]) -> dict[str, dict[str, float]]:
    """Return p50 and p99 of what the middleware adds; the first questions warm up."""
    plain, ours = agent_with(), agent_with(MemoryMiddleware(engine))
    added = []
    gc.collect()
    for number, text in enumerate(texts):
        without, with_memory = turn_ms(plain, number, text), turn_ms(ours, number, text)
        if number >= WARM_UP:
            added.append(np.subtract(with_memory, without))
    wall, cpu = np.array(added).T
    return {
        name: {"p50_ms": float(np.median(each)), "p99_ms": float(np.percentile(each, 99))}
        for name, each in (("added, wall", wall), ("added, cpu", cpu))
    }


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
        result = {
            "memories": options.memories,
            "turns": options.turns,
            "embeddings": options.embeddings,
            **added_ms(engine, queries(options.turns)),
        }
    report(result, as_json=options.json)


if __name__ == "__main__":
    main()
