"""Processes that write to one memory, and replicas that search it, all through servers.

What writers did is in ``FOLDER/done``: ``+ text`` or ``- text`` once a call returned.
"""

import importlib
import json
import os
import random
import time
from pathlib import Path

from integration_tests.reliability.processes import serve, wait_for, write
from langchain_memengine.engine.memory_engine import MemoryEngine
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine

SETTINGS = "settings.json"
WRITTEN = "written"
"""Made when all writers have ended."""

EVERYTHING = 100_000


def engine_of(folder: Path, root: Path | None = None, **settings) -> MemoryEngine:
    """Return an engine on the servers that the test has started."""
    given = {"vector_search": "chroma", "busy_timeout_ms": 60_000, **settings}
    given |= json.loads((folder / SETTINGS).read_text())
    return make_engine(root, embeddings=FakeEmbeddings(16), **given)


def vectors_on_server(engine: MemoryEngine) -> int:
    """Let an engine fill the Chroma server; return how many vectors that has."""
    engine.search("tea")
    engine.wait_for_chroma()
    index, _ = engine._derived.chroma
    ((key, _),) = index._built.items()
    return index._collections.known(*key).count()


def living(folder: Path) -> tuple[set[str], set[str]]:
    """Return the texts that are there, and those that are gone, as far as calls have returned."""
    done = folder / "done"
    lines = done.read_text().splitlines() if done.exists() else []
    gone = {line[2:] for line in lines if line.startswith("-")}
    return {line[2:] for line in lines} - gone, gone


def write_texts(folder: Path, name: str, seconds: str, most: str) -> None:
    """Add texts, delete some of them again, and note what was acknowledged."""
    generator = random.Random(name)  # noqa: S311  # to be repeated, not to be secret
    mine: list[str] = []
    with engine_of(folder) as engine:
        until = time.monotonic() + float(seconds)
        number = 0
        while time.monotonic() < until and number < int(most):
            texts = [f"tea {name}x{number + i} w{generator.randrange(50)}" for i in range(3)]
            number += 3
            engine.add_texts(texts, ids=texts)
            write(folder, "done", "\n".join(f"+ {text}" for text in texts))
            mine += texts
            if number % 2:
                engine.search("tea")  # whoever searches fills Chroma as well
                text = mine.pop(generator.randrange(len(mine)))
                assert engine.delete([text]) == 1
                write(folder, "done", f"- {text}")
        engine.search("tea")
        engine.wait_for_chroma()
    write(folder, "ended", name)


def search_texts(folder: Path, name: str) -> None:
    """Search until the writers have ended; note what was found that was gone before.

    Then note whether the first search finds everything and nothing else, and after how long.
    """
    root = folder / name if name.startswith("disk") else None
    searches = 0
    with engine_of(folder, root) as engine:
        write(folder, "epochs", engine._derived._epoch())
        write(folder, "ready", name)
        while not (folder / WRITTEN).exists():
            _, gone = living(folder)
            hits = engine.search("tea", 50).hits
            searches += 1
            for ghost in {hit.text for hit in hits} & gone:
                write(folder, "ghosts", ghost)
        started = time.monotonic()
        found = {hit.text for hit in engine.search("tea", EVERYTHING).hits}
        seconds = time.monotonic() - started
        there, _ = living(folder)
        outcome = {
            "name": name,
            "lost": len(there - found),
            "ghosts": len(found - there),
            "seconds": seconds,
            "searches": searches,
        }
        write(folder, "converged", json.dumps(outcome))


def do_nightly(folder: Path, name: str) -> None:
    """Put and do what is due, as a worker does when it wakes."""
    with engine_of(folder) as engine:
        write(folder, "ready", name)
        wait_for((folder / WRITTEN).exists, "the start of the night")
        report = engine.run_jobs()
        write(folder, "nightly", report.done)


if __name__ == "__main__":
    for module in (
        "tests.fakes.lean_imports",
        "chromadb",
        "psycopg",
        "sqlalchemy.dialects.postgresql.psycopg",
    ):
        importlib.import_module(module)
    os.environ.pop("CHROMA_API_KEY", None)
    serve({"write": write_texts, "search": search_texts, "night": do_nightly})
