"""What the graph forgets and catches up with, as the memory goes on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from langchain_memengine.retrieval import documents, visibility
from langchain_memengine.retrieval.name_index import NameIndex
from langchain_memengine.retrieval.standing import silenced
from langchain_memengine.storage import chunk_ids, graph, graph_meta, job_rows, jobs
from langchain_memengine.storage.chunk_values import partition_key
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.graph_jobs import SYNC_KEY, skipped, sync_job
from langchain_memengine.storage.lazy_database import LazyDatabase
from langchain_memengine.types import (
    Actor,
)


class GraphFollowing:
    """The chapter of the graph that follows the memory."""

    def __init__(
        self,
        state: Database,
        store: LazyDatabase,
        names: NameIndex,
        clock: Callable[[], datetime],
        actor: Actor,
    ) -> None:
        self._state = state
        self._store = store
        self._names = names
        self._clock = clock
        self._actor = actor
        self._silent: tuple[tuple[int, int], frozenset[str]] = ((0, 0), frozenset())

    def forget_evidence(self, ids: Sequence[str], *, actor: Actor | None = None) -> int:
        """Forget what memories told, by their ids; return how many the graph had heard of.

        Memories that are deleted are forgotten anyway. An admin forgets what everyone knows as
        well, others only what is theirs.
        """
        documents.require_list("ids", ids)
        if not self._store.is_there:
            return 0
        with self._store.get().write() as tx:
            return graph.forget_evidence(tx, ids, partitions=self._writable(actor or self._actor))

    def sync(self) -> int:
        """Forget what memories told that are gone by now; return how many there were.

        Every question does this first. A graph that never followed the memory, or one from before
        that was restored, is compared with all of it.
        """
        if not self._store.is_there:
            return 0
        database = self._store.get()
        with database.read() as tx:
            followed = graph_meta.get_meta(tx, graph_meta.FOLLOWED)
            told = graph.evidence_ids(tx) if followed is None else ()
        with self._state.read() as tx:
            changes = tx.counters().changes
            if followed == str(changes) or database.read_only:
                return 0
            gone = chunk_ids.not_stored(tx, told)
            if followed is not None:
                gone = chunk_ids.removed_since(tx, int(followed))
        with database.write() as tx:
            heard = graph.forget_evidence(tx, gone)
            graph_meta.set_meta(tx, graph_meta.FOLLOWED, str(changes))
        return heard

    def forget_gone(self, chunk_ids_read: Sequence[str]) -> None:
        """Forget what chunks told that were deleted while they were read."""
        with self._state.read() as tx:
            there = chunk_ids.referred(tx, chunk_ids_read, partitions=None)
        gone = set(chunk_ids_read) - {one.id for one in there}
        if gone:
            with self._store.get().write() as tx:
                graph.forget_evidence(tx, gone)

    def scrub(self) -> str | None:
        """Leave nothing that was forgotten in the graph's files; return where there is still.

        Raises:
            StorageError: The graph's database failed.
        """
        self.sync()
        return self._store.get().scrub() if self._store.is_there else None

    def embed_names(self) -> int:
        """Embed the names that have no vector yet; return how many there were.

        Raises:
            EmbeddingError: The embedder failed.
        """
        return self._names.embed_new()

    def has_new_names(self) -> bool:
        """Return whether some names have no vector yet."""
        return self._names.is_behind()

    def queue_sync(self) -> None:
        """Queue the job that catches up with the memory, unless it is queued."""
        with self._state.read() as tx:
            if job_rows.holder(tx, SYNC_KEY) is not None:
                return
        with self._state.write() as tx:
            jobs.put(tx, sync_job(), now=self._clock())

    def queue_released(self) -> None:
        """Queue the reading of memories that were quarantined when they were to be read."""
        with self._state.read() as tx:
            is_waiting = bool(skipped(tx))
        if is_waiting:
            self.queue_sync()

    def _synced(self) -> Database:
        self.sync()
        return self._store.get()

    def _silenced(self) -> frozenset[str]:
        """Return the evidence that tells nothing now, see :func:`silenced`."""
        with self._state.read() as tx:
            counters = tx.counters()
            state = counters.changes, counters.commits
            if self._silent[0] != state:
                self._silent = state, silenced(tx)
            return self._silent[1]

    def _readable(self, actor: Actor | None) -> tuple[str, ...]:
        return visibility.readable_partitions(actor or self._actor)

    def _writable(self, actor: Actor) -> tuple[str, ...]:
        if actor.is_admin:
            return visibility.readable_partitions(actor)
        return (partition_key("personal", visibility.owner_of("personal", actor)),)
