"""Bytes and milliseconds of each part of a store, and what a million chunks would need.

    python benchmarks/scaling.py --sizes 2000 10000 --json

Bytes grow along a line through the last two sizes, and so do the milliseconds of the exact product
and of the keyword leg, which look at everything; those of Chroma grow with the logarithm of the
size and are told as they are. Below 5,000 chunks the exact product is made with all vectors, above
only with few: the line tells of a million only through two larger sizes. One process on SQLite; a
server adds its round trips.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from corpus import DIMENSION, StubEmbeddings, chunks, queries
from timing import report

from langchain_memengine import MemEngineConfig, MemoryEngine

MILLION = 1_000_000
QUERIES = 60
QUANTIZED = ("codes", "scales", "errors", "norms", "offsets")

Points = dict[str, dict[int, float]]


def fill(root: Path, size: int, to: int) -> float:
    """Add chunks and let the index files be written; return the seconds a thousand took."""
    config = MemEngineConfig(vector_search="exact")
    started = time.perf_counter()
    with MemoryEngine.open(root, config=config, embeddings=StubEmbeddings()) as engine:
        engine.add_texts(chunks(to - size, seed=size))
        engine.search("warm up")
    return (time.perf_counter() - started) * 1000 / (to - size)


def fill_chroma(root: Path) -> float:
    """Fill Chroma from the database; return the milliseconds of one of its searches."""
    config = MemEngineConfig(vector_search="chroma")
    with MemoryEngine.open(root, config=config, embeddings=StubEmbeddings()) as engine:
        engine.search("warm up")
        engine.wait_for_chroma()
        paths = {hit.receipt.vector_path for hit in engine.search("warm up", 10).hits}
        if paths - {None} != {"chroma"}:
            raise SystemExit(f"Chroma did not answer: {paths}")
        return legs(engine)["vector"]


def legs(engine: MemoryEngine) -> dict[str, float]:
    """Return the median milliseconds of each part of a search."""
    found: dict[str, list[float]] = defaultdict(list)
    for query in queries(QUERIES):
        for part, ms in engine.search(query, 10).timings.items():
            found[part].append(ms)
    return {part: statistics.median(values) for part, values in found.items()}


def disk(root: Path) -> dict[str, int]:
    """Return the bytes of each part on disk."""
    state = root / ".memengine"
    saved = {file.stem: file.stat().st_size for file in state.glob("index/*/*/*")}
    postings = ("posting_starts", "posting_slots", "posting_counts", "frequencies", "vocabulary")
    return {
        "database with vectors": (state / "memory.sqlite").stat().st_size,
        "matrix": saved["matrix"],
        "quantized vectors": sum(saved.get(name, 0) for name in QUANTIZED),
        "posting lists": sum(saved[name] for name in postings),
        "all index files": sum(saved.values()),
        "Chroma": sum(f.stat().st_size for f in (state / "chroma").rglob("*") if f.is_file()),
    }


def measure(root: Path, sizes: list[int]) -> tuple[Points, Points]:
    """Return the bytes, and the milliseconds, of each part at each size."""
    in_bytes: Points = defaultdict(dict)
    in_ms: Points = defaultdict(dict)
    size = 0
    for to in sorted(sizes):
        in_ms["adding a chunk"][to] = fill(root, size, to)
        size = to
        in_ms["vectors by Chroma"][to] = fill_chroma(root)
        config = MemEngineConfig(vector_search="exact")
        with MemoryEngine.open(root, config=config, embeddings=StubEmbeddings()) as engine:
            for part, ms in legs(engine).items():
                in_ms[part][to] = ms
        for part, found in disk(root).items():
            in_bytes[part][to] = found
    return in_bytes, in_ms


def at_a_million(points: dict[int, float]) -> float:
    """Return the value of the line through the last two sizes at a million chunks."""
    (low, first), (high, second) = sorted(points.items())[-2:]
    return second + (second - first) / (high - low) * (MILLION - high)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[2_000, 10_000])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if len(set(options.sizes)) < 2:  # noqa: PLR2004  # a line has two points
        parser.error("a line goes through two sizes, at least")
    with tempfile.TemporaryDirectory() as folder:
        in_bytes, in_ms = measure(Path(folder), options.sizes)
    report(
        {
            "dimension": DIMENSION,
            **{f"bytes: {part}": _a_chunk(points) for part, points in in_bytes.items()},
            **{f"ms: {part}": _by_size(points) for part, points in in_ms.items()},
            "GB at a million": {
                part: at_a_million(points) / 1e9 for part, points in in_bytes.items()
            },
            "ms at a million": {part: at_a_million(in_ms[part]) for part in ("keyword", "vector")},
        },
        as_json=options.json,
    )


def _a_chunk(points: dict[int, float]) -> dict[str, float]:
    return {f"{size:,}": value / size for size, value in points.items()}


def _by_size(points: dict[int, float]) -> dict[str, float]:
    return {f"{size:,}": value for size, value in points.items()}


if __name__ == "__main__":
    main()
