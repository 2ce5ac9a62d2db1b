"""Jobs a minute through the worker with a stub for a model, and a consolidation.

    python benchmarks/jobs.py --jobs 500 --chunks 10000

Each job learns one fact from one message: it is claimed, the stub answers at once with JSON, the
quote is verified, and record, chunk and what follows are one transaction with the job's end. A
second job judges whether the fact contradicts the user's others. The graph is left out. The store
is SQLite on disk, which waits for the disk. The facts are of 20 users, so that each job reads more
of them.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Sequence

from corpus import StubEmbeddings, chunks
from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.runnables import RunnableLambda
from timing import report

from langchain_memengine import Actor, MemEngineConfig, MemoryEngine

USERS = 20

COPIES = 10
"""Of so many chunks one is a copy of another one, under another list mark."""


def stub(prompt: Sequence[BaseMessage]) -> str:
    """Answer as a model would that finds one fact in what somebody said."""
    asked = str(prompt[1].content)
    if asked.startswith("New fact:"):
        return json.dumps({"reasoning": "", "verdicts": []})
    thing = asked.rpartition("I like ")[2].split(".")[0]
    fact = {"quote": f"I like {thing}", "text": f"User likes {thing}.", "subject": "user"}
    fact |= {"about": "person", "relation": "likes", "exclusive": False}
    return json.dumps({"reasoning": "", "facts": [fact]})


def learn(root: str, count: int) -> dict[str, float]:
    """Return how fast so many messages were learnt from; each queues a second job."""
    config = MemEngineConfig(worker="off", consolidate_at=None, graph_learning="off")
    users = [Actor(f"user{number}") for number in range(USERS)]
    with MemoryEngine.open(
        root, config=config, embeddings=StubEmbeddings(), chat_model=RunnableLambda(stub)
    ) as engine:
        for number in range(count):
            message = HumanMessage(f"I like thing{number}.", id=str(number))
            engine.learn([message], thread_id=str(number), actor=users[number % USERS])
        started, cpu = time.perf_counter(), time.process_time()
        done = engine.run_jobs().done
        wall, cpu = time.perf_counter() - started, time.process_time() - cpu
        if done != 2 * count or sum(len(engine.facts(actor=user)) for user in users) != count:
            raise SystemExit(f"{done} jobs were done, {2 * count} were to be.")
    return {
        "jobs": done,
        "wall_s": wall,
        "jobs_a_minute": 60 * done / wall,
        "jobs_a_cpu_minute": 60 * done / cpu,
    }


def consolidate(count: int) -> dict[str, float]:
    """Return how long a consolidation of so many chunks takes, and what it finds."""
    texts = [f"{text} That was number {i}." for i, text in enumerate(chunks(count))]
    copies = [f"- {text}" for text in texts[::COPIES]]
    config = MemEngineConfig(worker="off", vector_search="exact")
    with MemoryEngine.open(None, config=config, embeddings=StubEmbeddings()) as engine:
        engine.add_texts(random.Random(0).sample([*texts, *copies], len(texts) + len(copies)))
        started = time.process_time()
        found = engine.consolidate()
        cpu = time.process_time() - started
    return {
        "chunks": found.examined,
        "hidden": found.counts["hidden"],
        "compared": found.compared,
        "cpu_s": cpu,
    }


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=500, help="messages to learn from")
    parser.add_argument("--chunks", type=int, default=5000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as root:
        learnt = learn(root, options.jobs)
    report({"learning": learnt, "consolidation": consolidate(options.chunks)}, as_json=options.json)


if __name__ == "__main__":
    main()
