"""The parts of an engine, built from one config and joined."""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from langchain_memengine.config import MemEngineConfig
from langchain_memengine.errors import ConfigurationError, StoreLockedError
from langchain_memengine.jobs.worker import OnJobFailed, Worker, no_work
from langchain_memengine.jobs.worker_thread import WorkerThread
from langchain_memengine.models.embedding import EmbeddingsLike
from langchain_memengine.models.providers import make_embedder
from langchain_memengine.retrieval.embedding_cache import EmbeddingCache
from langchain_memengine.retrieval.indexing import Indexer
from langchain_memengine.retrieval.partitions import Partitions
from langchain_memengine.retrieval.search import Searcher
from langchain_memengine.retrieval.snapshot import Origin, Snapshots
from langchain_memengine.retrieval.sources import (
    FolderSource,
    NotesSource,
    Source,
    named_source_id,
)
from langchain_memengine.retrieval.traffic import Traffic
from langchain_memengine.retrieval.vector_index import ChromaFollower, ChromaIndex
from langchain_memengine.storage import access
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.dialects import file_url
from langchain_memengine.storage.documents import TableNotes
from langchain_memengine.storage.job_values import Handler
from langchain_memengine.storage.locking import IndexLock
from langchain_memengine.text.words import WordSplitter
from langchain_memengine.types import LOCAL_ADMIN, Actor
from langchain_memengine.workspace.files import workspace_id
from langchain_memengine.workspace.layout import Layout
from langchain_memengine.workspace.notes import DiskNotes, Notes
from langchain_memengine.workspace.watcher import PendingChanges, Watcher

_FENCE_SECRET = "fence_secret"  # noqa: S105  # the name of a row, no password


def utc_now() -> datetime:
    """Return the time now, aware, in UTC."""
    return datetime.now(UTC)


