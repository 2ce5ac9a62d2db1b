"""The graph follows the memory in the background: the jobs ``graph_sync`` and ``graph_extract``."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Any

from langchain_memengine.errors import EmbeddingModelChangedError, ExtractionError, JobError
from langchain_memengine.graph.knowledge_graph import KnowledgeGraph
from langchain_memengine.graph.reading import Piece, TextReader, chunk_piece
from langchain_memengine.storage import chunk_ids, graph_jobs, jobs
from langchain_memengine.storage.chunk_ids import ReadableChunk
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.graph_jobs import MEMORIES, extract_job, sync_job
from langchain_memengine.storage.graph_values import Evidence
from langchain_memengine.storage.job_values import Effect, Job, JobContext
from langchain_memengine.storage.transaction import Transaction

logger = logging.getLogger(__name__)

BATCH_CHUNKS = 16
"""Chunks that one job reads, at most, so that none takes long."""

READ_ORIGINS = ("user", "tool", "file", "app", "llm_extract")
"""Whose words are read: everybody's but the assistant's, which may be wrong."""

_READ = "graph_read"


class GraphSync:
    """The handler of ``graph_sync`` jobs.

    It forgets what deleted memories told, embeds new names, and queues the reading of new texts.

    Args:
        database: The store.
        graph: Its graph.
        reads_all: Whether every text of the store is to be read.
    """

    def __init__(self, database: Database, graph: KnowledgeGraph, *, reads_all: bool) -> None:
        self._database = database
        self._graph = graph
        self._reads_all = reads_all

    def __call__(self, _job: Job, context: JobContext) -> Effect:
        """Bring the graph up to date; return what queues the rest.

        Raises:
            EmbeddingError: The embedder failed.
            JobError: The store belongs to another embedding model.
            StorageError: The graph's database failed.
        """
        with self._database.read() as tx:
            changes = tx.counters().changes
        forgotten = self._graph.sync()
        try:
            embedded = self._graph.embed_names()
        except EmbeddingModelChangedError as error:
            raise JobError(str(error)) from error
        new, skipped = self._unread()
        logger.info(
            "graph: %d memories forgotten, %d names embedded, %d texts to read",
            forgotten, embedded, len(new),
        )  # fmt: skip

        def apply(tx: Transaction) -> None:
            for batch in _batches(new):
                jobs.put(tx, extract_job([one.id for one in batch]), now=context.now)
            graph_jobs.set_skipped(tx, skipped)
            if self._reads_all:
                tx.set_meta(_READ, str(changes))
            is_late = self._reads_all and tx.counters().changes != changes
            if is_late or self._graph.has_new_names():
                jobs.put(tx, sync_job(), now=context.now)

        return apply

    def _unread(self) -> tuple[list[ReadableChunk], list[str]]:
        """Return the chunks to read, and the ids of those that are not while quarantined."""
        with self._database.read() as tx:
            found = chunk_ids.readable(tx, graph_jobs.skipped(tx))
            if self._reads_all:
                seen = int(tx.get_meta(_READ) or 0)
                found += chunk_ids.changed_since(tx, seen, origins=READ_ORIGINS)
            aside = chunk_ids.set_aside(tx)
        by_evidence = {Evidence(one.id, one.partition_key): one for one in found}
        read = self._graph.read_already({one: c.text_hash for one, c in by_evidence.items()})
        unread = [chunk for one, chunk in by_evidence.items() if one not in read]
        allowed = [chunk for chunk in unread if chunk.id not in aside]
        return allowed, [chunk.id for chunk in unread if chunk.id in aside]


class GraphExtract:
    """The handler of ``graph_extract`` jobs: a chat model reads memories.

    Args:
        database: The store.
        reader: Reads pieces into its graph.
    """

    def __init__(self, database: Database, reader: TextReader) -> None:
        self._database = database
        self._reader = reader

    def __call__(self, job: Job, context: JobContext) -> Effect | None:
        """Read what nobody has read yet; what is read is kept at once, and asked for once.

        What is quarantined is left until it is released.

        Raises:
            JobError: The job names no memories.
            ExtractionError: The model's replies about a memory cannot be read; others are read.
            ChatModelError: It failed or refused.
            StorageError: A database failed.
        """
        pieces, skipped = self._pieces(_memories(job))
        new, _ = self._reader.recall(pieces)
        unreadable: ExtractionError | None = None
        for piece in new:
            if context.is_given_up():
                return None
            try:
                self._reader.read(piece)
            except ExtractionError as error:
                unreadable = error
        if unreadable is not None:
            raise unreadable

        def apply(tx: Transaction) -> None:
            graph_jobs.set_skipped(tx, [*graph_jobs.skipped(tx), *skipped])

        return apply if skipped else None

    def _pieces(self, memories: Sequence[str]) -> tuple[list[Piece], list[str]]:
        """Return the chunks, as visible as they are, and the ids of quarantined ones.

        What was deleted meanwhile is left out.
        """
        with self._database.read() as tx:
            found = chunk_ids.referred(tx, memories, partitions=None)
            aside = chunk_ids.set_aside(tx)
        pieces = [
            chunk_piece(Evidence(one.id, one.partition_key, one.commit_id), one)
            for one in found
            if one.id not in aside
        ]
        return pieces, [one.id for one in found if one.id in aside]


def _memories(job: Job) -> list[str]:
    named: Any = job.payload.get(MEMORIES)
    if not isinstance(named, list) or not all(isinstance(one, str) for one in named):
        raise JobError(f"Job {job.num} names no memories to read. Cancel it.")
    return named


def _batches(found: Sequence[ReadableChunk]) -> Iterator[Sequence[ReadableChunk]]:
    return (found[i : i + BATCH_CHUNKS] for i in range(0, len(found), BATCH_CHUNKS))
