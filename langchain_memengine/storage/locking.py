"""The lock on a store's derived indexes: one process maintains them, the others follow SQL."""

from __future__ import annotations

import json
import os
import socket
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock, Timeout

from langchain_memengine.errors import StorageError, StoreLockedError


class LockHolder(NamedTuple):
    """Who took the lock last.

    Attributes:
        pid: Its process.
        host: The machine that it runs on.
        since: When it took the lock.
    """

    pid: int
    host: str
    since: datetime


class IndexLock:
    """An operating-system lock on the state folder; it ends with its process.

    Who has it is written beside it, for people: the note of a process that was killed stays, and
    means nothing.
    """

    def __init__(self, state_dir: Path) -> None:
        self._path = state_dir / "index.lock"
        self._note = state_dir / "index.lock.json"
        self._lock = FileLock(self._path, thread_local=False)  # it belongs to an engine

    @property
    def is_held(self) -> bool:
        """Whether this object has the lock."""
        return self._lock.is_locked

    def holder(self) -> LockHolder | None:
        """Return who took the lock last and did not give it back, if that is known."""
        try:
            since = datetime.fromtimestamp(self._note.stat().st_mtime, UTC)
            noted = json.loads(self._note.read_bytes())
            return LockHolder(int(noted["pid"]), str(noted["host"]), since)
        except (OSError, ValueError, TypeError, KeyError):  # nobody, or the note is half-written
            return None

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
        with suppress(OSError):  # the lock holds without the note
            note = {"pid": os.getpid(), "host": socket.gethostname()}
            self._note.write_text(json.dumps(note), encoding="utf-8")

    def release(self) -> None:
        """Give the lock back; releasing twice is fine."""
        if self._lock.is_locked:
            with suppress(OSError):  # a note that stays means nothing once the lock is free
                self._note.unlink()
        self._lock.release()
