"""What it costs that a search believes the database and not its indexes, in the same engine.

    python benchmarks/checks.py --chunks 10000 --json

Each query is asked in three ways, one after the other: `checked` as it is; `unchecked` without
asking the database what changed, and without looking whether a row may still be a hit; `unread`
also takes the rows from memory, as if the indexes held the texts.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from corpus import StubEmbeddings, chunks, queries
from timing import interleaved, report

from langchain_memengine import MemEngineConfig, MemoryEngine
from langchain_memengine.answers import SearchResult
from langchain_memengine.retrieval.staleness import KnownCounters
from langchain_memengine.storage import stored_chunks
from langchain_memengine.storage.change_counters import Counters
from langchain_memengine.storage.chunk_values import StoredChunk
from langchain_memengine.storage.transaction import Transaction

K = 10

Rows = dict[int, StoredChunk]
Ask = Callable[[str], SearchResult]


def rows_of(tx: Transaction, nums: Sequence[int], **_checks: Any) -> Rows:
    """Return the rows with these numbers, whatever they are."""
    return {stored.num: stored for stored in stored_chunks.by_num(tx, nums)}


def contestants(engine: MemoryEngine) -> dict[str, Ask]:
    """Return the three ways to ask; from here on every engine asks as one was last told."""
    checked = stored_chunks.visible_by_num, KnownCounters.at
    known: Rows = {}
    counters: dict[str, Counters] = {}

    def same_counters(asked: KnownCounters, tx: Transaction, now: datetime | None) -> Counters:
        if not counters:
            counters["first"] = checked[1](asked, tx, now)
        return counters["first"]

    def from_memory(tx: Transaction, nums: Sequence[int], **_checks: Any) -> Rows:
        if missing := [num for num in nums if num not in known]:
            known.update(rows_of(tx, missing))
        return {num: known[num] for num in nums}

    def asking(read: Callable[..., Rows], at: Callable[..., Counters]) -> Ask:
        def ask(query: str) -> SearchResult:
            # Two assignments cost less than what is measured.
            stored_chunks.visible_by_num = read
            KnownCounters.at = at  # type: ignore[method-assign]
            return engine.search(query, K)

        return ask

    return {
        "checked": asking(*checked),
        "unchecked": asking(rows_of, same_counters),
        "unread": asking(from_memory, same_counters),
    }


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    config = MemEngineConfig(sync_on_search=False)
    with (
        tempfile.TemporaryDirectory() as root,
        MemoryEngine.open(root, config=config, embeddings=StubEmbeddings()) as engine,
    ):
        engine.add_texts(chunks(options.chunks))
        ways = contestants(engine)
        asked = queries(options.queries)
        answers = [[hit.id for hit in ask(asked[0]).hits] for ask in ways.values()]
        if any(answer != answers[0] for answer in answers):
            raise SystemExit("the three ways do not find the same")
        for query in asked:  # rows that `unread` reads here are in memory when the clock counts
            ways["unread"](query)
        times = interleaved(ways, asked, turn=1)
    p50 = {name: each["p50_ms"] for name, each in times.items()}
    report(
        {
            "chunks": options.chunks,
            "k": K,
            **times,
            "checks_percent": 100 * (p50["checked"] / p50["unchecked"] - 1),
            "reading_percent": 100 * (p50["unchecked"] / p50["unread"] - 1),
        },
        as_json=options.json,
    )


if __name__ == "__main__":
    main()
