"""What is derived from the database and kept beside it, which one engine at a time writes."""

from __future__ import annotations

import threading
from contextlib import suppress

from langchain_memengine.config import MemEngineConfig
from langchain_memengine.errors import StoreLockedError
from langchain_memengine.retrieval import chroma_folder, snapshot
from langchain_memengine.retrieval.chroma_collections import Location
from langchain_memengine.retrieval.chroma_folder import ChromaFolder
from langchain_memengine.retrieval.chroma_follower import ChromaFollower
from langchain_memengine.retrieval.chroma_server import server_of
from langchain_memengine.retrieval.snapshot import Origin
from langchain_memengine.retrieval.snapshot_keeping import Snapshots
from langchain_memengine.retrieval.vector_index import ChromaIndex
from langchain_memengine.storage.backup import EPOCH
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.drawn_once import drawn_anew, drawn_once
from langchain_memengine.storage.locking import IndexLock
from langchain_memengine.workspace.layout import Layout

INDEX_DIR = "index"
CHROMA_DIR = "chroma"

_REST_SECONDS = 1.0
"""Wait before a Chroma server that failed is tried again."""


class DerivedFiles:
    """The snapshots of indexes and the Chroma of a store, and the lock on them.

    The engine that has the lock writes them. Others follow the database in memory and may take
    the lock over once it is free. A Chroma server is for all, without a lock.

    Attributes:
        lock: ``None`` if this engine is never to write them.
        snapshots: Where indexes are kept; ``None`` for a store without a folder.
        chroma: The index and what fills it; ``None`` where exact vectors answer.
    """

    def __init__(
        self, database: Database, config: MemEngineConfig, layout: Layout | None, words: str
    ) -> None:
        """Take the lock, unless another engine has it; nothing is written yet.

        Args:
            database: What they are derived from.
            config: Says whether this engine may write them, and where Chroma is.
            layout: The store's folder, if it has one.
            words: Fingerprint of the word splitter.

        Raises:
            StorageError: The lock cannot be made, or the database failed.
        """
        self._database = database
        self._config = config
        self._layout = layout
        self._words = words
        self._turn = threading.Lock()
        self._is_over = False
        may_write = layout is not None and config.maintain_indexes and not database.read_only
        self.lock = IndexLock(layout.state_dir) if layout and may_write else None
        if self.lock is not None:
            with suppress(StoreLockedError):  # this engine follows the database in memory
                self.lock.acquire()
        self.chroma: tuple[ChromaIndex, ChromaFollower] | None = None
        self.snapshots: Snapshots | None = None
        try:
            epoch = self._epoch()
            if layout is not None:
                folder = layout.state_dir / INDEX_DIR
                self.snapshots = Snapshots(folder, self._origin(epoch), writes=self.are_ours)
            self.chroma = self._chroma_parts(epoch)
        except BaseException:  # nobody will close what was not made: it keeps no lock
            self.release()
            raise

    @property
    def are_ours(self) -> bool:
        """Whether this engine is the one to write them."""
        return self.lock is not None and self.lock.is_held

    @property
    def may_become_ours(self) -> bool:
        """Whether this engine follows one that has the lock."""
        return self.lock is not None and not self.lock.is_held

    def take_over(self) -> bool:
        """Become the engine that writes them, if no other is any more; return whether it did now.

        Costs a look at the lock, and nothing in the engine that has it.

        Raises:
            StorageError: The lock cannot be made, or the database failed.
        """
        if self.lock is None or self.lock.is_held:
            return False
        with self._turn:
            if self._is_over or self.lock.is_held:
                return False
            try:
                self.lock.acquire()
            except StoreLockedError:
                return False
            try:
                epoch = self._epoch()
                chroma = self.chroma or self._chroma_parts(epoch)
                if self.snapshots is not None:
                    self.snapshots.write_from_now_on(self._origin(epoch))
            except BaseException:  # an interrupt, too, leaves the lock to others
                self.lock.release()
                raise
            self.chroma = chroma
        return True

    def close_chroma(self) -> None:
        """Close Chroma, and take nothing over any more; twice is fine."""
        with self._turn:
            self._is_over = True
        if self.chroma is not None:
            index, follower = self.chroma
            follower.close()
            index.close()

    def release(self) -> None:
        """Leave them to others; twice is fine."""
        if self.lock is not None:
            self.lock.release()

    def _epoch(self) -> str:
        """Return the identity of the database, which derived files must have been made from.

        A derived file that is ahead of the database tells that an older one was put in its place
        by hand: it gets a new identity before it can catch up with what it never was.
        """
        epoch = drawn_once(self._database, EPOCH)
        if self._layout is None or not self.are_ours:
            return epoch
        known = max(
            snapshot.newest_change(self._layout.state_dir / INDEX_DIR, epoch),
            chroma_folder.newest_change(self._layout.state_dir / CHROMA_DIR, epoch),
        )
        with self._database.read() as tx:
            is_behind = tx.counters().changes < known
        if is_behind:
            with self._database.write() as tx:
                return drawn_anew(tx, EPOCH)
        return epoch

    def _origin(self, epoch: str) -> Origin:
        return Origin(self._config.store_id, epoch, self._words)

    def _chroma_parts(self, epoch: str) -> tuple[ChromaIndex, ChromaFollower] | None:
        """Return the parts for Chroma, unless exact vectors answer in this engine.

        A folder is for the holder of the lock, a server for all.
        """
        location: Location | None = server_of(self._config)
        rest_seconds = _REST_SECONDS
        if location is None and self._layout is not None and self.are_ours:
            location = ChromaFolder(self._layout.state_dir / CHROMA_DIR, epoch)
            rest_seconds = 0.0  # it is given up after some failures
        if location is None or self._database.read_only or self._config.vector_search == "exact":
            return None
        index = ChromaIndex(self._database, epoch, location)
        return index, ChromaFollower(index, rest_seconds)
