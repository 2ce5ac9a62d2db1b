"""Texts that were stored without a vector: the job that makes up for them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import datetime

from langchain_memengine.errors import EmbeddingModelChangedError, JobError
from langchain_memengine.retrieval.embedding_cache import EmbeddingCache
from langchain_memengine.storage import embeddings, job_rows, jobs
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.job_values import Effect, Job, JobContext, NewJob
from langchain_memengine.storage.transaction import Transaction

logger = logging.getLogger(__name__)

BATCH_TEXTS = 512
"""Texts one job embeds, at most; the rest is the next job's, so that none takes long."""

EMBED_KEY = "embed"
EMBED_ATTEMPTS = 20
"""With the default back-off that outlasts an outage of an hour and a half."""


class Backlog:
    """The texts of a store that wait for an embedding.

    Attributes:
        turn: Held by whoever embeds them in this process, so that no text is embedded twice.
    """

    def __init__(
        self, database: Database, embedding: EmbeddingCache, clock: Callable[[], datetime]
    ) -> None:
        self._database = database
        self._embedding = embedding
        self._clock = clock
        self.turn = threading.Lock()

    def queue(self, tx: Transaction) -> None:
        """Put the job that embeds what lacks a vector, unless it is queued already."""
        jobs.put(tx, _embed_job(), now=self._clock())

    def settle(self, tx: Transaction) -> None:
        """Take the waiting job for done, because everything has a vector without it."""
        jobs.settle(tx, EMBED_KEY, now=self._clock())

    def is_queued(self, tx: Transaction) -> bool:
        """Return whether the job is queued or being done."""
        return job_rows.holder(tx, EMBED_KEY) is not None

    def is_being_worked_off(self, tx: Transaction) -> bool:
        """Return whether a worker, here or in another process, is embedding right now."""
        job = job_rows.holder(tx, EMBED_KEY)
        return job is not None and job.lease_until is not None and job.lease_until > self._clock()

    def embed_batch(self, _job: Job, _context: JobContext) -> Effect:
        """Embed some of the texts that lack a vector: the handler of ``embed`` jobs.

        Raises:
            EmbeddingError: The embedder failed before it had embedded any.
            JobError: The store belongs to another embedding model.
        """
        with self.turn:
            model = self._model()
            with self._database.read() as tx:
                missing = dict(embeddings.missing(tx, model, limit=BATCH_TEXTS))
            answer = self._embedding.embed(missing)
        if answer.error is not None and not answer.vectors:
            raise answer.error
        if answer.hopeless:
            logger.warning("%d texts mean nothing to the embedder", answer.hopeless)

        def apply(tx: Transaction) -> None:
            embeddings.put(tx, answer.vectors, model, touch=True)
            if embeddings.count_missing(tx, model):
                self.queue(tx)
            else:
                self._embedding.mark_complete(tx, model)

        return apply

    def _model(self) -> str:
        try:
            identity = self._embedding.verify()
        except EmbeddingModelChangedError as error:
            raise JobError(str(error)) from error
        with self._database.read() as tx:
            # Another process may have re-embedded the store since this one verified its model.
            if self._embedding.model(tx) != identity:
                raise JobError("The store was re-embedded with another model. Open it again.")
        return identity


def _embed_job() -> NewJob:
    return NewJob("embed", dedupe_key=EMBED_KEY, max_attempts=EMBED_ATTEMPTS)
