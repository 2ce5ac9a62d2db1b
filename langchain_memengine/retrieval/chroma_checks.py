"""Checks of Chroma; an embedded one is opened by another process, which damage can end."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from langchain_memengine.errors import StorageError
from langchain_memengine.retrieval import self_hits
from langchain_memengine.retrieval.chroma_folder import ChromaFolder
from langchain_memengine.retrieval.chroma_probe import Answer, Question, probe
from langchain_memengine.retrieval.diagnosis import Examination, Finding
from langchain_memengine.retrieval.embedding_cache import EmbeddingCache
from langchain_memengine.retrieval.vector_index import SEQ, ChromaIndex
from langchain_memengine.storage import embeddings, integrity
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.text.counting import counted

FloatArray = NDArray[np.float32]

_REFILL = "fill a new one from the database, without an embedder"
_MAX_PARTITIONS = 10


@dataclass(frozen=True, slots=True)
class _Expected:
    """What a collection should hold.

    Attributes:
        partition: Its key.
        model: Identity of the embedding model.
        count: Number of vectors.
        vectors: Some of them, by chunk number.
    """

    partition: str
    model: str
    count: int
    vectors: Mapping[int, FloatArray]


def chroma_checks(
    database: Database,
    embedding: EmbeddingCache,
    index: ChromaIndex | None,
    why_not: str,
) -> dict[str, Examination]:
    """Return the check of Chroma, by name.

    Args:
        database: What it is filled from.
        embedding: The store's embedding model.
        index: ``None`` if this engine does not maintain Chroma.
        why_not: The reason for that, in words.
    """
    if index is None:
        return {"chroma": lambda: Finding("ok", why_not)}
    return {"chroma": partial(_chroma, database, embedding, index)}


def _chroma(database: Database, embedding: EmbeddingCache, index: ChromaIndex) -> Finding:
    with database.read() as tx:
        model, changes = embedding.model(tx), tx.counters().changes
        expected = _expected(tx, index, model) if model else {}
    refill = partial(_refill, index, list(expected.values()))
    with index.left_to_others() as location:
        if isinstance(location, ChromaFolder):
            generation, problem = location.condition()
            if problem:
                found = f"{problem}; exact vectors answer instead"
                return Finding("warning", found, _REFILL, refill)
            if generation is None:
                return Finding("ok", "not filled: exact vectors answer while the store is small")
        try:
            answers = probe(location, {name: _question(one) for name, one in expected.items()})
        except StorageError as error:
            if isinstance(location, ChromaFolder):
                return Finding("failed", str(error), _REFILL, refill)
            return Finding("warning", str(error), "check that server; exact vectors answer")
    current = {name: one for name, one in answers.items() if one.metadata.get(SEQ) == changes}
    with database.read() as tx:
        if tx.counters().changes != changes:  # somebody writes
            current = {}
        wrong = [
            problem
            for name, answer in current.items()
            for problem in _problems(tx, expected[name], answer)
        ]
    if wrong:
        return Finding("failed", "; ".join(wrong), _REFILL, refill)
    behind = len(answers) - len(current)
    late = f", {behind} of them behind until the next search" if behind else ""
    return Finding(
        "ok", f"{counted(len(answers), 'collection')}, sampled vectors find themselves{late}"
    )


def _expected(tx: Transaction, index: ChromaIndex, model: str) -> dict[str, _Expected]:
    """Return what the collections of the largest partitions should hold, by their names."""
    return {
        index.name(key, model): _Expected(
            key,
            model,
            embeddings.count_of_partition(tx, key, model),
            self_hits.sample(tx, key, model),
        )
        for key in integrity.partitions(tx)[:_MAX_PARTITIONS]
    }


def _question(expected: _Expected) -> Question:
    return Question(vectors={num: vector.tolist() for num, vector in expected.vectors.items()})


def _problems(tx: Transaction, expected: _Expected, answer: Answer) -> list[str]:
    """Return what is wrong with a collection that should be as the database is now."""
    if answer.count != expected.count:
        return [f"{expected.partition}: {answer.count} of {expected.count} vectors"]
    hits = self_hits.found(tx, expected.model, expected.vectors, answer.nearest.__getitem__)
    if hits < self_hits.MIN_FOUND * len(expected.vectors):
        return [f"{expected.partition}: {hits} of {len(expected.vectors)} vectors find themselves"]
    return []


def _refill(index: ChromaIndex, expected: Sequence[_Expected]) -> None:
    index.start_over([(one.partition, one.model) for one in expected])
    for one in expected:
        index.follow(one.partition, one.model, threading.Event())
