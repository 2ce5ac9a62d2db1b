"""Index what changed before a search answers, if that is due and nobody has to wait long for it."""

from __future__ import annotations

import time

from langchain_memengine.engine.writing import Writing
from langchain_memengine.errors import MemEngineError
from langchain_memengine.retrieval.file_reader import MANY_FILES
from langchain_memengine.types import Actor
from langchain_memengine.workspace.layout import folder_owner, owner_folder, slug

SYNC_PATIENCE_SECONDS = 0.25
"""Wait for a sync that somebody else began, at most, before a search does without."""

BEING_INDEXED = "sync: files are being indexed; what is new in them may not be found yet"


class SyncingFirst(Writing):
    """The chapter of the engine that decides when a search indexes files first."""

    def _sync_if_due(self, actor: Actor) -> tuple[bool, tuple[str, ...], float]:
        """Index changed files before a search; return (synced, problems, milliseconds).

        The problems are those of files that the actor may read.
        """
        if self.read_only or not self.config.sync_on_search:
            return False, (), 0.0
        started = time.perf_counter()
        synced = False
        problems: tuple[str, ...] = ()
        # While many files are indexed, nobody waits for them: the answer is what is there so far.
        patience = 0.0 if self._indexer.is_at_many else SYNC_PATIENCE_SECONDS
        if self._indexer.is_at_many or self._is_scan_due():
            if self._sync_lock.acquire(timeout=patience):
                try:
                    synced, problems = self._sync_for_search(actor)
                finally:
                    self._sync_lock.release()
            else:
                problems = (BEING_INDEXED,)
        if synced:
            self._tell_graph()
        return synced, problems, (time.perf_counter() - started) * 1000

    def _is_scan_due(self) -> bool:
        """Return whether a search should look for changed files; with a watcher it is told."""
        if self._is_watching() and not self._pending.is_dirty:
            return False
        return time.monotonic() - self._last_scan >= self.config.stat_interval_seconds

    def _sync_for_search(self, actor: Actor) -> tuple[bool, tuple[str, ...]]:
        """Sync unless that has become needless, and leave many files to a watcher."""
        if not self._is_scan_due():
            return False, ()
        try:
            with self._pending.syncing() as succeed:
                plan = self._indexer.plan(self._sources)
                if self._is_watching() and plan.stale >= MANY_FILES:
                    self._last_scan = time.monotonic()
                    return False, (BEING_INDEXED,)
                report = self._carry_out(plan, succeed)
        except MemEngineError as error:
            return False, (f"sync: {error}",)
        problems = tuple(
            f"sync: {problem.path}: {problem.reason}"
            for problem in report.failed
            if may_know_of(actor, problem.path)
        )
        return bool(report.indexed or report.removed), problems


def may_know_of(actor: Actor, path: str) -> bool:
    """Return whether an actor may know of a file: one in another user's folder is not theirs."""
    folder = owner_folder(path)
    return actor.is_admin or folder is None or folder_owner(folder) == slug(actor.user_id)
