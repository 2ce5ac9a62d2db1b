"""Indexing N texts until they are searchable, against BM25Retriever and langchain-chroma.

    python benchmarks/indexing.py --chunks 5000 --json

Ours chunks, embeds, commits to SQLite with an fsync and builds both indexes; the peer keeps BM25 in
memory and writes to an embedded Chroma folder. Both use the same embedder.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable

from corpus import chunks
from search import embeddings_named
from timing import report


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the processor time of some work, all threads together."""
    started = time.process_time()
    work()
    return time.process_time() - started


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=5_000)
    parser.add_argument("--embeddings", default="local", help="stub, local or local:minilm")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    from langchain_memengine import MemoryEngine

    texts = chunks(options.chunks)
    embeddings = embeddings_named(options.embeddings)
    embeddings.embed_documents(["load the model"])
    with (
        tempfile.TemporaryDirectory() as root,
        MemoryEngine.open(root, embeddings=embeddings) as engine,
    ):
        stored = cpu_seconds(lambda: engine.add_texts(texts))
        searchable = cpu_seconds(lambda: engine.search("warm up"))
        again = cpu_seconds(lambda: engine.add_texts(["one more text"]))
        found = cpu_seconds(lambda: engine.search("one more text"))

    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")  # deprecation notices of the peer's packages
        from langchain_chroma import Chroma
        from langchain_community.retrievers import BM25Retriever

        store = Chroma("peer", embeddings, persist_directory=folder)
        peer_vectors = cpu_seconds(
            lambda: [store.add_texts(texts[i : i + 5000]) for i in range(0, len(texts), 5000)]
        )
        peer_keyword = cpu_seconds(lambda: BM25Retriever.from_texts(texts))

    ours = stored + searchable
    peer = peer_vectors + peer_keyword
    report(
        {
            "chunks": options.chunks,
            "embeddings": options.embeddings,
            "memengine": {"store_s": stored, "searchable_s": searchable, "total_s": ours},
            "peer": {"vectors_s": peer_vectors, "keyword_s": peer_keyword, "total_s": peer},
            "chunks_per_cpu_second": options.chunks / ours,
            "ratio": peer / ours,
            "one_more": {"store_ms": again * 1000, "next_search_ms": found * 1000},
        },
        as_json=options.json,
    )


if __name__ == "__main__":
    main()
