"""Access counts on their way to the database."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime

from langchain_memengine.errors import StorageError
from langchain_memengine.storage import access
from langchain_memengine.storage.database import Database

logger = logging.getLogger(__name__)

_BATCH = 100


class AccessCounts:
    """How often memories were returned, kept until there are enough to write; for all threads.

    Args:
        database: Where they are written; nothing is, if it is read-only.
        clock: Tells when.
    """

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._enough = _BATCH

    def add(self, chunk_ids: Iterable[str]) -> None:
        """Count each of these once more.

        A database that fails when it is time to write costs who searches nothing: the counts are
        kept and written with the next batch.
        """
        with self._lock:
            self._counts.update(chunk_ids)
            is_full = self._counts.total() >= self._enough
        if is_full:
            try:
                self.write()
            except StorageError as error:
                logger.warning("access counts are written later: %s", error)

    def forget(self, chunk_ids: Iterable[str]) -> None:
        """Drop what is not written yet of memories that are forgotten."""
        with self._lock:
            for chunk_id in chunk_ids:
                self._counts.pop(chunk_id, None)

    def write(self) -> None:
        """Write what there is.

        Raises:
            StorageError: The database failed; what was counted is kept.
        """
        with self._lock:
            counted, self._counts = self._counts, Counter()
            self._enough = _BATCH
        if not counted or self._database.read_only:
            return
        try:
            with self._database.write() as tx:
                access.record(tx, counted, now=self._clock())
        except StorageError:
            with self._lock:
                self._counts.update(counted)
                self._enough = self._counts.total() + _BATCH
            raise
