"""The vector leg under a filter that keeps a tenth of N chunks, against Chroma with ``where``.

    python benchmarks/filtered.py --chunks 100000 --json

``same filter`` asks with one filter again and again, as a project's or a user's searches do;
``another filter`` asks with the next of ten filters each time. Both sides hold the same vectors,
and recall counts the ten nearest of a plain product over the vectors that the filter keeps.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
from corpus import StubEmbeddings, queries
from numpy.typing import NDArray
from timing import interleaved, report

from langchain_memengine import Filter, MemoryEngine
from langchain_memengine.retrieval import legs
from langchain_memengine.retrieval.partition import Partition
from langchain_memengine.retrieval.view import View
from langchain_memengine.storage.database import Database
from langchain_memengine.text.words import WordSplitter

K = 10
SHELVES = 10
BATCH = 5000

Ask = Callable[[str, int], Sequence[int]]
"""Returns the numbers of the nearest texts to a query that stand on a shelf."""


def text_of(number: int) -> str:
    """Return a text of few words: only its vector matters here."""
    return f"text {number}"


def filled(root: Path, count: int) -> Database:
    """Store the texts, one in ten on each shelf, and return the database."""
    with MemoryEngine.open(root, embeddings=StubEmbeddings()) as engine:
        engine.add_texts(
            [text_of(number) for number in range(count)],
            [{"shelf": number % SHELVES} for number in range(count)],
        )
        store_id, now = engine.config.store_id, engine.now()
    url = f"sqlite:///{root / '.memengine/memory.sqlite'}"
    return Database(url, store_id=store_id, now=now, busy_timeout_ms=0, read_only=True)


def memengine(database: Database, unit: Callable[[str], NDArray[np.float32]]) -> Ask:
    """Return our vector leg with the filter in front of it."""
    partition = Partition("shared", WordSplitter(), k1=0.9, b=0.4)
    with database.read() as tx:
        partition.follow(tx, tx.counters(), tx.get_meta("embedding_model"))
    view = View([partition])

    def ask(query: str, shelf: int) -> Sequence[int]:
        wanted = Filter(metadata={"shelf": shelf})
        with database.read() as tx:
            mask = partition.mask(tx, wanted, None, None)
        return legs.exact_leg(view, unit(query), K, mask).positions.tolist()

    return ask


def chroma(vectors: NDArray[np.float32], unit: Callable[[str], NDArray[np.float32]]) -> Ask:
    """Return the peer, in memory."""
    import chromadb

    collection = chromadb.EphemeralClient(
        chromadb.Settings(anonymized_telemetry=False)
    ).create_collection("peer", configuration={"hnsw": {"space": "cosine"}})
    for start in range(0, len(vectors), BATCH):
        numbers = range(start, min(start + BATCH, len(vectors)))
        collection.add(
            ids=[str(number) for number in numbers],
            embeddings=vectors[numbers.start : numbers.stop],
            metadatas=[{"shelf": number % SHELVES} for number in numbers],
        )

    def ask(query: str, shelf: int) -> Sequence[int]:
        found = collection.query(
            query_embeddings=[unit(query)], n_results=K, where={"shelf": shelf}, include=[]
        )
        return [int(one) for one in found["ids"][0]]

    return ask


def recall(ask: Ask, vectors: NDArray[np.float32], asked: dict[str, NDArray[np.float32]]) -> float:
    """Return the share of the truly nearest that is found."""
    found = 0
    for number, (query, vector) in enumerate(asked.items()):
        shelf = number % SHELVES
        best = np.argsort(-(vectors[shelf::SHELVES] @ vector))[:K] * SHELVES + shelf
        found += len(set(best.tolist()) & set(ask(query, shelf)))
    return found / (K * len(asked))


def compared(ours: Ask, peer: Ask, asked: Sequence[str], shelves: Sequence[int]) -> dict[str, Any]:
    """Return the times of both when the filters come in this order, and their ratio."""

    def in_turn(ask: Ask) -> Callable[[str], object]:
        shelf = cycle(shelves)
        return lambda query: ask(query, next(shelf))

    times = interleaved({"memengine": in_turn(ours), "chroma": in_turn(peer)}, asked)
    ratio = times["chroma"]["p50_ms"] / times["memengine"]["p50_ms"]
    return {**{f"{name}_ms": time["p50_ms"] for name, time in times.items()}, "ratio": ratio}


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    embeddings = StubEmbeddings()
    asked = queries(options.queries)
    vectors = np.zeros((options.chunks, len(embeddings.embed_query(""))), np.float32)
    for number in range(options.chunks):
        vectors[number] = embeddings.embed_query(text_of(number))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    directions = {query: np.asarray(embeddings.embed_query(query), np.float32) for query in asked}
    directions = {query: one / np.linalg.norm(one) for query, one in directions.items()}
    with tempfile.TemporaryDirectory() as folder:
        database = filled(Path(folder), options.chunks)
        ours = memengine(database, directions.__getitem__)
        peer = chroma(vectors, directions.__getitem__)
        result = {
            "chunks": options.chunks,
            "kept": 1 / SHELVES,
            "same filter": compared(ours, peer, asked, [3]),
            "another filter": compared(ours, peer, asked, range(SHELVES)),
            "recall": {
                "memengine": recall(ours, vectors, directions),
                "chroma": recall(peer, vectors, directions),
            },
        }
        database.close()
    report(result, as_json=options.json)


if __name__ == "__main__":
    main()
