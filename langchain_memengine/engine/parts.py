"""The parts of an engine, built from one config and joined."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from langchain_memengine.config import MemEngineConfig
from langchain_memengine.engine.access_counts import AccessCounts
from langchain_memengine.engine.derived import DerivedFiles
from langchain_memengine.engine.graphing import graph_store
from langchain_memengine.engine.source_folders import all_sources
from langchain_memengine.engine.state_store import state_store
from langchain_memengine.errors import ConfigurationError, ReadOnlyError, StorageError
from langchain_memengine.graph.knowledge_graph import KnowledgeGraph
from langchain_memengine.graph.resolution import NameMerge
from langchain_memengine.jobs.worker import OnJobFailed, Worker, no_work
from langchain_memengine.jobs.worker_thread import WorkerThread
from langchain_memengine.models.chat_providers import checked_spec
from langchain_memengine.models.embedding import EmbeddingsLike
from langchain_memengine.models.providers import make_embedder
from langchain_memengine.retrieval.embedding_cache import EmbeddingCache
from langchain_memengine.retrieval.graph_leg import GraphLeg
from langchain_memengine.retrieval.indexing import Indexer
from langchain_memengine.retrieval.name_index import NameIndex
from langchain_memengine.retrieval.partitions import Partitions
from langchain_memengine.retrieval.search import Searcher
from langchain_memengine.retrieval.traffic import Traffic
from langchain_memengine.storage.documents import TableNotes
from langchain_memengine.storage.drawn_once import drawn_once
from langchain_memengine.storage.job_values import Handler
from langchain_memengine.text.words import WordSplitter
from langchain_memengine.types import (
    LOCAL_ADMIN,
    Actor,
)
from langchain_memengine.workspace.layout import Layout
from langchain_memengine.workspace.notes import DiskNotes, Notes
from langchain_memengine.workspace.watcher import PendingChanges, Watcher

if TYPE_CHECKING:
    from langchain_memengine.models.asking import ChatModel

DATABASE_FILE = "memory.sqlite"
_FENCE_SECRET = "fence_secret"  # noqa: S105  # the name of a row, no password

FORGOTTEN_AT = "forgotten_at"
"""Name of the row with the value of the change counter when something was last forgotten."""


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
        graph: Entities and relations that memories tell of.
        taken_back: How often this engine forgot memory or set it aside: what somebody was told
            before may hold it.
    """

    def __init__(  # noqa: PLR0913  # keywords, each with a default
        self,
        root: Path | None,
        config: MemEngineConfig,
        *,
        embeddings: EmbeddingsLike | str | None,
        chat_model: ChatModel | str | None = None,
        actor: Actor = LOCAL_ADMIN,
        read_only: bool = False,
        clock: Callable[[], datetime] = utc_now,
        on_job_failed: OnJobFailed | None = None,
    ) -> None:
        """Build the parts; nothing is read of the files yet."""
        self.config = config
        self.actor = actor
        self._chat_model = checked_spec(chat_model)
        self.root = root
        self.read_only = read_only
        self.taken_back = 0
        self._clock = clock
        self._sync_lock = threading.Lock()
        self._last_scan = -float("inf")
        self._last_look = -float("inf")
        self._pending = PendingChanges(config.watch_debounce_ms / 1000)
        self._watcher: Watcher | None = None
        self._watcher_lock = threading.Lock()
        with ExitStack() as closing:
            self._build(closing, embeddings)
            self._build_worker(closing, on_job_failed)
            closing.callback(self.stop_watching)
            self._closing = closing.pop_all()

    def _build(self, closing: ExitStack, spec: EmbeddingsLike | str | None) -> None:
        config = self.config
        layout = self._prepared_layout()
        file = layout.state_dir / DATABASE_FILE if layout else None
        self._database = state_store(config, file, self._clock(), read_only=self.read_only)
        closing.callback(self._database.close)
        self._access_counts = AccessCounts(self._database, self._clock)
        graph = graph_store(config, layout, self._clock, read_only=self.read_only)
        closing.callback(graph.close)
        self._embedder = make_embedder(
            spec, batch_size=config.embedding_batch_size, attempts=config.embedding_attempts
        )
        self._embedding = EmbeddingCache(self._database, self._embedder)
        names = NameIndex(graph, self._embedding)
        self.graph = KnowledgeGraph(self._database, graph, names, self._clock, self.actor)
        splitter = self._splitter = WordSplitter(config.language)
        self._traffic = Traffic(splitter)
        self._derived = DerivedFiles(self._database, config, layout, splitter.fingerprint)
        closing.callback(self._derived.release)
        self._partitions = Partitions(
            self._traffic.words,
            k1=config.bm25_k1,
            b=config.bm25_b,
            snapshots=self._derived.snapshots,
        )
        closing.callback(self._save_partitions)
        closing.callback(self._derived.close_chroma)
        self._searcher = Searcher(
            self._database,
            self._partitions,
            splitter,
            self._embedding,
            config,
            self._derived.chroma,
            GraphLeg(graph, splitter, names),
        )
        self._traffic.follow = self._searcher.follow
        self._indexer = Indexer(self._database, self._embedding, config, self._clock, self._traffic)
        self._sources = all_sources(
            self._database, layout.root if layout else None, config, read_only=self.read_only
        )
        self._notes: Notes = (
            DiskNotes(layout.root) if layout else TableNotes(self._database, self._clock)
        )

    def _build_worker(self, closing: ExitStack, on_job_failed: OnJobFailed | None) -> None:
        handlers: dict[str, Handler] = {"auto_learn_error": no_work}
        if self._embedding.enabled:
            handlers["embed"] = self._indexer.embed_batch
        handlers.update(self._chapter_handlers())
        self._handlers = handlers
        self._worker = Worker(
            self._database, handlers, clock=self._clock, on_job_failed=on_job_failed
        )
        self._worker_thread = WorkerThread(self._worker)
        closing.callback(self._worker_thread.drain, self.config.worker_drain_seconds)
        if self.config.worker == "auto":
            self._database.on_queued_jobs = self._worker_thread.wake

    def _chapter_handlers(self) -> Mapping[str, Handler]:
        """Return what the chapters can do for queued jobs; each adds its own."""
        return {}

    def _prepared_layout(self) -> Layout | None:
        if self.root is None:
            return None
        if not self.read_only:
            Layout(self.root).create_state()
        elif not self.root.is_dir():
            raise ConfigurationError(f"{self.root} is no folder. Check the path.")
        return Layout(self.root)

    def _require_writable(self) -> None:
        """Make sure that the engine may write, before anything beside the database is changed.

        Raises:
            ReadOnlyError: It may not.
        """
        if self.read_only:
            raise ReadOnlyError

    @property
    def _maintains(self) -> bool:
        """Whether this engine is the one to write the derived files."""
        return self._derived.are_ours

    def _take_over(self) -> None:
        """Become the engine that writes the derived files, if there is none any more.

        Raises:
            StorageError: The lock cannot be made, or the database failed.
        """
        if self._derived.take_over():
            self._searcher.use_chroma(self._derived.chroma)

    def _take_over_if_due(self) -> tuple[str, ...]:
        """Keep the indexes if nobody does any more; return what went wrong.

        Only a search needs them kept. An engine that follows looks as often as for changed files.
        """
        if not self._derived.may_become_ours:
            return ()
        now = time.monotonic()
        if now - self._last_look < self.config.stat_interval_seconds:
            return ()
        self._last_look = now
        try:
            self._take_over()
        except StorageError as error:
            return (f"indexes: {error}",)
        return ()

    def _save_partitions(self) -> None:
        with self._database.read() as tx:
            forgotten_at = int(tx.get_meta(FORGOTTEN_AT) or 0)
        self._partitions.save(forgotten_at=forgotten_at)

    @cached_property
    def _secret(self) -> str:
        """What makes fences around memories that no text can know; few engines fence any."""
        return drawn_once(self._database, _FENCE_SECRET)

    @property
    def embedding_name(self) -> str | None:
        """Class and model of the embedder, ``None`` in keyword-only mode."""
        return self._embedding.name

    def now(self) -> datetime:
        """Return the time that the engine's clock shows, aware, in UTC."""
        return self._clock()

    def name_merge(self) -> NameMerge:
        """Return how names of entities are compared with the engine's embedder.

        Raises:
            ConfigurationError: There is no embedder.
        """
        if self._embedder is None:
            raise ConfigurationError(
                "Merging names needs an embedder, and this engine searches by keyword only. "
                "Open it with embeddings=, or leave names as they are."
            )
        return NameMerge(self._embedder.embed_texts)

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
        if self._derived.chroma is not None:
            self._derived.chroma[1].wait()

    def write_accesses(self) -> None:
        """Write the access counts that are buffered."""
        self._access_counts.write()

    def close(self) -> None:
        """Write what is buffered, keep the indexes and close everything; twice is fine."""
        with self._closing:
            self.write_accesses()
