"""Approximate vector search with Chroma, for partitions too large for the exact product.

Chroma is derived: it is filled from the database behind the commit, carries the value of the
change counter that it reflects, and answers only when that is the current one. Only the holder
of the store's index lock opens the embedded folder: two clients on one folder lose vectors.
"""

from __future__ import annotations

import hashlib
import logging
import shutil
import threading
from collections.abc import Collection as AnyCollection
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from langchain_memengine.errors import ConfigurationError, StorageError
from langchain_memengine.storage import chunks, embeddings
from langchain_memengine.storage.database import Database

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

logger = logging.getLogger(__name__)

_BATCH = 500
_SEQ = "memengine_seq"


class ChromaIndex:
    """The Chroma collections of one store: one for each (partition, model, dimension)."""

    def __init__(self, database: Database, location: Path | str) -> None:
        """Remember where Chroma is; nothing is opened before the first use.

        Args:
            database: What the collections are filled from.
            location: Folder of an embedded Chroma, or ``http(s)://host:port`` of a server.
        """
        self._database = database
        self._location = location
        self._client: ClientAPI | None = None
        self._lock = threading.RLock()
        self._built: dict[tuple[str, str], int] = {}
        self._erased = 0

    def erase(self, partitions: AnyCollection[str], model: str | None) -> bool:
        """Remove vectors from disk; return whether that is certain.

        Chroma keeps deleted vectors in its files, so an embedded folder goes as a whole and is
        filled again from the database. Of a server only the collections can be removed.

        Args:
            partitions: Whose vectors.
            model: Identity of the embedding model.

        Raises:
            StorageError: Chroma failed.
        """
        with self._lock:
            self._erased += 1
            self._built.clear()
            if isinstance(self._location, Path):
                self.close()
                if self._location.exists():
                    shutil.rmtree(self._location)
                return True
            names = [_collection_name(self._database.store_id, p, model or "") for p in partitions]
            try:
                known = {collection.name for collection in self._open().list_collections()}
                for name in known.intersection(names):
                    self._open().delete_collection(name)
            except Exception as error:
                raise _failed("forget", self._location, error) from error
            return False

    def seq(self, partition: str, model: str) -> int:
        """Return the change counter that a partition's collection reflects, 0 if there is none."""
        with self._lock:
            key = (partition, model)
            if key not in self._built:
                metadata = self._collection(partition, model).metadata or {}
                self._built[key] = int(metadata.get(_SEQ, 0))
            return self._built[key]

    def is_current(self, partition: str, model: str, changes: int) -> bool:
        """Return whether a collection is known to reflect this change; opens nothing."""
        return self._built.get((partition, model)) == changes

    def nearest(
        self, partition: str, model: str, query: NDArray[np.float32], k: int
    ) -> NDArray[np.int64]:
        """Return the numbers of the ``k`` nearest chunks, nearest first.

        Raises:
            StorageError: Chroma failed.
        """
        with self._lock:
            try:
                answer = self._collection(partition, model).query(
                    query_embeddings=query[np.newaxis], n_results=k, include=["metadatas"]
                )
            except Exception as error:
                raise _failed("search", self._location, error) from error
        rows = (answer["metadatas"] or [[]])[0]
        return np.asarray([int(row["num"]) for row in rows], np.int64)  # type: ignore[arg-type]  # we wrote an int

    def follow(self, partition: str, model: str, stop: threading.Event) -> bool:
        """Bring a partition's collection up to the database; return whether it got there.

        Stopped half-way it keeps its old counter, and the next call does the rest again.

        Raises:
            StorageError: Chroma failed.
        """
        erased = self._erased
        after = self.seq(partition, model)
        with self._database.read() as tx:
            now = tx.counters().changes
            gone = chunks.removed_ids(tx, partition, after_seq=after)
            nums, ids, vectors = embeddings.vectors_of_partition(
                tx, partition, model, after_seq=after
            )
        try:
            for batch in _runs(gone):
                self._delete(partition, model, batch)
            for start in range(0, len(ids), _BATCH):
                if stop.is_set() or self._erased != erased:
                    return False
                run = slice(start, start + _BATCH)
                self._upsert(partition, model, ids[run], nums[run], vectors[run])
            if not self._note(partition, model, now, erased):
                return False
        except StorageError:
            raise
        except Exception as error:
            raise _failed("write", self._location, error) from error
        logger.debug("Chroma follows %d vectors, %d removals", len(ids), len(gone))
        return True

    def close(self) -> None:
        """Close the client, if it was ever opened."""
        with self._lock:
            if self._client is not None:
                self._client.close()  # type: ignore[attr-defined]  # the interface lacks it
                self._client = None

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

    def _note(self, partition: str, model: str, seq: int, erased: int) -> bool:
        """Note what a collection reflects, unless its first batches were erased meanwhile."""
        with self._lock:
            if self._erased != erased:
                return False
            self._collection(partition, model).modify(metadata={_SEQ: seq})
            self._built[partition, model] = seq
            return True

    def _collection(self, partition: str, model: str) -> Collection:
        name = _collection_name(self._database.store_id, partition, model)
        try:
            return self._open().get_or_create_collection(
                name,
                embedding_function=None,
                configuration={
                    "hnsw": {
                        "space": "cosine",
                        "ef_construction": 200,
                        "ef_search": 200,
                        "max_neighbors": 32,
                    }
                },
            )
        except Exception as error:
            raise _failed("open", self._location, error) from error

    def _open(self) -> ClientAPI:
        if self._client is None:
            import chromadb
            from chromadb.config import Settings

            settings = Settings(anonymized_telemetry=False)
            if isinstance(self._location, Path):
                self._location.mkdir(parents=True, exist_ok=True)
                self._client = chromadb.PersistentClient(str(self._location), settings)
            else:
                self._client = chromadb.HttpClient(**_server(self._location), settings=settings)
        return self._client


