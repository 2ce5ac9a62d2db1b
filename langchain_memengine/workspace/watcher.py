"""Index files by themselves: many small changes become one sync when it is quiet again."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from langchain_memengine.answers import IndexReport
from langchain_memengine.errors import MemEngineError
from langchain_memengine.shown import Shown

logger = logging.getLogger(__name__)

Events = Callable[[threading.Event], Iterator[bool]]
OnSync = Callable[[IndexReport], None]
OnSuccess = Callable[[IndexReport, float, datetime], None]

LONGEST_UNREST = 30
"""A folder that is never quiet is indexed after that many times the debounce."""

RETRY_AFTER = 10
"""What failed is tried again after that many times the debounce."""

CHECK_SECONDS = 60.0
"""Time after which files are looked at without any event: systems may drop events."""


@dataclass(frozen=True, slots=True)
class WatchState(Shown):
    """How far the index follows the files, at one moment.

    Attributes:
        dirty: Whether files may have changed since they were indexed, or some could not be.
        syncing: Whether files are being indexed now, by the watcher or by anyone else.
        last_sync_at: When files were last indexed by this engine, UTC; ``None`` if never.
        watched_files: Files that are indexed and watched; 0 while nothing is watched.
        watching: Whether events are being received.
    """

    dirty: bool
    syncing: bool
    last_sync_at: datetime | None
    watched_files: int
    watching: bool


class PendingChanges:
    """Which changes were seen, and which of them a sync has dealt with; threads may share it.

    Times are seconds of a clock that never goes back.

    Args:
        debounce_seconds: How long it must be quiet before changes are due.
    """

    def __init__(self, debounce_seconds: float) -> None:
        self._debounce = debounce_seconds
        self._lock = threading.Lock()
        self._seen = 0
        self._first: float | None = None  # when the oldest change came that no sync has dealt with
        self._latest = 0.0
        self._retry_at: float | None = None
        self._looked_at = 0.0
        self._running = 0
        self._last_sync_at: datetime | None = None

    @property
    def is_dirty(self) -> bool:
        """Whether something is left to do."""
        with self._lock:
            return self._first is not None or self._retry_at is not None

    @property
    def is_syncing(self) -> bool:
        """Whether a sync is under way."""
        return self._running > 0

    @property
    def last_sync_at(self) -> datetime | None:
        """When the last sync ended."""
        return self._last_sync_at

    def note(self, now: float) -> None:
        """Note that something changed."""
        with self._lock:
            self._seen += 1
            self._latest = now
            if self._first is None:
                self._first = now

    def is_due(self, now: float) -> bool:
        """Return whether it is time for a sync."""
        with self._lock:
            if self._first is not None:
                unrest = now - self._first
                is_quiet = now - self._latest >= self._debounce
                return is_quiet or unrest >= LONGEST_UNREST * self._debounce
            if self._retry_at is not None:
                return now >= self._retry_at
            return now - self._looked_at >= CHECK_SECONDS

    @contextmanager
    def syncing(self) -> Iterator[OnSuccess]:
        """Span a sync; yields what to call with its report when it has succeeded.

        A change that is noted meanwhile stays: the sync may have passed its file already.
        """
        with self._lock:
            seen = self._seen
            self._running += 1

        def succeed(report: IndexReport, now: float, at: datetime) -> None:
            with self._lock:
                self._last_sync_at, self._looked_at = at, now
                self._first = None if self._seen == seen else self._latest
                is_partial = bool(report.failed)
                self._retry_at = now + RETRY_AFTER * self._debounce if is_partial else None

        try:
            yield succeed
        finally:
            with self._lock:
                self._running -= 1

    def postpone(self, now: float) -> None:
        """Try again later, after a sync that failed as a whole."""
        with self._lock:
            self._first = None
            self._retry_at = now + RETRY_AFTER * self._debounce


class Watcher:
    """Calls a sync when files have changed and it is quiet again, in a thread of its own.

    Args:
        events: Where changes come from; see ``FolderEvents``.
        pending: What was changed; the sync settles it.
        sync: Indexes what changed.
        clock: Seconds that never go back.
        on_sync: Called by the thread with the report of each sync that found or failed something.
    """

    def __init__(
        self,
        events: Events,
        pending: PendingChanges,
        sync: Callable[[], IndexReport],
        *,
        clock: Callable[[], float],
        on_sync: OnSync | None = None,
    ) -> None:
        self._events = events
        self._pending = pending
        self._sync = sync
        self._clock = clock
        self._on_sync = on_sync
        self._last_problem = ""
        self._stop = threading.Event()
        self._thread = threading.Thread(
            target=self.run,
            name="memengine-watcher",
            daemon=True,  # a process that ends must not wait for a model
        )
        self.is_watching = False

    @property
    def is_running(self) -> bool:
        """Whether the thread was started and has not ended."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Watch, in the thread, until stopped."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread, after the sync in hand; the thread itself may ask."""
        self._stop.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join()

    def run(self) -> None:
        """Watch, in the calling thread, until stopped."""
        try:
            for changed in self._events(self._stop):
                if self._stop.is_set():
                    break
                if changed:
                    self._pending.note(self._clock())
                self.is_watching = True
                if self._pending.is_due(self._clock()):
                    self._report(self._sync_once())
        except Exception:  # nobody waits for this thread to hear of it
            logger.exception("the watcher ended; files are indexed before searches again")
        finally:
            self.is_watching = False

    def _sync_once(self) -> IndexReport:
        """Sync; a failure is a report too, because the next change may come right."""
        try:
            return self._sync()
        except MemEngineError as error:
            self._pending.postpone(self._clock())
            return IndexReport(degraded=(f"sync: {error}",))

    def _report(self, report: IndexReport) -> None:
        """Tell of a sync, but not of a failure that is the same as before."""
        failed = (f"{problem.path}: {problem.reason}" for problem in report.failed)
        problem = "; ".join((*report.degraded, *failed))
        is_news = bool(report.indexed or report.removed or problem != self._last_problem)
        if problem and problem != self._last_problem:
            logger.warning("files could not be indexed as they should be: %s", problem)
        self._last_problem = problem
        if is_news and self._on_sync is not None:
            self._on_sync(report)
