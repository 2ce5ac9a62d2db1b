"""Vectors of entities' names: one a name, of the model that the store belongs to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Select, and_, delete, select

from langchain_memengine.storage import dialects
from langchain_memengine.storage.graph_meta import get_meta, set_meta
from langchain_memengine.storage.graph_schema import graph_name_vectors, graph_names
from langchain_memengine.storage.statements import batches
from langchain_memengine.storage.transaction import Transaction

FloatArray = NDArray[np.float32]

_VERSION = "name_vectors"


def version(tx: Transaction) -> int:
    """Return a number that is another one after every change of the vectors."""
    return int(get_meta(tx, _VERSION) or 0)


def missing(tx: Transaction, model: str, *, limit: int) -> list[str]:
    """Return the keys of up to ``limit`` names without a vector of this model, sorted."""
    statement = _lacking(tx, model).distinct().order_by(graph_names.c.key).limit(limit)
    return list(tx.connection.execute(statement.with_only_columns(graph_names.c.key)).scalars())


def put(tx: Transaction, vectors: Mapping[str, FloatArray], model: str) -> None:
    """Store vectors by the key of the name, each of shape (dimension,); other models' go."""
    rows = [
        {
            "store_id": tx.store_id,
            "key": key,
            "model": model,
            "vector": np.asarray(vector, dtype="<f4").tobytes(),
        }
        for key, vector in vectors.items()
    ]
    dialects.upsert(tx.connection, graph_name_vectors, rows)
    if rows:
        _bump(tx)


def of_model(tx: Transaction, model: str) -> tuple[list[str], FloatArray]:
    """Return the keys of all names with a vector of this model, sorted, and the vectors.

    Returns:
        The keys, and vectors of shape (n, dimension); (0, 0) if there are none.
    """
    rows = tx.connection.execute(
        select(graph_name_vectors.c.key, graph_name_vectors.c.vector)
        .where(graph_name_vectors.c.store_id == tx.store_id, graph_name_vectors.c.model == model)
        .order_by(graph_name_vectors.c.key)
    ).all()
    if not rows:
        return [], np.zeros((0, 0), np.float32)
    matrix = np.frombuffer(b"".join(row[1] for row in rows), dtype="<f4")
    return [row[0] for row in rows], matrix.reshape(len(rows), -1).astype(np.float32, copy=False)


def drop_unused(tx: Transaction, keys: Sequence[str]) -> None:
    """Remove the vectors of those names that nothing is called any more."""
    dropped = 0
    for batch in batches(keys):
        used = select(graph_names.c.key).where(
            graph_names.c.store_id == tx.store_id, graph_names.c.key.in_(batch)
        )
        dropped += tx.connection.execute(
            delete(graph_name_vectors).where(
                graph_name_vectors.c.store_id == tx.store_id,
                graph_name_vectors.c.key.in_(batch),
                graph_name_vectors.c.key.not_in(used),
            )
        ).rowcount
    if dropped:
        _bump(tx)


def _lacking(tx: Transaction, model: str) -> Select[tuple[str]]:
    return (
        select(graph_names.c.key)
        .outerjoin(
            graph_name_vectors,
            and_(
                graph_name_vectors.c.store_id == graph_names.c.store_id,
                graph_name_vectors.c.key == graph_names.c.key,
                graph_name_vectors.c.model == model,
            ),
        )
        .where(graph_names.c.store_id == tx.store_id, graph_name_vectors.c.key.is_(None))
    )


def _bump(tx: Transaction) -> None:
    set_meta(tx, _VERSION, str(version(tx) + 1))
