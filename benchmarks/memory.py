"""Resident memory that N chunks add, against the bytes of the matrix and the posting lists.

    python benchmarks/memory.py --chunks 100000 --json

The store is filled by one process and read by fresh ones, so that only what a search needs is
counted. ``mapped`` opens the saved indexes; ``built`` makes them from the database, as after an
upgrade, in memory of its own. Chroma, and what the conversation context adds, are counted apart.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from corpus import StubEmbeddings, chunks, queries
from timing import report

from langchain_memengine import MemEngineConfig, MemoryEngine

QUERIES = 50
PER_SESSION = 20


def build(root: Path, count: int) -> None:
    """Fill a store with texts of conversations of 20, and save its indexes."""
    config = MemEngineConfig(vector_search="exact")
    with MemoryEngine.open(root, config=config, embeddings=StubEmbeddings()) as engine:
        sessions = [{"session_id": f"s{number // PER_SESSION}"} for number in range(count)]
        engine.add_texts(chunks(count), sessions)
        engine.search("warm up")


def resident_bytes() -> int:
    """Return the resident memory of this process now, freed pages given back first."""
    gc.collect()
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def measure(root: Path, mode: str) -> None:
    """Print what opening a store and searching it adds, in bytes."""
    with MemoryEngine.open(None, embeddings=StubEmbeddings()) as warm:
        warm.add_texts(["import what is imported late"])
        warm.search("late")
    asked = queries(QUERIES)
    uses_chroma = mode == "chroma"
    config = MemEngineConfig(vector_search="chroma" if uses_chroma else "exact")
    before = resident_bytes()
    with MemoryEngine.open(
        root, config=config, embeddings=StubEmbeddings(), read_only=not uses_chroma
    ) as engine:
        for query in asked:
            engine.search(query, ranking="goclaw")  # looks at no context
        if uses_chroma:
            engine.wait_for_chroma()
            for query in asked:
                engine.search(query, ranking="goclaw")
        searched = resident_bytes()
        for query in asked:
            engine.search(query, ranking="balanced")
        after = resident_bytes()
    print(json.dumps({"added": searched - before, "context": after - searched}))


def measured(root: Path, mode: str) -> dict[str, int]:
    """Return what a fresh process adds in a mode, in bytes."""
    command = [sys.executable, __file__, "--root", str(root), "--mode", mode]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603  # this very file
    found: dict[str, int] = json.loads(done.stdout)
    return found


def index_bytes(root: Path) -> tuple[int, int]:
    """Return the bytes of the saved matrix, and of the posting lists with their vocabulary."""
    sizes = {file.stem: file.stat().st_size for file in root.glob(".memengine/index/*/*/*")}
    names = ("posting_starts", "posting_slots", "posting_counts", "frequencies", "vocabulary")
    return sizes["matrix"], sum(sizes[name] for name in names)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument(
        "--chroma", action="store_true", help="also fill Chroma: minutes at 100,000"
    )
    parser.add_argument("--root", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--mode", help=argparse.SUPPRESS)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.mode:
        measure(options.root, options.mode)
        return
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        build(root, options.chunks)
        matrix, postings = index_bytes(root)
        found = {"mapped": measured(root, "mapped")}
        if options.chroma:
            found["chroma"] = measured(root, "chroma")
        shutil.rmtree(root / ".memengine/index")
        found["built"] = measured(root, "built")
    result: dict[str, Any] = {
        "chunks": options.chunks,
        "index_mb": {"matrix": matrix / 1e6, "postings": postings / 1e6},
    }
    for mode, added in found.items():
        result[mode] = {
            "added_mb": added["added"] / 1e6,
            "ratio": added["added"] / (matrix + postings),
            "context_mb": added["context"] / 1e6,
        }
    if options.chroma:
        result["chroma_adds_mb"] = result["chroma"]["added_mb"] - result["mapped"]["added_mb"]
    report(result, as_json=options.json)


if __name__ == "__main__":
    main()
