"""Embedding rows: one vector for each (text, model), shared by all chunks with that text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, and_, delete, func, select

from langchain_memengine.storage import chunks as chunk_rows
from langchain_memengine.storage import dialects
from langchain_memengine.storage.schema import (
    chunks,
    embeddings,
)
from langchain_memengine.storage.statements import batches
from langchain_memengine.storage.transaction import Transaction


def known_hashes(tx: Transaction, text_hashes: Sequence[str], model: str) -> set[str]:
    """Return those text hashes that have a vector of this model."""
    found: set[str] = set()
    for batch in batches(text_hashes):
        found.update(
            tx.connection.execute(
                select(embeddings.c.text_hash).where(
                    embeddings.c.store_id == tx.store_id,
                    embeddings.c.model == model,
                    embeddings.c.text_hash.in_(batch),
                )
            ).scalars()
        )
    return found


def by_hashes(
    tx: Transaction, text_hashes: Sequence[str], model: str
) -> dict[str, NDArray[np.float32]]:
    """Return the vectors of a model that these texts have, by their hashes."""
    found: dict[str, NDArray[np.float32]] = {}
    for batch in batches(text_hashes):
        rows = tx.connection.execute(
            select(embeddings.c.text_hash, embeddings.c.vector).where(
                embeddings.c.store_id == tx.store_id,
                embeddings.c.model == model,
                embeddings.c.text_hash.in_(batch),
            )
        )
        found.update((text_hash, np.frombuffer(vector, "<f4")) for text_hash, vector in rows)
    return found


def put(
    tx: Transaction, vectors: Mapping[str, NDArray[np.float32]], model: str, *, touch: bool
) -> None:
    """Store vectors by text hash.

    Args:
        tx: An open write transaction.
        vectors: By text hash, each of shape (dimension,).
        model: Identity of the model that made them.
        touch: Whether chunks with these texts are already stored, and must be followed again.
    """
    rows = [
        {
            "store_id": tx.store_id,
            "text_hash": text_hash,
            "model": model,
            "dimension": len(vector),
            "vector": np.asarray(vector, dtype="<f4").tobytes(),
        }
        for text_hash, vector in vectors.items()
    ]
    dialects.upsert(tx.connection, embeddings, rows)
    if touch and rows:
        chunk_rows.touch_hashes(tx, list(vectors))


def vectors_of_partition(
    tx: Transaction, partition: str, model: str, *, after_seq: int = 0
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return the vectors of the chunks of a partition changed after ``after_seq``.

    Returns:
        Chunk numbers, ascending, shape (n,); vectors, shape (n, dimension), (0, 0) if there are
        none.
    """
    rows = tx.connection.execute(
        select(chunks.c.num, embeddings.c.vector)
        .join(embeddings, _embedding_of_chunk(model))
        .where(*chunk_rows.changed_in(tx, partition, after_seq=after_seq))
        .order_by(chunks.c.num)
    ).all()
    nums = np.fromiter((row[0] for row in rows), np.int64, len(rows))
    if not rows:
        return nums, np.zeros((0, 0), np.float32)
    matrix = np.frombuffer(b"".join(row[1] for row in rows), dtype="<f4")
    vectors = matrix.reshape(len(rows), -1).astype(np.float32, copy=False)
    return nums, vectors


def missing(tx: Transaction, model: str, *, limit: int) -> list[tuple[str, str]]:
    """Return (text hash, text) of up to ``limit`` chunk texts without a vector of this model."""
    rows = tx.connection.execute(
        select(chunks.c.text_hash, func.min(chunks.c.text))
        .outerjoin(embeddings, _embedding_of_chunk(model))
        .where(chunks.c.store_id == tx.store_id, embeddings.c.text_hash.is_(None))
        .group_by(chunks.c.text_hash)
        .order_by(func.min(chunks.c.num))
        .limit(limit)
    )
    return [(text_hash, text) for text_hash, text in rows]


def count_missing(tx: Transaction, model: str) -> int:
    """Return how many chunk texts have no vector of this model."""
    return tx.connection.execute(
        select(func.count(chunks.c.text_hash.distinct()))
        .select_from(chunks)
        .outerjoin(embeddings, _embedding_of_chunk(model))
        .where(chunks.c.store_id == tx.store_id, embeddings.c.text_hash.is_(None))
    ).scalar_one()


def count_chunks(tx: Transaction, model: str) -> int:
    """Return how many chunks have a vector of this model."""
    return tx.connection.execute(
        select(func.count())
        .select_from(chunks)
        .join(embeddings, _embedding_of_chunk(model))
        .where(chunks.c.store_id == tx.store_id)
    ).scalar_one()


def count_zeros(tx: Transaction, model: str) -> int:
    """Return how many texts have zeros in place of a vector: the embedder refuses them for good."""
    of_model = (embeddings.c.store_id == tx.store_id, embeddings.c.model == model)
    dimension = tx.connection.execute(
        select(embeddings.c.dimension).where(*of_model).limit(1)
    ).scalar_one_or_none()
    zeros = np.zeros(dimension or 0, "<f4").tobytes()
    return tx.connection.execute(
        select(func.count()).select_from(embeddings).where(*of_model, embeddings.c.vector == zeros)
    ).scalar_one()


def count_of_partition(tx: Transaction, partition: str, model: str) -> int:
    """Return how many chunks of a partition have a vector of this model."""
    return tx.connection.execute(
        select(func.count())
        .select_from(chunks)
        .join(embeddings, _embedding_of_chunk(model))
        .where(chunks.c.store_id == tx.store_id, chunks.c.partition_key == partition)
    ).scalar_one()


def delete_model(tx: Transaction, model: str) -> int:
    """Remove every vector of a model; return how many there were."""
    return tx.connection.execute(
        delete(embeddings).where(embeddings.c.store_id == tx.store_id, embeddings.c.model == model)
    ).rowcount


def keep_only(tx: Transaction, model: str) -> int:
    """Remove the vectors of all models but one; return how many there were."""
    return tx.connection.execute(
        delete(embeddings).where(embeddings.c.store_id == tx.store_id, embeddings.c.model != model)
    ).rowcount


def _embedding_of_chunk(model: str) -> ColumnElement[bool]:
    return and_(
        embeddings.c.store_id == chunks.c.store_id,
        embeddings.c.text_hash == chunks.c.text_hash,
        embeddings.c.model == model,
    )
