"""How long searches take while many files are indexed, against how long they take at rest.

    python benchmarks/watching.py --files 10000 --json

A store of `--stored` files gets `--files` new ones; one thread indexes them, another searches. It
grows meanwhile, so that the two ratios differ: against the smaller store before, and against the
larger one after.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from corpus import chunks, queries
from search import embeddings_named
from timing import report

_AT_LEAST = 200


def write_files(root: Path, name: str, texts: list[str]) -> None:
    """Write one file a text, a hundred to a folder."""
    for number, text in enumerate(texts):
        path = root / f"{name}{number // 100}" / f"{number}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"# Note {number}\n\n{text}\n", encoding="utf-8")


def times_while(goes_on: Callable[[int], bool], ask: Callable[[str], object]) -> list[float]:
    """Return the wall milliseconds of searches, one each five, while something goes on."""
    times: list[float] = []
    for query in itertools.cycle(queries(500)):
        if not goes_on(len(times)):
            return times
        started = time.perf_counter()
        ask(query)
        times.append((time.perf_counter() - started) * 1000)
        time.sleep(0.005)
    return times


def summary(times: list[float]) -> dict[str, float]:
    """Return p50, p99 and the longest of some times."""
    return {
        "searches": len(times),
        "p50_ms": float(np.median(times)),
        "p99_ms": float(np.percentile(times, 99)),
        "max_ms": max(times),
    }


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--stored", type=int, help="files before; default: as many as new ones")
    parser.add_argument("--embeddings", default="local", help="stub, local or local:minilm")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    from langchain_memengine import MemEngineConfig, MemoryEngine

    stored = options.files if options.stored is None else options.stored
    texts = chunks(stored + options.files)
    config = MemEngineConfig(sync_on_search=False)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_files(root, "old", texts[:stored])
        with MemoryEngine.open(
            root, config=config, embeddings=embeddings_named(options.embeddings)
        ) as engine:
            engine.search("warm up")
            before = times_while(lambda done: done < _AT_LEAST, engine.search)
            write_files(root, "new", texts[stored:])
            syncing = threading.Thread(target=engine.sync)
            started = time.perf_counter()
            syncing.start()
            during = times_while(lambda _: syncing.is_alive(), engine.search)
            sync_s = time.perf_counter() - started
            after = times_while(lambda done: done < 2 * _AT_LEAST, engine.search)
    idle_before, busy, idle_after = map(summary, (before, during, after))
    report(
        {
            "files": options.files,
            "stored_before": stored,
            "sync_s": sync_s,
            "idle_before": idle_before,
            "during_sync": busy,
            "idle_after": idle_after,
            "p99_to_idle_before": busy["p99_ms"] / idle_before["p99_ms"],
            "p99_to_idle_after": busy["p99_ms"] / idle_after["p99_ms"],
        },
        as_json=options.json,
    )


if __name__ == "__main__":
    main()
