"""From opening a store to its first answer, with its saved indexes and without.

    python benchmarks/opening.py --chunks 10000 --json

The peer is the same store without ``.memengine/index``: its indexes are built from the database.
Each opening is a process of its own, read-only; imports are not counted.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from corpus import StubEmbeddings, chunks, queries
from timing import report


def build(root: Path, count: int) -> float:
    """Fill a store, search once and close it; return the wall seconds that closing took."""
    from langchain_memengine import MemEngineConfig, MemoryEngine

    exact = MemEngineConfig(vector_search="exact")
    engine = MemoryEngine.open(root, config=exact, embeddings=StubEmbeddings())
    engine.add_texts(chunks(count))
    engine.search("warm up")
    started = time.perf_counter()
    engine.close()
    return time.perf_counter() - started


def measure(root: Path) -> None:
    """Print CPU and wall seconds until the first answer, and the answer."""
    from langchain_memengine import MemoryEngine

    with MemoryEngine.open(None, embeddings=StubEmbeddings()) as warm:
        warm.add_texts(["import what is imported late"])
        warm.search("late")
    query = queries(1)[0]
    cpu, wall = time.process_time(), time.perf_counter()
    engine = MemoryEngine.open(root, embeddings=StubEmbeddings(), read_only=True)
    opened = time.perf_counter()
    hits = engine.search(query).hits
    result = {
        "cpu_s": time.process_time() - cpu,
        "wall_s": time.perf_counter() - wall,
        "open_wall_s": opened - wall,
    }
    engine.close()
    print(json.dumps([result, [[hit.id, hit.score] for hit in hits]]))


def measured(root: Path, times: int) -> tuple[dict[str, float], list[object]]:
    """Return the fastest of some openings in fresh processes, and what it answered."""
    command = [sys.executable, __file__, "--measure", str(root)]
    runs = [
        json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)  # noqa: S603  # this very file
        for _ in range(times)
    ]
    numbers, hits = min(runs, key=lambda run: run[0]["cpu_s"])
    return numbers, hits


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--times", type=int, default=3, help="openings with saved indexes")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.measure:
        measure(options.measure)
        return
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        closing_s = build(root, options.chunks)
        index = root / ".memengine/index"
        size_mb = sum(file.stat().st_size for file in index.rglob("*.*")) / 1e6
        saved, saved_hits = measured(root, options.times)
        shutil.rmtree(index)
        rebuilt, rebuilt_hits = measured(root, 1)
    report(
        {
            "chunks": options.chunks,
            "saved": saved,
            "rebuilt": rebuilt,
            "ratio_cpu": rebuilt["cpu_s"] / saved["cpu_s"],
            "ratio_wall": rebuilt["wall_s"] / saved["wall_s"],
            "same_ids": [i for i, _ in saved_hits] == [i for i, _ in rebuilt_hits],
            "same_scores": saved_hits == rebuilt_hits,
            "index_mb": size_mb,
            "closing_wall_s": closing_s,
        },
        as_json=options.json,
    )


if __name__ == "__main__":
    main()
