"""The lock on a store's derived indexes: one process maintains them, the others follow SQL."""

from __future__ import annotations

from pathlib import Path

from filelock import FileLock, Timeout

from langchain_memengine.errors import StorageError, StoreLockedError


class IndexLock:
    """An operating-system lock on the state folder; it ends with its process."""

    def __init__(self, state_dir: Path) -> None:
        self._path = state_dir / "index.lock"
        self._lock = FileLock(self._path)

    def acquire(self) -> None:
        """Take the lock without waiting.

        Raises:
            StoreLockedError: Another process, or another engine in this one, has it.
            StorageError: The lock file cannot be made.
        """
        try:
            self._lock.acquire(timeout=0)
        except Timeout as error:
            raise StoreLockedError(
                f"Another process maintains the indexes of {self._path.parent}. Searching and "
                "storing work all the same; only Chroma is left to that process."
            ) from error
        except OSError as error:
            raise StorageError(
                f"The lock {self._path} cannot be made: {error}. Check the folder's permissions."
            ) from error

    def release(self) -> None:
        """Give the lock back; releasing twice is fine."""
        self._lock.release()
