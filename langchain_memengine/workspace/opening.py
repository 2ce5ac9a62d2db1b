"""Open a file below a root without following a link, waiting for a pipe, or being raced."""

from __future__ import annotations

import os
from pathlib import Path

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_FILE = (
    os.O_RDONLY
    | _NO_LINK
    | getattr(os, "O_NONBLOCK", 0)  # opening a pipe must not wait for its writer
    | getattr(os, "O_BINARY", 0)
)
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0)


def open_below(root: Path, path: str) -> int:
    """Return a descriptor to read a file from, which may turn out to be no regular one.

    Each folder is opened from the one above it: whoever may write to one of them cannot swap it
    for a link between a check and the use. The root itself may be a link.

    Raises:
        OSError: It is not there, a link, or may not be read.
    """
    if os.open not in os.supports_dir_fd:  # Windows
        return os.open(root / path, _FILE)
    *folders, name = Path(path).parts
    descriptor = os.open(root, _FOLDER)
    try:
        for folder in folders:
            above, descriptor = descriptor, os.open(folder, _FOLDER | _NO_LINK, dir_fd=descriptor)
            os.close(above)
        return os.open(name, _FILE, dir_fd=descriptor)
    finally:
        os.close(descriptor)
