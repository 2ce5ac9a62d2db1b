"""Keep the rows of a store up to date with its files and documents."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from langchain_memengine.answers import IndexReport
from langchain_memengine.config import MemEngineConfig
from langchain_memengine.errors import ConfigurationError
from langchain_memengine.retrieval.chunk_writer import ChunkWriter
from langchain_memengine.retrieval.embedding_cache import EmbeddingCache
from langchain_memengine.retrieval.file_plan import (
    PreparedFile,
    SourcePlan,
    SyncPlan,
    count_file,
    count_plan,
    gone_files,
    is_unchanged,
    plan_files,
    scan_nameable,
    why_left_out,
)
from langchain_memengine.retrieval.file_reader import MANY_FILES, FileReader
from langchain_memengine.retrieval.sources import Source, TextChunks
from langchain_memengine.retrieval.tally import Tally
from langchain_memengine.retrieval.traffic import Traffic
from langchain_memengine.storage import chunks, embeddings, files
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.files import IndexedFile
from langchain_memengine.storage.job_values import Handler
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.types import Progress
from langchain_memengine.workspace.files import FileStat

logger = logging.getLogger(__name__)

BATCH_CHUNKS = 512
"""Chunks stored in one transaction, about: the file that exceeds it is still in."""

BUSY_BATCH_CHUNKS = 8
"""The same while there are searches: each of them may have to wait for a batch."""

CUT_VERSION = 4
"""Raised when the same text is cut into other chunks, so that files are indexed again."""

_CUT = "chunking"


class _Batch(NamedTuple):
    """Files to be stored in one transaction, and the words that are known of their texts."""

    files: list[PreparedFile]
    words: dict[str, str]


class Indexer:
    """Keeps the rows of a store up to date with its sources and documents."""

    def __init__(
        self,
        database: Database,
        embedding: EmbeddingCache,
        config: MemEngineConfig,
        clock: Callable[[], datetime],
        traffic: Traffic,
    ) -> None:
        self._database = database
        self._embedding = embedding
        self._clock = clock
        self._traffic = traffic
        self._reader = FileReader(config, traffic)
        self._at_many = 0
        self._writer = ChunkWriter(database, embedding, clock, traffic)
        self._cut = f"{CUT_VERSION} {config.chunk_tokens} {config.overlap_tokens}"
        if not config.split_on_headers:
            self._cut += " across headers"

    @property
    def is_at_many(self) -> bool:
        """Whether so many files are being indexed that nobody should wait for them."""
        return self._at_many > 0

    def plan(self, sources: Sequence[Source]) -> SyncPlan:
        """Find out what changed in the sources since the last time; no file is opened.

        Raises:
            ConfigurationError: A folder cannot be listed.
            StorageError: The database failed.
        """
        parts = []
        for source in sources:
            known = self._known(source)
            found = scan_nameable(source, self._database.key_problem)
            parts.append(SourcePlan(source, known, plan_files(found, known)))
        return SyncPlan(tuple(parts))

    def carry_out(
        self, plan: SyncPlan, *, dry_run: bool = False, progress: Progress | None = None
    ) -> IndexReport:
        """Index what changed.

        Args:
            plan: What is to be done.
            dry_run: Only count what would be done; nothing is embedded or written.
            progress: Called with (files done, files to do).

        Raises:
            StorageError: The database failed; what was stored before stays.
        """
        tally = Tally()
        total, done = plan.stale, 0
        is_many = total >= MANY_FILES
        self._at_many += is_many
        try:
            for part in plan.parts:
                count_plan(part.files, tally)
                if not dry_run:
                    self._remove(part.source, part.files.gone)
                for batch in self._batches(part.source, part.files.stale, part.known, tally):
                    self._store(part.source, batch, tally, dry_run=dry_run)
                    done += len(batch.files)
                    if progress is not None:
                        progress(min(done, total), total)
            if not dry_run:
                self._note_cut(tally)
                self._writer.embed_pending(tally)
        finally:
            self._at_many -= is_many
            self._traffic.words.expect({})
        report = self._writer.report(tally, dry_run=dry_run)
        logger.info(
            "indexed %d files, %d chunks, embedded %d texts, %d removed, %d skipped, %d failed",
            report.indexed, report.chunks, report.embedded, report.removed,
            len(report.skipped), len(report.failed),
        )  # fmt: skip
        for told in report.suspicious:
            logger.warning("%s is untrusted. %s", told.path, told.reason)
        return report

    def index_file(self, source: Source, path: str) -> bool:
        """Index one file of a source; return whether it was stale.

        Raises:
            ConfigurationError: The source has no such file, or it is no text.
        """
        found = scan_nameable(source, self._database.key_problem)
        stat = next((stat for stat in found.files if stat.path == path), None)
        known = self._known(source)
        gone = [row for row in gone_files(found, known) if row.path == path]
        if gone:
            self._remove(source, gone)
            return True
        if stat is None:
            why = why_left_out(path, found, known)
            why = why or "it does not exist, or the patterns leave it out"
            raise ConfigurationError(f"{path!r} cannot be indexed: {why}.")
        if is_unchanged(stat, known.get(path)):
            return False
        tally = Tally()
        for batch in self._batches(source, [stat], known, tally):
            self._store(source, batch, tally, dry_run=False)
        problems = [*tally.skipped, *tally.failed]
        if problems:
            raise ConfigurationError(f"{path!r} cannot be indexed: {problems[0].reason}.")
        return tally.indexed > 0

    def why_left_out(self, source: Source, path: str) -> str | None:
        """Return why nothing of a file that has no chunks can be found; ``None`` if it is none."""
        found = scan_nameable(source, self._database.key_problem)
        return why_left_out(path, found, self._known(source))

    def put(self, new: Mapping[str, TextChunks], progress: Progress | None = None) -> IndexReport:
        """Make these the chunks of their sources; every batch is stored as a whole."""
        tally = Tally()
        done = 0
        for batch in _document_batches(new):
            self._writer.store(batch, tally)
            done += len(batch)
            tally.indexed += len(batch)
            if progress is not None:
                progress(done, len(new))
        return self._writer.report(tally)

    def put_with(self, new: Mapping[str, TextChunks], also: Callable[[Transaction], None]) -> None:
        """Make these the chunks of their sources and do ``also``, all in one transaction.

        Raises:
            StorageError: The database failed; nothing is stored, and ``also`` was not done.
        """
        self._writer.store(new, Tally(), also)

    def prepared(self, new: Mapping[str, TextChunks]) -> Callable[[Transaction], None]:
        """Embed chunks; return what makes them those of their sources, for a transaction."""
        return self._writer.prepared(new, Tally(indexed=len(new)))

    def delete(self, sources: Sequence[str]) -> None:
        """Remove all chunks of these sources."""
        with self._database.write() as tx:
            chunks.replace_sources(tx, {source: [] for source in sources}, now=self._clock())

    @property
    def embed_batch(self) -> Handler:
        """The handler of the jobs that make up for embeddings that an outage cost."""
        return self._writer.backlog.embed_batch

    def reembed(self, progress: Progress | None = None) -> IndexReport:
        """Embed every stored text with the current model and drop other models' vectors.

        Raises:
            EmbeddingError: There is no embedder, or it failed before anything was changed.
        """
        self._embedding.adopt_model()
        tally = Tally()
        self._writer.embed_pending(tally, progress, wait=True)
        if tally.outage is None:
            with self._database.write() as tx:
                embeddings.keep_only(tx, self._embedding.verify())
        return self._writer.report(tally)

    def _known(self, source: Source) -> dict[str, IndexedFile]:
        """Return the indexed files; files cut in another way count as changed."""
        with self._database.read() as tx:
            known = files.of_workspace(tx, source.workspace_id)
            if tx.get_meta(_CUT) in {None, self._cut}:
                return known
        return {path: replace(row, size=-1, hash="") for path, row in known.items()}

    def _note_cut(self, tally: Tally) -> None:
        """Note how all files are cut now; one that failed must be looked at again."""
        with self._database.read() as tx:
            is_noted = tx.get_meta(_CUT) in {None, self._cut}
        if not (is_noted or tally.failed):
            with self._database.write() as tx:
                tx.set_meta(_CUT, self._cut)

    def _batches(
        self,
        source: Source,
        stale: Sequence[FileStat],
        known: Mapping[str, IndexedFile],
        tally: Tally,
    ) -> Iterator[_Batch]:
        """Prepare files and yield them in batches, which are small while somebody searches."""
        batch = _Batch([], {})
        size, before = 0, self._traffic.searches
        latest = before
        for prepared, words in self._reader.prepare(source, stale, known):
            for file in prepared:
                count_file(file, tally)
                size += max(1, len(file.chunks or ()))
            batch.files.extend(prepared)
            batch.words.update(words)
            # Searches during the batch before count, too: they tend to come one after the other.
            is_busy = self._traffic.searches > before
            if size >= (BUSY_BATCH_CHUNKS if is_busy else BATCH_CHUNKS):
                before, latest = latest, self._traffic.searches
                yield batch
                batch, size = _Batch([], {}), 0
        if batch.files:
            yield batch

    def _store(self, source: Source, batch: _Batch, tally: Tally, *, dry_run: bool) -> None:
        rows = [file.row for file in batch.files if file.row is not None]
        new = {
            file.row.source: file.chunks
            for file in batch.files
            if file.row is not None and file.chunks is not None
        }
        if dry_run:
            self._writer.count_only(new, tally)
            return

        def note_files(tx: Transaction) -> None:
            files.put(tx, source.workspace_id, rows, now=self._clock())
            if tx.get_meta(_CUT) is None:
                tx.set_meta(_CUT, self._cut)

        self._traffic.words.expect(batch.words)  # a search may follow before this thread does
        self._writer.store(new, tally, note_files)
        self._traffic.give_way()
        self._traffic.follow()

    def _remove(self, source: Source, gone: Sequence[IndexedFile]) -> None:
        if gone:
            with self._database.write() as tx:
                chunks.replace_sources(tx, {row.source: [] for row in gone}, now=self._clock())
                files.forget(tx, source.workspace_id, [row.path for row in gone])


def _document_batches(new: Mapping[str, TextChunks]) -> Iterator[dict[str, TextChunks]]:
    batch: dict[str, TextChunks] = {}
    size = 0
    for source, pairs in new.items():
        batch[source] = pairs
        size += len(pairs)
        if size >= BATCH_CHUNKS:
            yield batch
            batch, size = {}, 0
    if batch:
        yield batch
