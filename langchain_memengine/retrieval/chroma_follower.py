"""The thread that brings Chroma up to the database, so that no writer waits for it."""

from __future__ import annotations

import logging
import threading

from langchain_memengine.errors import StorageError
from langchain_memengine.retrieval.vector_index import ChromaIndex

logger = logging.getLogger(__name__)


class ChromaFollower:
    """Fills Chroma in a background thread, so that no writer waits for it."""

    def __init__(self, index: ChromaIndex, rest_seconds: float) -> None:
        """Start nothing yet.

        Args:
            index: What is filled.
            rest_seconds: Wait after a failure, before anything is tried again.
        """
        self._index = index
        self._rest_seconds = rest_seconds
        self._told = ""
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
                self._told = ""
            except StorageError as error:
                if not self._stop.is_set() and self._told != str(error):
                    logger.warning("%s Searches use exact vectors meanwhile.", error)
                if self._rest_seconds:
                    self._told = str(error)
                    self._stop.wait(self._rest_seconds)
