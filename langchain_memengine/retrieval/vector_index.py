"""Approximate vector search with Chroma, for partitions too large for the exact product.

Chroma is derived: it is filled from the database behind the commit, carries the value of the
change counter that it reflects, and answers only when it is not behind. Only the holder of the
store's index lock opens an embedded folder: two clients on one folder lose vectors.

An embedded Chroma that raises, finds far too few or holds another number of vectors than the
database is never asked again: the next one is filled from the database while exact vectors answer.

A server may be filled by any number of processes at once, without a lock. Vectors have the numbers
of their chunks, which are never used twice, so writing one again changes nothing and a removal is
final; what a process notes, it has written, or found noted. Who counts another number of vectors
than a database at rest has, compares them one by one: so vectors are neither lost nor left over.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from langchain_memengine.errors import StorageError
from langchain_memengine.retrieval import chroma_client, self_hits
from langchain_memengine.retrieval.chroma_changes import Built, Change, change_since
from langchain_memengine.retrieval.chroma_client import panics_as_errors
from langchain_memengine.retrieval.chroma_collections import ChromaCollections, Location
from langchain_memengine.retrieval.chroma_folder import ChromaFolder
from langchain_memengine.retrieval.chroma_writer import ChromaWriter, IsOver
from langchain_memengine.retrieval.derived_files import clear
from langchain_memengine.storage.database import Database

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection

logger = logging.getLogger(__name__)

MAX_FAILURES = 3
"""Failures of an embedded Chroma after which a session leaves searching to exact vectors."""

SEQ = "memengine_seq"
"""Key under which a collection carries the change that it reflects."""


class ChromaIndex:
    """The Chroma collections of one store: one for each (partition, model, dimension)."""

    def __init__(self, database: Database, epoch: str, location: Location) -> None:
        """Remember where Chroma is; nothing is opened before the first use.

        Args:
            database: What the collections are filled from.
            epoch: Its identity; another database has other collections.
            location: Where Chroma is.
        """
        self._database = database
        self._location = location
        self._collections = ChromaCollections(location, database.store_id, epoch)
        self._lock = threading.RLock()
        self._writer = ChromaWriter(database, self._collections, self._lock)
        self._built: dict[tuple[str, str], Built] = {}
        self._verified: set[tuple[str, str]] = set()
        self._highest = 0
        self._failures = 0
        self._starts = 0
        self._closed = False
        self._unreachable: StorageError | None = None

    def name(self, partition: str, model: str) -> str:
        """Return the name of a collection."""
        return self._collections.name(partition, model)

    def is_current(self, partition: str, model: str, changes: int) -> bool:
        """Return whether a collection is known to reflect this change; opens nothing."""
        built = self._built.get((partition, model))
        return built is not None and built.seq >= changes

    def require_reachable(self) -> None:
        """Tell of a server that could not be filled when that was last tried; asks it nothing.

        Raises:
            StorageError: It failed then.
        """
        if self._unreachable is not None:
            raise self._unreachable

    def nearest(
        self, partition: str, model: str, changes: int, query: NDArray[np.float32], k: int
    ) -> NDArray[np.int64] | None:
        """Return the numbers of the ``k`` nearest chunks, nearest first.

        ``None`` if the collection does not reflect this change (any more), or found a few less:
        no way in its graph may lead to a vector, most often to one of several equal ones.

        Raises:
            StorageError: Chroma failed, or an embedded one finds far fewer vectors than it should.
        """
        with self._lock:
            if not self.is_current(partition, model, changes):
                return None
            expected = min(k, self._built[partition, model].vectors)
            try:
                with panics_as_errors():
                    collection = self._collections.known(partition, model)
                    nums = chroma_client.nearest(collection, query, k)
            except Exception as error:
                if self._is_embedded or not chroma_client.is_gone(error):
                    raise self._failed("search", error) from error
                nums = np.zeros(0, np.int64)
            if len(nums) < expected:
                if not self._is_embedded:
                    # Others removed vectors, or all of it: who follows it next counts them.
                    del self._built[partition, model]
                elif len(nums) < self_hits.MIN_FOUND * expected:
                    raise self._failed("search", f"it found {len(nums)} of {expected} vectors")
                return None
        return nums

    def follow(self, partition: str, model: str, stop: threading.Event) -> bool:
        """Bring a partition's collection up to the database; return whether it got there.

        Stopped half-way it keeps its old counter, and the next call does the rest again.

        Raises:
            StorageError: Chroma failed, or the database did.
        """
        if self._failures >= MAX_FAILURES:
            return False
        if self._is_untouched(partition, model):
            return True
        starts = self._starts

        def is_over() -> bool:  # what is written after a new start may be forgotten by now
            return stop.is_set() or self._starts != starts

        # Looked up before the database is read: whoever forgets something removes the collection
        # after the commit, and what is written to one that was removed goes nowhere.
        collection, after = self._leave(partition, model)
        with self._database.read() as tx:
            change = change_since(tx, partition, model, after)
        try:
            with panics_as_errors():
                if change is None:
                    change = self._writer.difference(collection, partition, model)
                return self._bring(collection, partition, model, change, is_over)
        except Exception as error:
            if not self._is_embedded and chroma_client.is_gone(error):
                return False
            raise self._failed("write", error) from error

    def close(self) -> None:
        """Close the client, if it was ever opened; nothing opens it again."""
        with self._lock:
            self._closed = True
            self._collections.close()
            self._let_go()

    @contextmanager
    def left_to_others(self) -> Iterator[Location]:
        """Close the client while the block runs; yields where Chroma is.

        Searches get exact vectors meanwhile, and until the collections were followed again.
        """
        with self._lock:
            self._let_go()
            yield self._location

    def start_over(self, collections: Sequence[tuple[str, str]]) -> str | None:
        """Remove an embedded Chroma, or these (partition, model) of a server.

        They are filled from the database when they are next followed. Returns where their vectors
        still are on disk: a server keeps files as it likes.

        Raises:
            StorageError: The server failed.
        """
        with self._lock:
            self._let_go()
            self._failures = 0
            self._starts += 1
            if isinstance(self._location, ChromaFolder):
                return clear(self._location.home, "Vectors")
            try:
                for one in collections:
                    self._collections.remove(*one)
            except Exception as error:
                raise self._failed("remove a collection", error) from error
            return "Vectors in the files of the Chroma server, until it cleans them up."

    def _let_go(self) -> None:
        self._built.clear()
        self._verified.clear()
        try:
            with panics_as_errors():
                self._collections.let_go(self._highest)
        except Exception as error:  # noqa: BLE001  # Chroma may raise anything; it is derived
            logger.warning("%s", _error("close", self._location, error))

    def _is_untouched(self, partition: str, model: str) -> bool:
        """Return whether a server's collection needs nothing, as most changes are elsewhere."""
        built = self._built.get((partition, model))
        if built is None or self._is_embedded:
            return False
        with self._database.read() as tx:
            change = change_since(tx, partition, model, built.seq)
        if change is None or len(change.gone) or len(change.nums):
            return False
        with self._lock:
            if (partition, model) in self._built:  # nothing failed meanwhile
                self._built[partition, model] = change.built
        return True

    def _leave(self, partition: str, model: str) -> tuple[Collection, int]:
        """Return a collection and the change that it reflects.

        Nobody asks it until it is noted again.
        """
        with self._lock:
            built = self._built.pop((partition, model), None)
            try:
                with panics_as_errors():
                    if built is not None and self._is_embedded:
                        return self._collections.known(partition, model), built.seq
                    collection = self._collections.looked_up(partition, model)
                    return collection, int((collection.metadata or {}).get(SEQ, 0))
            except Exception as error:
                raise self._failed("open", error) from error

    def _bring(
        self, collection: Collection, partition: str, model: str, change: Change, is_over: IsOver
    ) -> bool:
        """Carry out a change; return whether the collection is as the database was then."""
        if not self._writer.write(collection, change, is_over):
            return False
        self._unreachable = None
        if self._is_embedded and (partition, model) not in self._verified:
            self._writer.verify(partition, model)
            self._verified.add((partition, model))
        found = self._note(collection, partition, model, change.built, is_over)
        if found is None or found == change.built.vectors:
            return found is not None
        if self._is_embedded:
            raise StorageError(f"it holds {found} vectors instead of {change.built.vectors}")
        rest = self._writer.rest(collection, partition, model, change.built.seq)
        if rest is None or not self._writer.write(collection, rest, is_over):
            return False
        return self._note(collection, partition, model, rest.built, is_over) == rest.built.vectors

    def _note(
        self, collection: Collection, partition: str, model: str, built: Built, is_over: IsOver
    ) -> int | None:
        """Note what a collection reflects, if it does; return how many vectors it holds."""
        with self._lock:
            if is_over():
                return None
            collection.modify(metadata={SEQ: built.seq})
            found = collection.count()
            if found == built.vectors:
                self._built[partition, model] = built
                self._highest = max(self._highest, built.seq)
            return found

    @property
    def _is_embedded(self) -> bool:
        return isinstance(self._location, ChromaFolder)

    def _failed(self, what: str, why: Exception | str) -> StorageError:
        """Return the error to raise.

        An embedded Chroma that failed makes way for a new one; of a server every search tells
        until it was filled again.
        """
        failure = _error(what, self._location, why)
        with self._lock:
            if not self._closed:
                self._built.clear()
                self._verified.clear()
                self._collections.abandon()
                if self._is_embedded:
                    self._failures += 1
                else:
                    self._unreachable = failure
        return failure


def _error(what: str, location: Location, why: Exception | str) -> StorageError:
    if isinstance(location, ChromaFolder):
        return StorageError(
            f"Chroma in {location.home} could not {what}: {why}. "
            "It is built again from the database."
        )
    return StorageError(f"Chroma at {location} could not {what}: {why}. Check that server.")
