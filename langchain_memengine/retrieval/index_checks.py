"""Checks of the keyword and vector indexes against the database."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from langchain_memengine.retrieval.diagnosis import Examination, Finding
from langchain_memengine.retrieval.embedding_cache import EmbeddingCache
from langchain_memengine.retrieval.partition import Partition
from langchain_memengine.retrieval.partitions import Partitions
from langchain_memengine.retrieval.query import MAX_QUERY_CHARS
from langchain_memengine.retrieval.search import MAX_QUERY_WORDS
from langchain_memengine.retrieval.self_hits import SAME, spread
from langchain_memengine.retrieval.vector_matrix import NO_COSINE, VectorMatrix
from langchain_memengine.storage import chunks, embeddings, integrity
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.text.counting import counted
from langchain_memengine.text.words import WordSplitter


def index_checks(
    database: Database,
    embedding: EmbeddingCache,
    partitions: Partitions,
    splitter: WordSplitter,
) -> dict[str, Examination]:
    """Return the checks of the indexes, by name; repairing builds them again from the database."""
    return {
        "indexes": partial(_indexes, database, embedding, partitions),
        "self-hits": partial(_self_hits, database, embedding, partitions, splitter),
    }


def partition_now(
    tx: Transaction, partitions: Partitions, key: str, model: str | None
) -> Partition:
    """Return a partition as it is in the database now; hold the lock of ``partitions``."""
    return partitions.view(tx, tx.counters(), (key,), model).partitions[0]


def _indexes(database: Database, embedding: EmbeddingCache, partitions: Partitions) -> Finding:
    wrong: dict[str, str] = {}
    indexed = 0
    with database.read() as tx, partitions.lock:
        model = embedding.model(tx)
        keys = integrity.partitions(tx)
        for key in keys:
            partition = partition_now(tx, partitions, key, model)
            nums = chunks.nums(tx, key)
            vectors = embeddings.count_of_partition(tx, key, model) if model else 0
            found = (
                partition.keyword.corpus_size,
                len(partition.slots_of(nums)),
                len(partition.vectors),
            )
            indexed += partition.keyword.corpus_size
            if found != (len(nums), len(nums), vectors):
                size = counted(found[0], "chunk")
                wrong[key] = (
                    f"{key}: {size} ({found[1]} of the database's {len(nums)}) and "
                    f"{found[2]} of {vectors} vectors"
                )
    if not wrong:
        size = f"{counted(indexed, 'chunk')} in {counted(len(keys), 'partition')}"
        return Finding("ok", f"{size}, as in the database")
    return _rebuild("; ".join(wrong.values()), partitions, list(wrong))


def _self_hits(
    database: Database, embedding: EmbeddingCache, partitions: Partitions, splitter: WordSplitter
) -> Finding:
    lost: list[str] = []
    tried = 0
    with database.read() as tx, partitions.lock:
        model = embedding.model(tx)
        for key in integrity.partitions(tx):
            partition = partition_now(tx, partitions, key, model)
            sample = spread(chunks.nums(tx, key))
            missed = [
                *_missed_by_keyword(tx, partition, splitter, sample),
                *(_missed_by_vector(tx, partition, sample, model) if model else ()),
            ]
            tried += len(sample)
            lost += [key] * len(missed)
    if not lost:
        return Finding("ok", f"{tried} sampled chunks are found by their own text and vector")
    found = f"{len(lost)} of {tried} sampled chunks are not found by their own text or vector"
    return _rebuild(found, partitions, list(dict.fromkeys(lost)))


def _missed_by_keyword(
    tx: Transaction, partition: Partition, splitter: WordSplitter, sample: Sequence[int]
) -> list[int]:
    missed = []
    for num, text in integrity.texts(tx, sample).items():
        words = splitter.query(text[-MAX_QUERY_CHARS:])[-MAX_QUERY_WORDS:]
        slots = partition.slots_of(np.asarray([num], np.int64))
        if words and not (len(slots) and partition.keyword.scores(words)[slots[0]] > 0):
            missed.append(num)
    return missed


def _missed_by_vector(
    tx: Transaction, partition: Partition, sample: Sequence[int], model: str
) -> list[int]:
    missed = []
    for num, vector in integrity.vectors(tx, sample, model).items():
        slots = partition.slots_of(np.asarray([num], np.int64))
        if vector.any() and not (len(slots) and _finds(partition.vectors, slots, vector)):
            missed.append(num)
    return missed


def _finds(vectors: VectorMatrix, slots: NDArray[np.int64], vector: NDArray[np.float32]) -> bool:
    """Return whether a vector is in its slot, and is found in it or in another that has it too."""
    own = vectors.cosines_of(slots, vector)[0]
    nearest = vectors.cosines_of(vectors.nearest(vector, 1), vector).max(initial=NO_COSINE)
    return bool(own > SAME and nearest >= own)


def _rebuild(found: str, partitions: Partitions, keys: Sequence[str]) -> Finding:
    def mend() -> None:
        partitions.discard(keys)

    return Finding("failed", found, "build them again from the database", mend)
