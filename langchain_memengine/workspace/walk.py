"""Walk a folder without following any link or opening any file."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from langchain_memengine.answers import FileProblem
from langchain_memengine.errors import ConfigurationError
from langchain_memengine.workspace.layout import ARCHIVE_DIR, STATE_DIR, USERS_DIR

LINK = "a symbolic link; links are not followed"
ODD_NAME = "its name is not valid UTF-8"
NOT_REGULAR = "not a regular file"


def walk(
    root: Path,
    unwanted: re.Pattern[str],
    skipped: list[FileProblem],
    failed: list[FileProblem],
    entered: list[str] | None = None,
) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yield all that is no folder, with its root-relative path, in no particular order.

    A folder that ``unwanted`` matches is not entered. One that is a link is added to ``skipped``,
    one that cannot be listed to ``failed``, and one that was listed to ``entered``, each with a
    ``/`` at the end; the root is ``""``.

    Raises:
        ConfigurationError: ``root`` itself cannot be listed.
    """
    pending = [""]
    while pending:
        folder = pending.pop()
        entries = _entries(root, folder, failed)
        if entries is None:
            continue
        if entered is not None:
            entered.append(folder)
        for entry in entries:
            path = folder + entry.name
            if unwanted.match(path):
                continue
            if not _is_folder(entry):
                yield path, entry
            elif not unwanted.match(f"{path}/") and not _never_read(path):
                reason = _name_problem(entry)
                if reason:
                    skipped.append(problem(f"{path}/", reason))
                else:
                    pending.append(f"{path}/")


def would_enter(root: Path, path: str, unwanted: re.Pattern[str]) -> bool:
    """Return whether :func:`walk` would try to list what is now at a root-relative path."""
    if unwanted.match(path) or unwanted.match(f"{path}/") or _never_read(path):
        return False
    place = root / path
    return place.is_dir() and not place.is_symlink()


def _entries(root: Path, folder: str, failed: list[FileProblem]) -> list[os.DirEntry[str]] | None:
    """Return what is in a folder, ``None`` if it cannot be listed."""
    try:
        with os.scandir(root / folder) as entries:
            return list(entries)
    except OSError as error:
        if not folder:
            raise ConfigurationError(
                f"The folder {root} cannot be listed: {error.strerror or error}. "
                "Name a folder that exists and that this user may read."
            ) from error
        if not isinstance(error, FileNotFoundError):
            failed.append(problem(folder, error.strerror or str(error)))
        return None


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Return whether it is a folder or a link to one."""
    try:
        return entry.is_dir()
    except OSError:  # a link that leads nowhere; it is reported as a link
        return False


def _never_read(folder: str) -> bool:
    """Return whether a folder holds state or transcripts; these are searched by their rows."""
    parts = folder.lower().split("/")  # some file systems do not tell Archive from archive
    if len(parts) > 2 and parts[0] == USERS_DIR:  # noqa: PLR2004 - users, slug, rest
        parts = parts[2:]
    return parts[-1] == STATE_DIR or parts == [ARCHIVE_DIR]


def file_problem(entry: os.DirEntry[str], status: os.stat_result, max_bytes: int) -> str:
    """Return why a file is skipped, unopened; ``""`` if it is not."""
    reason = _name_problem(entry)
    if not reason and not stat.S_ISREG(status.st_mode):
        reason = NOT_REGULAR
    return reason or size_problem(status, max_bytes)


def size_problem(status: os.stat_result, max_bytes: int) -> str:
    """Return that a file is too large, in words; ``""`` if it is not."""
    too_large = status.st_size > max_bytes
    return f"{status.st_size} bytes, more than the {max_bytes} allowed" if too_large else ""


def problem(path: str, reason: str) -> FileProblem:
    """Return the report of a skipped path, in characters that can be stored."""
    return FileProblem(_printable(path), reason)


def _printable(name: str) -> str:
    """Return the name with bytes that are not UTF-8 escaped, so that it can be stored."""
    return name.encode("utf-8", "backslashreplace").decode()


def _name_problem(entry: os.DirEntry[str]) -> str:
    """Return why an entry is skipped whatever is in it: a link, an odd name; ``""`` if not."""
    is_junction = getattr(entry, "is_junction", bool)  # a Windows junction; named since 3.12
    if entry.is_symlink() or is_junction():
        return LINK
    return ODD_NAME if _printable(entry.name) != entry.name else ""
