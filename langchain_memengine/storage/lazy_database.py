"""A database that nobody may ever need."""

from __future__ import annotations

import threading
from collections.abc import Callable

from langchain_memengine.storage.database import Database


class LazyDatabase:
    """A database that is opened, and made, when it is first used.

    Args:
        opened: Opens it.
        was_made: Tells whether somebody has made it already.
    """

    def __init__(self, opened: Callable[[], Database], was_made: Callable[[], bool]) -> None:
        self._open = opened
        self._was_made = was_made
        self._database: Database | None = None
        self._lock = threading.Lock()

    @property
    def is_there(self) -> bool:
        """Whether there is anything to read."""
        return self._database is not None or self._was_made()

    def get(self) -> Database:
        """Return the database.

        Raises:
            StorageError: It cannot be opened.
        """
        with self._lock:
            if self._database is None:
                self._database = self._open()
            return self._database

    def close(self) -> None:
        """Close it, if it was opened; a later use says that it is closed."""
        if self._database is not None:
            self._database.close()
