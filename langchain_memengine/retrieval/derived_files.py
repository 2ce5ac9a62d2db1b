"""Files that can be made again at any time: how they are summed up, and removed."""

from __future__ import annotations

import shutil
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

Sums = Mapping[str, tuple[int, int]]
"""Size and CRC-32 of each file below a folder, by path with ``/``."""

_BLOCK = 1 << 20


def remove(path: Path) -> None:
    """Remove a file or a folder, as far as that is possible; there may be none.

    Another process may have it open on Windows: what stays is removed the next time.
    """
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


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
