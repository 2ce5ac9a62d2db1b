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
        empty: Opens what stands in for it until somebody has, where nothing may be made.
    """

    def __init__(
        self,
        opened: Callable[[], Database],
        was_made: Callable[[], bool],
        empty: Callable[[], Database] | None = None,
    ) -> None:
        self._open = opened
        self._empty = empty
        self._stand_in: Database | None = None
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
            if self._database is None and self._empty and not self._was_made():
                self._stand_in = self._stand_in or self._empty()
                return self._stand_in
            if self._database is None:
                self._database = self._open()
            return self._database

    def close(self) -> None:
        """Close it, if it was opened; a later use says that it is closed."""
        for database in (self._database, self._stand_in):
            if database is not None:
                database.close()