class EngineParts:
    """What every chapter of the engine works with; nothing else reads the clock.

    Attributes:
        config: The settings.
        root: Folder of Markdown files, ``None`` for a store without one.
        actor: Who calls, when a call names nobody.
        read_only: Whether nothing is ever written.
    """

    def __init__(
        self,
        root: Path | None,
        config: MemEngineConfig,
        *,
        embeddings: EmbeddingsLike | str | None,
        actor: Actor = LOCAL_ADMIN,
        read_only: bool = False,
        clock: Callable[[], datetime] = utc_now,
        on_job_failed: OnJobFailed | None = None,
    ) -> None:
        """Build the parts; :meth:`open` also reads the settings and syncs."""
        self.config = config
        self.actor = actor
        self.root = root
        self.read_only = read_only
        self._clock = clock
        self._sync_lock = threading.Lock()
        self._last_scan = -float("inf")
        self._pending = PendingChanges(config.watch_debounce_ms / 1000)
        self._watcher: Watcher | None = None
        self._watcher_lock = threading.Lock()
        self._accesses: Counter[str] = Counter()
        self._access_lock = threading.Lock()
        with ExitStack() as closing:
            self._build(closing, embeddings)
            self._build_worker(closing, on_job_failed)
            closing.callback(self.stop_watching)
            self._closing = closing.pop_all()

    def _build(self, closing: ExitStack, spec: EmbeddingsLike | str | None) -> None:
        config = self.config
        layout = self._prepared_layout()
        url = file_url(layout.state_dir / "memory.sqlite") if layout else "sqlite://"
        self._database = Database(
            config.database_url or url,
            store_id=config.store_id,
            now=self._clock(),
            busy_timeout_ms=config.busy_timeout_ms,
            read_only=self.read_only,
        )
        closing.callback(self._database.close)
        self._secret = self._fence_secret()
        embedder = make_embedder(
            spec, batch_size=config.embedding_batch_size, attempts=config.embedding_attempts
        )
        self._embedding = EmbeddingCache(self._database, embedder)
        splitter = WordSplitter(config.language)
        self._traffic = Traffic(splitter)
        maintains = self._maintains_indexes(closing, layout)
        partitions = Partitions(
            self._traffic.words,
            k1=config.bm25_k1,
            b=config.bm25_b,
            snapshots=self._snapshots(layout, splitter, writes=maintains),
        )
        closing.callback(partitions.save)
        self._chroma = self._chroma_parts(closing, layout, maintains=maintains)
        self._searcher = Searcher(
            self._database, partitions, splitter, self._embedding, config, self._chroma
        )
        self._traffic.follow = self._searcher.follow
        self._indexer = Indexer(self._database, self._embedding, config, self._clock, self._traffic)
        self._sources = self._all_sources(layout)
        self._notes: Notes = (
            DiskNotes(layout.root) if layout else TableNotes(self._database, self._clock)
        )

    def _build_worker(self, closing: ExitStack, on_job_failed: OnJobFailed | None) -> None:
        handlers: dict[str, Handler] = {"auto_learn_error": no_work}
        if self._embedding.enabled:
            handlers["embed"] = self._indexer.embed_batch
        self._handlers = handlers
        self._worker = Worker(
            self._database, handlers, clock=self._clock, on_job_failed=on_job_failed
        )
        self._worker_thread = WorkerThread(self._worker)
        closing.callback(self._worker_thread.drain, self.config.worker_drain_seconds)
        if self.config.worker == "auto":
            self._database.on_queued_jobs = self._worker_thread.wake

    def _prepared_layout(self) -> Layout | None:
        if self.root is None:
            return None
        if not self.read_only:
            Layout(self.root).create_state()
        elif not self.root.is_dir():
            raise ConfigurationError(f"{self.root} is no folder. Check the path.")
        return Layout(self.root)

    def _fence_secret(self) -> str:
        with self._database.read() as tx:
            known = tx.get_meta(_FENCE_SECRET)
        if known is None:
            known = secrets.token_hex(16)
            if not self.read_only:
                with self._database.write() as tx:
                    tx.set_meta(_FENCE_SECRET, known)
        return known

    def _maintains_indexes(self, closing: ExitStack, layout: Layout | None) -> bool:
        """Return whether this engine is the one to write the derived files; it holds the lock."""
        if layout is None or self.read_only or not self.config.maintain_indexes:
            return False
        lock = IndexLock(layout.state_dir)
        try:
            lock.acquire()
        except StoreLockedError:
            return False  # this engine follows the database in memory
        closing.callback(lock.release)
        return True

    def _snapshots(
        self, layout: Layout | None, splitter: WordSplitter, *, writes: bool
    ) -> Snapshots | None:
        if layout is None:
            return None
        # The secret is drawn once for each database: a new one in the same folder has another.
        database = hashlib.sha256(self._secret.encode()).hexdigest()
        origin = Origin(self.config.store_id, database, splitter.fingerprint)
        return Snapshots(layout.state_dir / "index", origin, writes=writes)

    def _chroma_parts(
        self, closing: ExitStack, layout: Layout | None, *, maintains: bool
    ) -> tuple[ChromaIndex, ChromaFollower] | None:
        """Return the parts for Chroma, if this engine is the one to maintain it."""
        location = self.config.chroma_url or (layout.state_dir / "chroma" if layout else None)
        if location is None or self.read_only or self.config.vector_search == "exact":
            return None
        if layout is not None and not maintains:
            return None  # exact vectors answer here; the holder of the lock maintains Chroma
        index = ChromaIndex(self._database, location)
        closing.callback(index.close)
        follower = ChromaFollower(index)
        closing.callback(follower.close)
        return index, follower

    def _all_sources(self, layout: Layout | None) -> list[Source]:
        main: Source = (
            FolderSource(layout.root, workspace_id(layout.root), self.config)
            if layout
            else NotesSource(self._database)
        )
        named: list[Source] = [
            FolderSource(folder, named_source_id(name, folder), self.config)
            for name, folder in self.config.sources.items()
        ]
        return [main, *named]

    @property
    def embedding_name(self) -> str | None:
        """Class and model of the embedder, ``None`` in keyword-only mode."""
        return self._embedding.name

    def _is_watching(self) -> bool:
        watcher = self._watcher
        return watcher is not None and watcher.is_watching

    def stop_watching(self) -> None:
        """Watch no longer; a sync in hand is finished. Nothing happens if nothing is watched."""
        with self._watcher_lock:
            watcher, self._watcher = self._watcher, None
        if watcher is not None:
            watcher.stop()

    def wait_for_chroma(self) -> None:
        """Wait until Chroma has caught up with what searches asked of it."""
        if self._chroma is not None:
            self._chroma[1].wait()

    def write_accesses(self) -> None:
        """Write the access counts that are buffered."""
        with self._access_lock:
            counted, self._accesses = self._accesses, Counter()
        if counted and not self.read_only:
            with self._database.write() as tx:
                access.record(tx, counted, now=self._clock())

    def close(self) -> None:
        """Write what is buffered, keep the indexes and close everything; twice is fine."""
        with self._closing:
            self.write_accesses()
