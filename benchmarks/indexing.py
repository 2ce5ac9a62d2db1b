"""Indexing N texts until they are searchable, against BM25Retriever and langchain-chroma.

    python benchmarks/indexing.py --chunks 5000 --json

Ours chunks, embeds, commits to SQLite with an fsync and builds both indexes; the peer keeps BM25 in
memory and writes to an embedded Chroma folder. Both use the same embedder.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings

from corpus import chunks
from search import embeddings_named
from timing import Stages, cpu_seconds, report

from langchain_memengine import MemoryEngine
from langchain_memengine.models.embedding import Embedder
from langchain_memengine.retrieval import documents
from langchain_memengine.retrieval.chunk_writer import ChunkWriter
from langchain_memengine.retrieval.keyword_index import KeywordIndex
from langchain_memengine.retrieval.partition import Partition
from langchain_memengine.retrieval.vector_matrix import VectorMatrix
from langchain_memengine.storage import embeddings as vectors
from langchain_memengine.text.words import WordSplitter


def booked() -> Stages:
    """Return the stages of indexing, booked from now on.

    ``postings`` includes reading the rows back, ``matrix`` the vectors; ``other`` is what an
    ordinary search costs.
    """
    stages = Stages()
    stages.book("chunk", documents, "chunks_of_document")
    stages.book("commit", ChunkWriter, "store")
    stages.book("embed", Embedder, "embed_salvaging")
    stages.book("postings", Partition, "_follow_rows")
    stages.book("words", WordSplitter, "__call__")
    stages.book("postings", KeywordIndex, "add")
    stages.book("matrix", vectors, "vectors_of_partition")
    stages.book("matrix", VectorMatrix, "put")
    return stages


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=5_000)
    parser.add_argument("--embeddings", default="local", help="stub, local or local:minilm")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    texts = chunks(options.chunks)
    embeddings = embeddings_named(options.embeddings)
    embeddings.embed_documents(["load the model"])
    stages = booked()
    with (
        tempfile.TemporaryDirectory() as root,
        MemoryEngine.open(root, embeddings=embeddings) as engine,
    ):
        stored = cpu_seconds(lambda: engine.add_texts(texts))
        searchable = cpu_seconds(lambda: engine.search("warm up"))
        seconds = dict(stages.seconds)
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
            "stages_s": {**seconds, "other": ours - sum(seconds.values())},
            "peer": {"vectors_s": peer_vectors, "keyword_s": peer_keyword, "total_s": peer},
            "chunks_per_cpu_second": options.chunks / ours,
            "ratio": peer / ours,
            "one_more": {"store_ms": again * 1000, "next_search_ms": found * 1000},
        },
        as_json=options.json,
    )


if __name__ == "__main__":
    main()
