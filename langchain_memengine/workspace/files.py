"""Find, read and write the files of a workspace without trusting any of them.

A folder of notes may hold links, pipes, binaries and half-written files, and other programs edit
it meanwhile. Whatever cannot be taken as text is named with its reason.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from langchain_memengine.answers import FileProblem
from langchain_memengine.errors import ConfigurationError, MemEngineError, StorageError
from langchain_memengine.workspace.decoding import decode
from langchain_memengine.workspace.durable import locked, put_in_place, written_beside
from langchain_memengine.workspace.globs import path_patterns
from langchain_memengine.workspace.layout import inside
from langchain_memengine.workspace.opening import open_below
from langchain_memengine.workspace.walk import (
    LINK,
    NOT_REGULAR,
    file_problem,
    problem,
    size_problem,
    walk,
)

_ATTEMPTS = 3


class UnreadableFileError(MemEngineError):
    """A file cannot be taken as text.

    Attributes:
        path: Workspace-relative name of the file.
        reason: Why, in words: ``binary``, ``not UTF-8``, …
        gone: Whether there is no such file (any more).
    """

    def __init__(self, path: str, reason: str, *, gone: bool = False) -> None:
        self.path = path
        self.reason = reason
        self.gone = gone
        super().__init__(
            f"{path} cannot be read as text: {reason}. "
            "Save it as a regular UTF-8 file inside the workspace, or exclude it."
        )


@dataclass(frozen=True, slots=True)
class FileStat:
    """A file that was found, unopened.

    Attributes:
        path: Root-relative name with ``/``.
        size: In bytes.
        mtime_ns: Time of the last change, in nanoseconds since 1970.
    """

    path: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Scan:
    """What a walk over a root found, each list sorted by path.

    A path that ends with ``/`` is a whole folder: nothing is known about the files in it.

    Attributes:
        files: Regular files to read.
        skipped: What matches but is not read.
        failed: What the operating system would not show; the next walk may see it.
    """

    files: list[FileStat]
    skipped: list[FileProblem]
    failed: list[FileProblem] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class TextFile:
    """The text of a file at one moment.

    Attributes:
        path: Root-relative name with ``/``.
        text: Decoded, without byte order mark, line ends as they are.
        hash: sha256 of the bytes read, hexadecimal.
        size: In bytes.
        mtime_ns: Time of the last change, in nanoseconds since 1970.
    """

    path: str
    text: str
    hash: str
    size: int
    mtime_ns: int


def scan(root: Path, include: Sequence[str], exclude: Sequence[str], max_bytes: int) -> Scan:
    """List the regular files under ``root`` that a pattern includes; opens none of them.

    Links are not followed. ``include`` ignores case. ``exclude`` holds at any depth and a folder
    it matches is not entered. State folders and archives, also those of owners, are left out.

    Raises:
        ConfigurationError: ``root`` is not a folder that can be listed.
    """
    wanted, unwanted = path_patterns(include, exclude)
    found = Scan([], [])
    for path, entry in walk(root, unwanted, found.skipped, found.failed):
        if not wanted.match(path):
            continue
        try:
            status = entry.stat(follow_symlinks=False)
            reason = file_problem(entry, status, max_bytes)
        except FileNotFoundError:  # deleted since it was listed
            continue
        except OSError as error:
            found.failed.append(problem(path, error.strerror or str(error)))
            continue
        if reason:
            found.skipped.append(problem(path, reason))
        else:
            found.files.append(FileStat(path, status.st_size, _mtime_ns(status)))
    found.files.sort(key=lambda file: file.path)
    for problems in (found.skipped, found.failed):
        problems.sort(key=lambda problem: problem.path)
    return found


def read_text(root: Path, path: str, max_bytes: int | None) -> TextFile:
    """Read a regular file inside ``root`` as it was at one moment.

    UTF-8 with or without byte order mark, UTF-16 and UTF-32 with one. ``max_bytes=None`` reads a
    file of any size.

    Raises:
        UnreadableFileError: It is gone, a link, not a regular file, too large, binary, in another
            encoding, or changing all the time.
    """
    try:
        inside(root, path)
    except ConfigurationError as error:
        raise UnreadableFileError(path, "outside the workspace") from error
    try:
        below_root = [root / step for step in (Path(path), *Path(path).parents[:-1])]
        if any(step.is_symlink() for step in below_root):
            raise UnreadableFileError(path, LINK)
        content, status = _read_unchanged(root, path, max_bytes)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise UnreadableFileError(path, "there is no such file", gone=True) from error
    except OSError as error:
        raise UnreadableFileError(path, error.strerror or str(error)) from error
    try:
        text = decode(content)
    except ValueError as error:
        raise UnreadableFileError(path, str(error)) from error
    digest = hashlib.sha256(content).hexdigest()
    return TextFile(path, text, digest, len(content), _mtime_ns(status))


def write_atomic(path: Path, text: str) -> None:
    """Replace a file by ``text`` in UTF-8, wholly or not at all, and flush it to disk.

    Line ends are written as they are; missing folders are made. A NUL is written as U+FFFD and a
    lone surrogate as its escape, because the file could not be read as text again.

    Raises:
        StorageFullError: The disk is full; the old file is untouched.
        StorageError: The file cannot be written.
    """
    with written_beside(path, text) as temporary:
        put_in_place(temporary, path)


def update_text(path: Path, change: Callable[[str], str], *, lock: Path) -> str:
    """Read a file, change its text and replace it, with no other update in between.

    Nothing is written when ``change`` returns the text it got. An editor that saves the file
    meanwhile is not overwritten: ``change`` is then called again, with the new text. Only a save
    between the last look at the file and the call that replaces it, microseconds later, is lost.

    Args:
        path: The file; a missing one has the text ``""``.
        change: Gives the new text; must not take the same lock.
        lock: Lock file that all writers of this file share.

    Returns:
        The text after the change.

    Raises:
        UnreadableFileError: The file is there and is no text; it is left as it is.
        StorageError: It cannot be written, or something else keeps changing it.
    """
    with locked(lock):
        for _ in range(_ATTEMPTS):
            before = _read_if_there(path)
            text = before.text if before else ""
            changed = change(text)
            if changed == text:
                return text
            with written_beside(path, changed) as temporary:
                if _is_unchanged(path, before):
                    put_in_place(temporary, path)
                    return changed
    raise StorageError(
        f"{path} was not written: another program changed it {_ATTEMPTS} times meanwhile. "
        "Try again when it is done."
    )


def _read_unchanged(root: Path, path: str, max_bytes: int | None) -> tuple[bytes, os.stat_result]:
    """Return bytes that no writer touched while they were read, and the file's status then."""
    for _ in range(_ATTEMPTS):
        descriptor = open_below(root, path)
        try:
            before = os.fstat(descriptor)
            if not stat.S_ISREG(before.st_mode):
                raise UnreadableFileError(path, NOT_REGULAR)
            too_large = "" if max_bytes is None else size_problem(before, max_bytes)
            if too_large:
                raise UnreadableFileError(path, too_large)
            with os.fdopen(descriptor, "rb", closefd=False) as handle:
                content = handle.read(before.st_size + 1)
            after = os.fstat(descriptor)
        finally:
            os.close(descriptor)
        if _version(before) == _version(after) and len(content) == after.st_size:
            return content, after
    raise UnreadableFileError(path, "it kept changing while it was read")


def _mtime_ns(status: os.stat_result) -> int:
    """Return when a file was changed; dates beyond 1677 to 2262 do not fit into a column."""
    return max(-(2**63), min(status.st_mtime_ns, 2**63 - 1))


def _version(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_mtime_ns, status.st_size, status.st_ino


def _read_if_there(path: Path) -> TextFile | None:
    try:
        return read_text(path.parent, path.name, None)
    except UnreadableFileError as error:
        if error.gone:
            return None
        raise


def _is_unchanged(path: Path, before: TextFile | None) -> bool:
    # By content: an edit may keep the size, and the time where clocks are coarse or put back.
    now = _read_if_there(path)
    return (now and now.hash) == (before and before.hash)
