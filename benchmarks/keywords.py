"""Keyword leg against rank_bm25: the ten best of N chunks.

python benchmarks/keywords.py --chunks 10000 --json
"""

from __future__ import annotations

import argparse
import math
import time

import numpy as np
from corpus import chunks, queries
from rank_bm25 import BM25Okapi
from timing import interleaved, report

from langchain_memengine.retrieval.keyword_index import KeywordIndex
from langchain_memengine.retrieval.top import top

K = 10


class PlainBM25(BM25Okapi):
    """rank_bm25 with an idf that is never negative, and nothing else changed."""

    def _calc_idf(self, nd: dict[str, int]) -> None:
        self.idf = {
            w: math.log(1 + (self.corpus_size - n + 0.5) / (n + 0.5)) for w, n in nd.items()
        }


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    corpus = [text.split() for text in chunks(options.chunks)]
    ours = KeywordIndex(corpus)
    peer = PlainBM25(corpus)
    asked = queries(options.queries)

    times = interleaved(
        {
            "memengine": lambda query: top(ours.scores(query.split()), K, above=0.0),
            "rank_bm25": lambda query: np.argsort(peer.get_scores(query.split()))[::-1][:K],
        },
        asked,
    )
    difference = max(
        float(np.abs(ours.get_scores(query.split()) - peer.get_scores(query.split())).max())
        for query in asked[:20]
    )
    added = [text.split() for text in chunks(200, seed=3)]
    started = time.process_time_ns()
    for document in added:
        ours.add([document])
    add_ms = (time.process_time_ns() - started) / 1e6 / len(added)
    report(
        {
            "chunks": options.chunks,
            "k": K,
            **times,
            "ratio": times["rank_bm25"]["p50_ms"] / times["memengine"]["p50_ms"],
            "largest_score_difference": difference,
            "add_one_ms": add_ms,
        },
        as_json=options.json,
    )


if __name__ == "__main__":
    main()
