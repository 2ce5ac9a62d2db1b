"""Whole search against LangChain's EnsembleRetriever over the same chunks, embedder and k.

    python benchmarks/search.py --chunks 10000 --turn 1 --json

The peer is EnsembleRetriever(BM25Retriever, langchain-chroma), as its documentation shows it.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings

from corpus import StubEmbeddings, chunks, queries
from timing import interleaved, report, resident_mb

K = 10


def embeddings_named(name: str) -> object:
    """Return the embedder that both sides share."""
    if name == "stub":
        return StubEmbeddings()
    from langchain_memengine.models.providers import make_embedder

    embedder = make_embedder(name)
    if embedder is None:
        raise SystemExit("the benchmark needs an embedder")
    return embedder.embeddings


def ensemble(texts: list[str], embeddings: object) -> object:
    """Return the peer, built as its documentation shows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # deprecation notices of the peer's packages
        from langchain_chroma import Chroma
        from langchain_classic.retrievers import EnsembleRetriever
        from langchain_community.retrievers import BM25Retriever

        store = Chroma("peer", embeddings, collection_configuration={"hnsw": {"space": "cosine"}})
        for start in range(0, len(texts), 5000):
            store.add_texts(texts[start : start + 5000])
        keyword = BM25Retriever.from_texts(texts, k=K)
        return EnsembleRetriever(
            retrievers=[keyword, store.as_retriever(search_kwargs={"k": K})], weights=[0.5, 0.5]
        )


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--turn", type=int, default=10, help="queries asked of each side in a row")
    parser.add_argument("--embeddings", default="stub", help="stub, local or local:minilm")
    parser.add_argument("--ranking", default="balanced")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    from langchain_memengine import MemEngineRetriever, MemoryEngine

    texts = chunks(options.chunks)
    embeddings = embeddings_named(options.embeddings)
    with (
        tempfile.TemporaryDirectory() as root,
        MemoryEngine.open(root, embeddings=embeddings) as engine,
    ):
        started = time.process_time()
        engine.add_texts(texts)
        engine.search("warm up")
        indexing_s = time.process_time() - started
        ours = MemEngineRetriever(engine=engine, k=K, ranking=options.ranking)
        peer = ensemble(texts, embeddings)
        times = interleaved(
            {"memengine": ours.invoke, "ensemble": peer.invoke},
            queries(options.queries),
            options.turn,
        )
        stages = engine.search(queries(1, seed=9)[0], K).timings
    report(
        {
            "chunks": options.chunks,
            "k": K,
            "turn": options.turn,
            "embeddings": options.embeddings,
            "ranking": options.ranking,
            **times,
            "ratio": times["ensemble"]["p50_ms"] / times["memengine"]["p50_ms"],
            "stages_ms": stages,
            "indexing_cpu_s": indexing_s,
            "resident_mb": resident_mb(),
        },
        as_json=options.json,
    )


if __name__ == "__main__":
    main()
