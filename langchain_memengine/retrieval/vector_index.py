"""Approximate vector search with Chroma, for partitions too large for the exact product.

Chroma is derived: it is filled from the database behind the commit, carries the value of the
change counter that it reflects, and answers only when that is the current one. Only the holder
of the store's index lock opens the embedded folder: two clients on one folder lose vectors.

An embedded Chroma that raises, answers short or holds another number of vectors than the database
is never asked again: the next one is filled from the database while exact vectors answer.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from langchain_memengine.errors import StorageError
from langchain_memengine.retrieval import chroma_client, self_hits
from langchain_memengine.retrieval.chroma_client import panics_as_errors
from langchain_memengine.retrieval.chroma_folder import ChromaFolder
from langchain_memengine.retrieval.derived_files import remove
from langchain_memengine.storage import chunks, embeddings
from langchain_memengine.storage.database import Database

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

logger = logging.getLogger(__name__)

MAX_FAILURES = 3
"""Failures of an embedded Chroma after which a session leaves searching to exact vectors."""

SEQ = "memengine_seq"
"""Key under which a collection carries the change that it reflects."""

_BATCH = 500
_EPOCH = "memengine_epoch"


class _Built(NamedTuple):
    """What a collection reflects: a value of the change counter, and that many vectors."""

    seq: int
    vectors: int


class ChromaIndex:
    """The Chroma collections of one store: one for each (partition, model, dimension)."""

    def __init__(self, database: Database, epoch: str, location: ChromaFolder | str) -> None:
        """Remember where Chroma is; nothing is opened before the first use.

        Args:
            database: What the collections are filled from.
            epoch: Its identity; a collection that was filled in another one is filled anew.
            location: Folder of an embedded Chroma, or ``http(s)://host:port`` of a server.
        """
        self._database = database
        self._epoch = epoch
        self._location = location
        self._client: ClientAPI | None = None
        self._generation: Path | None = None
        self._lock = threading.RLock()
        self._built: dict[tuple[str, str], _Built] = {}
        self._verified: set[tuple[str, str]] = set()
        self._highest = 0
        self._failures = 0
        self._closed = False

    def is_current(self, partition: str, model: str, changes: int) -> bool:
        """Return whether a collection is known to reflect this change; opens nothing."""
        built = self._built.get((partition, model))
        return built is not None and built.seq == changes

    def nearest(
        self, partition: str, model: str, changes: int, query: NDArray[np.float32], k: int
    ) -> NDArray[np.int64] | None:
        """Return the numbers of the ``k`` nearest chunks, nearest first.

        ``None`` if the collection does not reflect this change (any more).

        Raises:
            StorageError: Chroma failed, or knows fewer vectors than it should.
        """
        with self._lock:
            built = self._built.get((partition, model))
            if built is None or built.seq != changes:
                return None
            expected = min(k, built.vectors)
            try:
                with panics_as_errors():
                    nums = chroma_client.nearest(self._collection(partition, model), query, k)
            except Exception as error:
                raise self._failed("search", error) from error
            if len(nums) < expected:
                raise self._failed("search", f"it found {len(nums)} of {expected} vectors")
        return nums

    def follow(self, partition: str, model: str, stop: threading.Event) -> bool:
        """Bring a partition's collection up to the database; return whether it got there.

        Stopped half-way it keeps its old counter, and the next call does the rest again.

        Raises:
            StorageError: Chroma failed, or the database did.
        """
        if self._failures >= MAX_FAILURES:
            return False
        after = self._leave(partition, model)
        with self._database.read() as tx:
            now = tx.counters().changes
            gone = chunks.removed_ids(tx, partition, after_seq=after)
            nums, ids, vectors = embeddings.vectors_of_partition(
                tx, partition, model, after_seq=after
            )
            expected = embeddings.count_of_partition(tx, partition, model)
        try:
            with panics_as_errors():
                for start in range(0, len(gone), _BATCH):
                    self._delete(partition, model, gone[start : start + _BATCH])
                for start in range(0, len(ids), _BATCH):
                    if stop.is_set():
                        return False
                    run = slice(start, start + _BATCH)
                    self._upsert(partition, model, ids[run], nums[run], vectors[run])
                self._verify(partition, model)
                found = self._note(partition, model, _Built(now, expected))
        except Exception as error:
            raise self._failed("write", error) from error
        if self._is_embedded and found != expected:
            raise self._failed("write", f"it holds {found} vectors instead of {expected}")
        logger.debug("Chroma follows %d vectors, %d removals", len(ids), len(gone))
        return True

    def close(self) -> None:
        """Close the client, if it was ever opened; nothing opens it again."""
        with self._lock:
            self._closed = True
            self._let_go()

    @contextmanager
    def left_to_others(self) -> Iterator[ChromaFolder | str]:
        """Close the client while the block runs; yields where Chroma is.

        Searches get exact vectors meanwhile, and until the collections were followed again.
        """
        with self._lock:
            self._let_go()
            yield self._location

    def start_over(self, collections: Sequence[tuple[str, str]]) -> None:
        """Remove an embedded Chroma, or these (partition, model) of a server.

        They are filled from the database when they are next followed.

        Raises:
            StorageError: The server failed.
        """
        with self._lock:
            self._let_go()
            self._failures = 0
            if isinstance(self._location, ChromaFolder):
                remove(self._location.home)
                return
            try:
                for one in collections:
                    self._collection(*one)  # what is there can be deleted
                    self._open().delete_collection(self._name(*one))
            except Exception as error:
                raise self._failed("remove a collection", error) from error

    def _let_go(self) -> None:
        self._built.clear()
        self._verified.clear()
        client, self._client = self._client, None
        if client is None:
            return
        try:
            with panics_as_errors():
                chroma_client.disconnect(client)
            if isinstance(self._location, ChromaFolder) and self._generation is not None:
                self._location.finish(self._generation, self._highest)
        except Exception as error:  # noqa: BLE001  # Chroma may raise anything; it is derived
            logger.warning("%s", _error("close", self._location, error))

    def _leave(self, partition: str, model: str) -> int:
        """Return the change that a collection reflects; nobody asks it until it is noted again."""
        with self._lock:
            built = self._built.pop((partition, model), None)
            if built is not None:
                return built.seq
            try:
                with panics_as_errors():
                    return self._noted_change(partition, model)
            except Exception as error:
                raise self._failed("open", error) from error

    def _noted_change(self, partition: str, model: str) -> int:
        metadata = self._collection(partition, model).metadata or {}
        if metadata.get(_EPOCH, self._epoch) != self._epoch:
            self._open().delete_collection(self._name(partition, model))
            return 0
        return int(metadata.get(SEQ, 0))

    def _delete(self, partition: str, model: str, ids: Sequence[str]) -> None:
        with self._lock:
            self._collection(partition, model).delete(ids=list(ids))

    def _upsert(
        self,
        partition: str,
        model: str,
        ids: Sequence[str],
        nums: NDArray[np.int64],
        vectors: NDArray[np.float32],
    ) -> None:
        with self._lock:
            self._collection(partition, model).upsert(
                ids=list(ids),
                embeddings=vectors,
                metadatas=[{"num": num} for num in nums.tolist()],
            )

    def _verify(self, partition: str, model: str) -> None:
        """Look for some vectors, once after opening: files that vanished under it tell nothing.

        Raises:
            StorageError: It does not find them.
        """
        if not self._is_embedded or (partition, model) in self._verified:
            return
        with self._database.read() as tx:
            sampled = self_hits.sample(tx, partition, model)
            hits = self_hits.found(
                tx, model, sampled, lambda num: self._around(partition, model, sampled[num])
            )
        if hits < self_hits.MIN_FOUND * len(sampled):
            raise StorageError(f"it finds {hits} of {len(sampled)} sampled vectors")
        self._verified.add((partition, model))

    def _around(self, partition: str, model: str, vector: NDArray[np.float32]) -> list[int]:
        with self._lock:
            collection = self._collection(partition, model)
            found = chroma_client.nearest(collection, vector, self_hits.NEAREST)
        return [int(num) for num in found]

    def _note(self, partition: str, model: str, built: _Built) -> int:
        """Note what a collection reflects; return how many vectors it holds."""
        with self._lock:
            collection = self._collection(partition, model)
            collection.modify(metadata={SEQ: built.seq, _EPOCH: self._epoch})
            found = collection.count()
            if found == built.vectors or not self._is_embedded:  # others may fill a server too
                self._built[partition, model] = built
                self._highest = max(self._highest, built.seq)
            return found

    def _collection(self, partition: str, model: str) -> Collection:
        return chroma_client.collection(self._open(), self._name(partition, model))

    def _name(self, partition: str, model: str) -> str:
        return chroma_client.collection_name(self._database.store_id, partition, model)

    @property
    def _is_embedded(self) -> bool:
        return isinstance(self._location, ChromaFolder)

    def _open(self) -> ClientAPI:
        if self._closed:
            raise StorageError("This engine was closed.")
        if self._client is None:
            if isinstance(self._location, ChromaFolder):
                self._generation = self._location.begin()
                self._client = chroma_client.connect(self._generation)
            else:
                self._client = chroma_client.connect(self._location)
        return self._client

    def _failed(self, what: str, why: Exception | str) -> StorageError:
        """Return the error to raise; an embedded Chroma that failed makes way for a new one."""
        with self._lock:
            if self._is_embedded and not self._closed:
                self._failures += 1
                self._built.clear()
                self._verified.clear()
                client, self._client = self._client, None
                if client is not None:
                    # It failed already, and is never used again.
                    with suppress(Exception), panics_as_errors():
                        chroma_client.disconnect(client)
                if self._generation is not None:
                    remove(self._generation)
        return _error(what, self._location, why)


def _error(what: str, location: ChromaFolder | str, why: Exception | str) -> StorageError:
    if isinstance(location, ChromaFolder):
        return StorageError(
            f"Chroma in {location.home} could not {what}: {why}. "
            "It is built again from the database."
        )
    return StorageError(f"Chroma at {location} could not {what}: {why}. Check that server.")
