"""Names of entities by their embeddings: who is meant by a name that is spelt otherwise."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from langchain_memengine.retrieval.embedding_cache import EmbeddingCache
from langchain_memengine.storage import graph_vectors
from langchain_memengine.storage.lazy_database import LazyDatabase
from langchain_memengine.storage.transaction import Transaction

FloatArray = NDArray[np.float32]

SAME_COSINE = 0.8
"""Cosine of two names from which on one may stand for the other. HippoRAG's synonymy threshold."""

BATCH_NAMES = 512
"""Names that are embedded between two transactions."""


class NameIndex:
    """The vectors of all names in a graph, whoever knows them.

    What it finds are keys of names: whose entities they are, and whether the actor may know them,
    the graph's own rows tell.

    Args:
        store: The graph's database.
        embedding: The store's embedding model.
    """

    def __init__(self, store: LazyDatabase, embedding: EmbeddingCache) -> None:
        self._store = store
        self._embedding = embedding
        self._lock = threading.Lock()
        self._known: tuple[tuple[int, str], list[str], FloatArray] | None = None

    @property
    def enabled(self) -> bool:
        """Whether there is an embedder to compare names with."""
        return self._embedding.enabled

    def embed_new(self) -> int:
        """Embed the names that have no vector yet; return how many there were.

        Raises:
            EmbeddingError: The embedder failed; the names before are embedded.
            StorageError: The graph's database failed.
        """
        if not self.enabled:
            return 0
        model, done = self._embedding.verify(), 0
        if not self._store.is_there:
            return 0
        database = self._store.get()
        while True:
            with database.read() as tx:
                keys = graph_vectors.missing(tx, model, limit=BATCH_NAMES)
            if not keys:
                return done
            answer = self._embedding.embed({key: key for key in keys})
            with database.write() as tx:
                graph_vectors.put(tx, answer.vectors, model)
                graph_vectors.drop_unused(tx, keys)  # names that were forgotten meanwhile
            done += len(answer.vectors)
            if answer.error is not None:
                raise answer.error

    def is_behind(self) -> bool:
        """Return whether some names have no vector of the store's model yet.

        After :meth:`embed_new` the embedder is asked nothing.
        """
        if not (self.enabled and self._store.is_there):
            return False
        model = self._embedding.verify()
        with self._store.get().read() as tx:
            return bool(graph_vectors.missing(tx, model, limit=1))

    def embed(self, names: Sequence[str]) -> FloatArray:
        """Return the vectors of keys of names, shape (n, dimension).

        Raises:
            EmbeddingError: There is no embedder, or it failed.
        """
        answer = self._embedding.embed({name: name for name in names})
        if answer.error is not None:
            raise answer.error
        return np.stack([answer.vectors[name] for name in names])

    def nearest(self, tx: Transaction, vectors: FloatArray) -> list[list[str]]:
        """Return, for each vector, the keys of the names that it may stand for, nearest first.

        Args:
            tx: A view of the graph.
            vectors: What :meth:`embed` returned; what no name is as near to as
                :data:`SAME_COSINE` stands for none.
        """
        keys, matrix = self._vectors(tx, self._embedding.verify())
        if not keys:
            return [[] for _ in vectors]
        cosines = np.vecdot(matrix[:, np.newaxis], vectors).T
        near = (np.flatnonzero(row >= SAME_COSINE) for row in cosines)
        return [
            [keys[place] for place in places[np.argsort(-row[places], kind="stable")]]
            for row, places in zip(cosines, near, strict=True)
        ]

    def _vectors(self, tx: Transaction, model: str) -> tuple[list[str], FloatArray]:
        state = (graph_vectors.version(tx), model)
        with self._lock:
            if self._known is None or self._known[0] != state:
                self._known = (state, *graph_vectors.of_model(tx, model))
            return self._known[1:]