class ChromaFollower:
    """Fills Chroma in a background thread, so that no writer waits for it."""

    def __init__(self, index: ChromaIndex) -> None:
        self._index = index
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._wanted: set[tuple[str, str]] = set()
        self._lock = threading.Lock()

    def want(self, partition: str, model: str) -> None:
        """Ask for a partition to be brought up to date; returns at once."""
        with self._lock:
            self._wanted.add((partition, model))
            if self._thread is None and not self._stop.is_set():
                self._thread = threading.Thread(
                    target=self._run, name="memengine-chroma", daemon=True
                )
                self._thread.start()

    def wait(self) -> None:
        """Wait until everything asked for is done."""
        thread = self._thread
        if thread is not None:
            thread.join()

    def close(self, timeout_seconds: float = 2.0) -> None:
        """Stop after the batch in hand; the rest is done when the store is next opened."""
        self._stop.set()
        thread = self._thread
        if thread is not None:
            thread.join(timeout_seconds)

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._wanted or self._stop.is_set():
                    self._thread = None
                    return
                partition, model = self._wanted.pop()
            try:
                self._index.follow(partition, model, self._stop)
            except StorageError as error:
                logger.warning("%s Searches use exact vectors meanwhile.", error)


def _collection_name(store_id: str, partition: str, model: str) -> str:
    """Return a legal collection name: any characters may stand in owners and model names."""
    digest = hashlib.sha256("\0".join((store_id, partition, model)).encode()).hexdigest()
    return f"memengine-{digest[:40]}"


def _server(url: str) -> dict[str, Any]:
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ConfigurationError(
            f"chroma_url {url!r} is no server address. Example: http://localhost:8000"
        )
    ssl = parts.scheme == "https"
    return {"host": parts.hostname, "port": parts.port or (443 if ssl else 8000), "ssl": ssl}


def _failed(what: str, location: Path | str, error: Exception) -> StorageError:
    return StorageError(
        f"Chroma at {location} could not {what}: {error}. It is rebuilt from the database when "
        "its folder is removed."
    )


def _runs(values: Sequence[str]) -> list[Sequence[str]]:
    return [values[i : i + _BATCH] for i in range(0, len(values), _BATCH)]
