"""Store chunks with their embeddings, and make up for embeddings that are missing.

Embedding comes first, then one transaction; the derived indexes follow the change counter by
themselves. An embedder that is down costs embeddings, never text.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import datetime

from langchain_memengine.answers import IndexReport
from langchain_memengine.errors import EmbeddingError, EmbeddingModelChangedError
from langchain_memengine.retrieval.backlog import BATCH_TEXTS, Backlog
from langchain_memengine.retrieval.embedding_cache import EmbeddingCache, FloatArray
from langchain_memengine.retrieval.sources import TextChunks
from langchain_memengine.retrieval.tally import Tally
from langchain_memengine.retrieval.traffic import Traffic
from langchain_memengine.storage import chunks, embeddings
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.text.tokens import estimate_tokens
from langchain_memengine.types import Progress


class ChunkWriter:
    """Writes chunk rows and vectors.

    Attributes:
        backlog: The texts that were stored without a vector.
    """

    def __init__(
        self,
        database: Database,
        embedding: EmbeddingCache,
        clock: Callable[[], datetime],
        traffic: Traffic,
    ) -> None:
        self._database = database
        self._traffic = traffic
        self._embedding = embedding
        self._clock = clock
        self.backlog = Backlog(database, embedding, clock)

    def store(
        self,
        new: Mapping[str, TextChunks],
        tally: Tally,
        also: Callable[[Transaction], None] | None = None,
    ) -> None:
        """Make these the chunks of their sources, with vectors, in one transaction.

        Args:
            new: Chunks by source; none removes the source's.
            tally: Counts what was done.
            also: Done in the same transaction.

        Raises:
            StorageError: The database failed; nothing of this call is stored.
        """
        change = self.prepared(new, tally)
        self._traffic.give_way()
        with self._database.write() as tx:
            change(tx)
            if also is not None:
                also(tx)

    def prepared(
        self, new: Mapping[str, TextChunks], tally: Tally
    ) -> Callable[[Transaction], None]:
        """Embed chunks; return what stores them in the caller's transaction, see :meth:`store`."""
        unknown = self._unknown(new)
        reused = {c.hash for pairs in new.values() for c, _ in pairs} - unknown.keys()
        tally.chunks += sum(map(len, new.values()))
        if self._embedding.enabled and tally.outage is None:
            tally.reused += sum(c.hash not in unknown for pairs in new.values() for c, _ in pairs)
        vectors = self._embed(unknown, tally)

        def change(tx: Transaction) -> None:
            chunks.replace_sources(tx, new, now=self._clock())
            if vectors:
                # Other chunks of the same texts may have waited for them since an outage.
                are_awaited = not self._embedding.is_complete(tx)
                embeddings.put(tx, vectors, self._embedding.verify(), touch=are_awaited)
            is_lacking = len(vectors) < len(unknown) or not self._are_embedded(tx, reused)
            if is_lacking or not self._embedding.enabled:
                self._embedding.mark_incomplete(tx)
            if is_lacking and _may_pass(tally.outage):
                self.backlog.queue(tx)

        return change

    def count_only(self, new: Mapping[str, TextChunks], tally: Tally) -> None:
        """Count what :meth:`store` would write and embed."""
        unknown = self._unknown(new)
        tally.chunks += sum(map(len, new.values()))
        tally.embedded += len(unknown)
        tally.tokens += sum(map(estimate_tokens, unknown.values()))

    def embed_pending(
        self, tally: Tally, progress: Progress | None = None, *, wait: bool = False
    ) -> None:
        """Embed stored texts that have no vector yet, from an earlier outage or another model.

        Args:
            tally: Counts what was done.
            progress: Called with (texts done, texts to do).
            wait: Embed them in any case, after whoever is doing so now; else leave that to them.
        """
        if not self._embedding.enabled or not self.backlog.turn.acquire(blocking=wait):
            return
        try:
            self._embed_pending(tally, progress, wait=wait)
        finally:
            self.backlog.turn.release()

    def _embed_pending(self, tally: Tally, progress: Progress | None, *, wait: bool) -> None:
        with self._database.read() as tx:
            if self._embedding.is_complete(tx):
                return
            model = self._embedding.model(tx)
            tally.outage = tally.outage or self._embedding.model_change(tx)
            total = embeddings.count_missing(tx, model) if model else chunks.count(tx)
        if model is None and total:
            model = self._first_model(tally)
        done = 0
        while model and done < total and tally.outage is None:
            with self._database.read() as tx:
                if not wait and self.backlog.is_being_worked_off(tx):
                    return
                missing = embeddings.missing(tx, model, limit=BATCH_TEXTS)
            vectors = self._embed(dict(missing), tally)
            if not vectors:
                break
            with self._database.write() as tx:
                embeddings.put(tx, vectors, model, touch=True)
            done += len(vectors)
            if progress is not None:
                progress(min(done, total), total)
        if model and tally.outage is None:
            self._note_if_complete(model)
        elif done < total:
            self._leave_to_worker(tally)

    def report(self, tally: Tally, *, dry_run: bool = False) -> IndexReport:
        """Return the report of what was counted, with how much has no embedding yet."""
        with self._database.read() as tx:
            if not self._embedding.enabled or self._embedding.is_complete(tx):
                pending = 0
            else:
                model = self._embedding.model(tx)
                pending = embeddings.count_missing(tx, model) if model else chunks.count(tx)
        return tally.report(pending=pending, dry_run=dry_run)

    def _unknown(self, new: Mapping[str, TextChunks]) -> dict[str, str]:
        """Return those texts, by hash, that have no vector of the current model yet."""
        texts = {chunk.hash: chunk.text for pairs in new.values() for chunk, _ in pairs}
        if not self._embedding.enabled or not texts:
            return {}
        with self._database.read() as tx:
            model = self._embedding.model(tx)
            known = embeddings.known_hashes(tx, list(texts), model) if model else set()
        return {text_hash: text for text_hash, text in texts.items() if text_hash not in known}

    def _are_embedded(self, tx: Transaction, text_hashes: Collection[str]) -> bool:
        """Return whether texts that had a vector still do: others may forget meanwhile."""
        if not self._embedding.enabled or not text_hashes:
            return True
        model = self._embedding.model(tx)
        known = embeddings.known_hashes(tx, sorted(text_hashes), model) if model else ()
        return len(known) == len(text_hashes)

    def _embed(self, texts: Mapping[str, str], tally: Tally) -> dict[str, FloatArray]:
        if not texts or tally.outage is not None:
            return {}
        answer = self._embedding.embed(texts)
        tally.embedded += len(answer.vectors) - answer.hopeless
        tally.tokens += sum(estimate_tokens(texts[text_hash]) for text_hash in answer.vectors)
        tally.hopeless += answer.hopeless
        tally.outage = answer.error
        return answer.vectors

    def _first_model(self, tally: Tally) -> str | None:
        """Return the model of a store whose first texts met an outage, if that is over."""
        try:
            return None if tally.outage else self._embedding.verify()
        except EmbeddingError as error:
            tally.outage = error
            return None

    def _note_if_complete(self, model: str) -> None:
        """Spare later syncs the count, which reads every chunk."""
        if self._database.read_only:
            return
        with self._database.write() as tx:
            if embeddings.count_missing(tx, model) == 0:
                self._embedding.mark_complete(tx, model)
                self.backlog.settle(tx)

    def _leave_to_worker(self, tally: Tally) -> None:
        """Queue what is missing, without writing again in each sync of an outage."""
        with self._database.read() as tx:
            is_queued = self.backlog.is_queued(tx)
        if not is_queued and _may_pass(tally.outage):
            with self._database.write() as tx:
                self.backlog.queue(tx)


def _may_pass(outage: EmbeddingError | None) -> bool:
    """Return whether a worker may have more luck; another model is for the user to settle."""
    return not isinstance(outage, EmbeddingModelChangedError)
