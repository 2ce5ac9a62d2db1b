"""Files that can be made again at any time: how they are summed up, and removed."""

from __future__ import annotations

import os
import shutil
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

Sums = Mapping[str, tuple[int, int]]
"""Size and CRC-32 of each file below a folder, by path with ``/``."""

_BLOCK = 1 << 20


def remove(path: Path) -> bool:
    """Remove a file or a folder, as far as that is possible; return whether there is none left.

    Another process may have it open on Windows: what stays is removed the next time.
    """
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    return not os.path.lexists(path)


def clear(folder: Path, what: str) -> str | None:
    """Remove a folder with what it holds; return what is left and where, in words.

    A link, with which somebody put the folder on another disk, stays, but nothing behind it.

    Args:
        folder: The folder; there may be none.
        what: What it holds, in a word.
    """
    try:
        inside = list(folder.iterdir()) if folder.is_symlink() else [folder]
        is_gone = not [one for one in inside if not remove(one)]
    except OSError:
        is_gone = not folder.exists()
    return None if is_gone else f"{what} in {folder}, which could not be removed: remove it."


def sums(folder: Path) -> Sums:
    """Return what is needed to see any accidental change of the files below a folder.

    Raises:
        OSError: A file cannot be read.
    """
    return {
        path.relative_to(folder).as_posix(): _sum(path)
        for path in sorted(folder.rglob("*"))
        if not path.is_dir()
    }


def _sum(path: Path) -> tuple[int, int]:
    size = crc = 0
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            size += len(block)
            crc = zlib.crc32(block, crc)
    return size, crc
