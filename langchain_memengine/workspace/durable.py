"""Make folders, hold a lock and write files so that a crash loses nothing.

A file is replaced as a whole: readers see the old text or the new one, never half of it.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from filelock import FileLock, Timeout

from langchain_memengine.errors import StorageError, StorageFullError, StoreBusyError

_FULL = (errno.ENOSPC, errno.EDQUOT)

LOCK_SECONDS = 30.0
"""How long a writer waits for another one, whose change takes milliseconds."""


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock file ``path`` against every other thread and process.

    Waits for the holder, but not for ever; the operating system frees the lock of a process that
    died. It is not re-entrant: taking it again inside the block waits in vain.

    Raises:
        StoreBusyError: Another writer held it too long.
        StorageError: The lock file cannot be created or locked.
    """
    # A lock of its own for each call: a shared one would let a thread in twice.
    lock = FileLock(path, timeout=LOCK_SECONDS, thread_local=False)
    try:
        make_folder(path.parent)
        lock.acquire()
    except Timeout as error:
        raise StoreBusyError(
            f"Another writer has held {path} for {LOCK_SECONDS:.0f} seconds. "
            "Try again; if it hangs, end it: its lock ends with it."
        ) from error
    except OSError as error:
        raise storage_error(path, error) from error
    try:
        yield
    finally:
        lock.release()


@contextmanager
def written_beside(path: Path, text: str) -> Iterator[Path]:
    """Yield a temporary file in ``path``'s folder that holds ``text`` safely on disk.

    The caller puts it in place with :func:`put_in_place`. What is still there at the end of the
    block, after an error too, is removed. An existing ``path`` passes its permissions on, and its
    owner as far as this user may.

    Raises:
        StorageFullError: The disk is full; ``path`` is as it was.
        StorageError: The folder cannot be written.
    """
    temporary = path.parent / f".{uuid4().hex}.tmp"
    try:
        make_folder(path.parent)
        handle = temporary.open("xb")
    except OSError as error:
        raise storage_error(path, error) from error
    try:
        with handle:
            if path.exists():
                _pass_on(path.stat(), temporary)  # before there is a word that others may not read
            handle.write(_encoded(text))
            handle.flush()
            os.fsync(handle.fileno())
        yield temporary
    except OSError as error:
        raise storage_error(path, error) from error
    finally:
        # A rest that cannot be removed is the doctor's: it must neither hide the error above nor
        # make a change that was put in place look as if it had failed.
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def put_in_place(temporary: Path, path: Path) -> None:
    """Replace ``path`` by ``temporary`` in one step that survives a power cut."""
    temporary.replace(path)
    sync_folder(path.parent)


def make_folder(folder: Path) -> None:
    """Create a folder and its parents, each entered durably in the one above."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Flush a folder's entries to disk; Windows has no such call and does it by itself."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def storage_error(path: Path, error: OSError) -> StorageError:
    """Return the named error for what the operating system said about ``path``."""
    if error.errno in _FULL:
        return StorageFullError(
            f"{path} was not written: the disk is full. Free some space and try again; "
            "everything acknowledged before is kept."
        )
    return StorageError(
        f"{path} cannot be written: {error.strerror or error}. "
        "Check that its folder exists and that this user may write there."
    )


def _pass_on(old: os.stat_result, temporary: Path) -> None:
    if sys.platform != "win32":
        # Only root gives files away; a person must be able to edit what a container wrote for them.
        with suppress(PermissionError):
            os.chown(temporary, old.st_uid, old.st_gid)
    temporary.chmod(stat.S_IMODE(old.st_mode))


def _encoded(text: str) -> bytes:
    # A NUL or a lone surrogate would make the whole file unreadable as text from then on.
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "backslashreplace")
