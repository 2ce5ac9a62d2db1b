"""What happens in the folders of an index, as far as it concerns the index.

Each folder that a walk enters is watched by itself: a watch of a whole tree would follow links out
of it, and spend the system's watches on what the patterns leave out.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.workspace.globs import path_patterns
from langchain_memengine.workspace.walk import walk, would_enter

logger = logging.getLogger(__name__)

RETRY_SECONDS = 5.0
"""Wait before folders that could not be watched are tried again; they are looked at each time."""

_GROUPED_MS = 200
_STEP_MS = 50
_DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class WatchedFolder:
    """A folder of files that an index follows, with its patterns."""

    root: Path
    include: tuple[str, ...]
    exclude: tuple[str, ...]


class Consequence(Enum):
    """What an event means: nothing, that files changed, or that other folders are to be watched."""

    NOTHING = 0
    FILES = 1
    FOLDERS = 2


@dataclass(frozen=True, slots=True)
class _Tree:
    """A watched folder as it was when the watch began."""

    root: Path
    wanted: re.Pattern[str]
    unwanted: re.Pattern[str]
    folders: frozenset[str]
    identity: tuple[int, int] | None

    def consequence(self, kind: str, path: str) -> Consequence:
        """Return what an event about an absolute path means."""
        if path in self.folders:
            # A change of the folder's own attributes says nothing about what is in it.
            return Consequence.NOTHING if kind == "modified" else Consequence.FOLDERS
        if os.path.dirname(path) not in self.folders:  # noqa: PTH120  # events are plain strings
            return Consequence.NOTHING
        name = os.path.relpath(path, self.root).replace(os.sep, "/")
        if kind != _DELETED and would_enter(self.root, name, self.unwanted):
            return Consequence.FOLDERS
        if self.wanted.match(name) and not self.unwanted.match(name):
            return Consequence.FILES
        return Consequence.NOTHING  # what editors leave beside a file while they save it


class FolderEvents:
    """Tells when files may have changed: call it and iterate.

    It yields ``True`` when something happened that an index should look at, and first of all when
    the watch stands, because of what happened before; ``False`` whenever a tick passed without.
    Folders that cannot be watched are tried again, and meanwhile looked at every few seconds.

    Args:
        watched: The folders. One that is not there (yet) is waited for.
        tick_seconds: Longest time between two answers.
    """

    def __init__(self, watched: Sequence[WatchedFolder], *, tick_seconds: float) -> None:
        self._watched = watched
        self._tick_ms = max(1, round(tick_seconds * 1000))

    def __call__(self, stop: threading.Event) -> Iterator[bool]:
        """Yield until ``stop`` is set; it is looked at every 50 ms."""
        while not stop.is_set():
            try:
                yield from self._until_folders_change(stop)
            except (OSError, RuntimeError, ConfigurationError) as error:  # what watchfiles raises
                if not isinstance(error, FileNotFoundError):  # a folder went while it was looked at
                    logger.warning("cannot watch, looking every %g s: %s", RETRY_SECONDS, error)
                    stop.wait(RETRY_SECONDS)
                yield True

    def _until_folders_change(self, stop: threading.Event) -> Iterator[bool]:
        from watchfiles import watch

        trees = [_tree(folder) for folder in self._watched]
        events = watch(
            *sorted(set().union(*(tree.folders for tree in trees))),
            watch_filter=None,
            debounce=_GROUPED_MS,
            step=min(_STEP_MS, self._tick_ms),
            rust_timeout=self._tick_ms,
            yield_on_timeout=True,
            stop_event=stop,
            raise_interrupt=False,
            recursive=sys.platform != "linux",  # elsewhere one watch of a tree follows no link
        )
        is_new = True
        for changes in events:
            found = consequence(trees, ((change.name, path) for change, path in changes))
            if found is Consequence.FOLDERS or any(t.identity != _identity(t.root) for t in trees):
                return
            yield is_new or found is Consequence.FILES
            is_new = False


def consequence(trees: Sequence[_Tree], events: Iterable[tuple[str, str]]) -> Consequence:
    """Return the gravest of what events, as (kind, absolute path), mean to any of the trees."""
    found = (tree.consequence(kind, path) for kind, path in events for tree in trees)
    return max(found, key=lambda each: each.value, default=Consequence.NOTHING)


def _tree(folder: WatchedFolder) -> _Tree:
    """Look at a folder.

    Raises:
        ConfigurationError: It cannot be listed.
    """
    root = Path(os.path.abspath(folder.root))  # noqa: PTH100  # links in the path stay
    wanted, unwanted = path_patterns(folder.include, folder.exclude)
    identity = _identity(root)
    entered: list[str] = []
    for _ in walk(root, unwanted, [], [], entered):
        pass
    folders = frozenset(os.path.normpath(root / name) for name in entered)
    return _Tree(root, wanted, unwanted, folders, identity)


def _identity(root: Path) -> tuple[int, int] | None:
    """Return what tells a folder from another one that takes its place later."""
    try:
        status = root.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
