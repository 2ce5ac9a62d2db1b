"""How the time of a whole search grows with the store: 1,000, 10,000, 100,000 chunks, or more.

    python benchmarks/growth.py --sizes 1000 10000 100000 300000 --json

The exponent is the slope between the first size from 10,000 on and the largest, on logarithmic
axes: 1 is linear, 0 constant. The vectors are searched exactly, which is the side that grows.
"""

from __future__ import annotations

import argparse
import math
import tempfile

from corpus import StubEmbeddings, chunks, queries
from timing import interleaved, report, resident_mb

from langchain_memengine import MemEngineConfig, MemoryEngine

K = 10
SLOPE_FROM = 10_000
BATCH = 50_000


def grow(engine: MemoryEngine, size: int, to: int) -> None:
    """Add chunks, in batches that keep the texts in memory few."""
    for start in range(size, to, BATCH):
        engine.add_texts(chunks(min(BATCH, to - start), seed=start))
    engine.search("warm up")


def exponent(p50_ms: dict[int, float]) -> float:
    """Return the slope; NaN with fewer than two sizes."""
    sizes = sorted(p50_ms)
    first = next((size for size in sizes if size >= SLOPE_FROM), sizes[-1])
    first = sizes[0] if first == sizes[-1] else first
    last = sizes[-1]
    if first == last:
        return math.nan
    return math.log(p50_ms[last] / p50_ms[first]) / math.log(last / first)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--queries", type=int, default=325, help="the first 25 warm up")
    parser.add_argument("--vector-search", default="exact", help="exact, chroma or auto")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    config = MemEngineConfig(vector_search=options.vector_search)
    found: dict[str, dict[str, float]] = {}
    p50_ms: dict[int, float] = {}
    with (
        tempfile.TemporaryDirectory() as root,
        MemoryEngine.open(root, config=config, embeddings=StubEmbeddings()) as engine,
    ):
        size = 0
        for to in sorted(options.sizes):
            grow(engine, size, to)
            size = to
            if options.vector_search != "exact":
                engine.wait_for_chroma()
            times = interleaved({"search": lambda q: engine.search(q, K)}, queries(options.queries))
            found[f"{size:,}"] = {
                **times["search"],
                "p99/p50": times["search"]["p99_ms"] / times["search"]["p50_ms"],
            }
            p50_ms[size] = times["search"]["p50_ms"]
    report(
        {
            "k": K,
            "vector_search": options.vector_search,
            **found,
            "exponent": exponent(p50_ms),
            "resident_mb": resident_mb(),
        },
        as_json=options.json,
    )


if __name__ == "__main__":
    main()
