"""What is written to Chroma's collections, and whether it is found again."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from langchain_memengine.errors import StorageError
from langchain_memengine.retrieval import chroma_client, self_hits
from langchain_memengine.retrieval.chroma_changes import Change, difference
from langchain_memengine.retrieval.chroma_collections import ChromaCollections
from langchain_memengine.storage.database import Database

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection

logger = logging.getLogger(__name__)

IsOver = Callable[[], bool]


class ChromaWriter:
    """Brings collections to what the database has; Chroma's own errors pass through.

    Args:
        database: What they are filled from.
        collections: Where they are.
        lock: Held while Chroma is asked, for one batch at a time: searches come in between.
    """

    def __init__(
        self,
        database: Database,
        collections: ChromaCollections,
        lock: AbstractContextManager[object],
    ) -> None:
        self._database = database
        self._collections = collections
        self._lock = lock

    def write(self, collection: Collection, change: Change, is_over: IsOver) -> bool:
        """Remove and write vectors in batches; return whether all of them were."""
        with self._lock:
            batch = self._collections.batch
        for start in range(0, len(change.gone), batch):
            with self._lock:
                if is_over():
                    return False
                chroma_client.delete(collection, change.gone[start : start + batch])
        for start in range(0, len(change.nums), batch):
            run = slice(start, start + batch)
            with self._lock:
                if is_over():
                    return False
                chroma_client.upsert(collection, change.nums[run], change.vectors[run])
        return True

    def rest(self, collection: Collection, partition: str, model: str, seq: int) -> Change | None:
        """Return what is still wrong with a server's collection, unless the database moved on."""
        with self._database.read() as tx:
            if tx.counters().changes != seq:  # whoever changed it counts, too
                return None
        rest = self.difference(collection, partition, model)
        logger.info("Chroma lacks %d vectors and has %d others", len(rest.nums), len(rest.gone))
        return rest

    def difference(self, collection: Collection, partition: str, model: str) -> Change:
        """Return what a collection lacks, and has too much, by all the numbers that it holds."""
        with self._lock:
            batch = self._collections.batch
        held = chroma_client.numbers(collection, batch, self._lock)
        with self._database.read() as tx:
            return difference(tx, partition, model, held)

    def verify(self, partition: str, model: str) -> None:
        """Look for some vectors: files that vanished under an embedded Chroma tell nothing.

        Raises:
            StorageError: It does not find them.
        """
        with self._database.read() as tx:
            sampled = self_hits.sample(tx, partition, model)
            hits = self_hits.found(
                tx, model, sampled, lambda num: self._around(partition, model, sampled[num])
            )
        if hits < self_hits.MIN_FOUND * len(sampled):
            raise StorageError(f"it finds {hits} of {len(sampled)} sampled vectors")

    def _around(self, partition: str, model: str, vector: NDArray[np.float32]) -> list[int]:
        with self._lock:
            collection = self._collections.known(partition, model)
            found = chroma_client.nearest(collection, vector, self_hits.NEAREST)
        return [int(num) for num in found]
