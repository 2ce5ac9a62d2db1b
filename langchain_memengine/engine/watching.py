"""Follow the files as they change."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from langchain_memengine.engine.writing import Writing
from langchain_memengine.errors import ConfigurationError
from langchain_memengine.retrieval.sources import FolderSource
from langchain_memengine.storage import files
from langchain_memengine.workspace.folder_events import FolderEvents, WatchedFolder
from langchain_memengine.workspace.watcher import OnSync, Watcher, WatchState

_MIN_TICK_SECONDS = 0.01
_MAX_TICK_SECONDS = 0.25


class Watching(Writing):
    """The chapter of the engine that indexes files by themselves."""

    def start_watching(self, *, on_sync: OnSync | None = None) -> None:
        """Index files when they change and ``watch_debounce_ms`` passed without another change.

        A thread does it, until :meth:`stop_watching` or the end of the engine. Searches never wait
        for it. Nothing happens if the engine is watching.

        Args:
            on_sync: Called by that thread with the report of each sync that indexed, removed or
                failed something. A sync that failed as a whole is ``degraded``.

        Raises:
            ConfigurationError: The engine has no folder.
            ReadOnlyError: It was opened to be read only.
        """
        config = self.config
        self._require_writable()
        folders = [
            WatchedFolder(source.root, config.include, config.exclude)
            for source in self._sources
            if isinstance(source, FolderSource)
        ]
        if not folders:
            raise ConfigurationError("This store has no folder to watch. Open it with a root.")
        tick = min(max(config.watch_debounce_ms / 4000, _MIN_TICK_SECONDS), _MAX_TICK_SECONDS)
        with self._watcher_lock:
            if self._watcher is None or not self._watcher.is_running:
                self._watcher = Watcher(
                    FolderEvents(folders, tick_seconds=tick),
                    self._pending,
                    self.sync,
                    clock=time.monotonic,
                    on_sync=on_sync,
                )
                self._watcher.start()

    @contextmanager
    def watch(self, *, on_sync: OnSync | None = None) -> Iterator[None]:
        """Watch while the block runs, see :meth:`start_watching`."""
        self.start_watching(on_sync=on_sync)
        try:
            yield
        finally:
            self.stop_watching()

    @asynccontextmanager
    async def awatch(self, *, on_sync: OnSync | None = None) -> AsyncIterator[None]:
        """Watch while the block runs; its end does not block the event loop."""
        self.start_watching(on_sync=on_sync)
        try:
            yield
        finally:
            await asyncio.to_thread(self.stop_watching)

    def watch_state(self) -> WatchState:
        """Return how far the index follows the files now."""
        watched = 0
        if self._is_watching():
            with self._database.read() as tx:
                watched = files.count(tx, [source.workspace_id for source in self._sources])
        return WatchState(
            dirty=self._pending.is_dirty,
            syncing=self._pending.is_syncing,
            last_sync_at=self._pending.last_sync_at,
            watched_files=watched,
            watching=self._is_watching(),
        )
