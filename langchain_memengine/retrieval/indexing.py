"""Keep the rows of a store up to date with its files and documents."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from langchain_memengine.config import MemEngineConfig
from langchain_memengine.errors import ConfigurationError
from langchain_memengine.retrieval.chunk_writer import ChunkWriter
from langchain_memengine.retrieval.embedding_cache import EmbeddingCache
from langchain_memengine.retrieval.file_plan import (
    PreparedFile,
    gone_files,
    is_unchanged,
    plan_files,
    prepare_file,
)
from langchain_memengine.retrieval.sources import Source, TextChunks
from langchain_memengine.retrieval.tally import Tally
from langchain_memengine.storage import chunks, embeddings, files
from langchain_memengine.storage.database import Database, Transaction
from langchain_memengine.storage.files import IndexedFile
from langchain_memengine.storage.job_values import Handler
from langchain_memengine.types import IndexReport, Progress
from langchain_memengine.workspace.files import FileStat

logger = logging.getLogger(__name__)

BATCH_CHUNKS = 512
"""Chunks stored in one transaction, about: the file that exceeds it is still in."""

CUT_VERSION = 2
"""Raised when the same text is cut into other chunks, so that files are indexed again."""

_CUT = "chunking"


class Indexer:
    """Keeps the rows of a store up to date with its sources and documents."""

    def __init__(
        self,
        database: Database,
        embedding: EmbeddingCache,
        config: MemEngineConfig,
        clock: Callable[[], datetime],
    ) -> None:
        self._database = database
        self._embedding = embedding
        self._config = config
        self._clock = clock
        self._writer = ChunkWriter(database, embedding, clock)
        self._cut = f"{CUT_VERSION} {config.chunk_tokens} {config.overlap_tokens}"

    def sync(
        self,
        sources: Sequence[Source],
        *,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> IndexReport:
        """Index what changed in the sources since the last time.

        Args:
            sources: Where to look.
            dry_run: Only count what would be done; nothing is embedded or written.
            progress: Called with (files done, files to do).

        Raises:
            StorageError: The database failed; what was stored before stays.
        """
        tally = Tally()
        known = [self._known(source) for source in sources]
        plans = [
            plan_files(source.scan(), rows) for source, rows in zip(sources, known, strict=True)
        ]
        total = sum(len(plan.stale) for plan in plans)
        done = 0
        for source, rows, plan in zip(sources, known, plans, strict=True):
            tally.unchanged += plan.unchanged
            tally.skipped += plan.skipped
            tally.failed += plan.failed
            tally.removed += len(plan.gone)
            if not dry_run:
                self._remove(source, plan.gone)
            for batch in self._batches(source, plan.stale, rows, tally):
                self._store(source, batch, tally, dry_run=dry_run)
                done += len(batch)
                if progress is not None:
                    progress(min(done, total), total)
        if not dry_run:
            self._note_cut(tally)
            self._writer.embed_pending(tally)
        report = self._writer.report(tally, dry_run=dry_run)
        logger.info(
            "indexed %d files, %d chunks, embedded %d texts, %d removed, %d skipped, %d failed",
            report.indexed, report.chunks, report.embedded, report.removed,
            len(report.skipped), len(report.failed),
        )  # fmt: skip
        return report

    def index_file(self, source: Source, path: str) -> bool:
        """Index one file of a source; return whether it was stale.

        Raises:
            ConfigurationError: The source has no such file, or it is no text.
        """
        found = source.scan()
        stat = next((stat for stat in found.files if stat.path == path), None)
        known = self._known(source)
        gone = [row for row in gone_files(found, known) if row.path == path]
        if gone:
            self._remove(source, gone)
            return True
        if stat is None:
            left_out = [*found.skipped, *found.failed]
            reasons = [problem.reason for problem in left_out if problem.path == path]
            why = reasons[0] if reasons else "it does not exist, or the patterns leave it out"
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
    ) -> Iterator[list[PreparedFile]]:
        batch: list[PreparedFile] = []
        size = 0
        for stat in stale:
            prepared = prepare_file(source, stat, known.get(stat.path), self._config, tally)
            if prepared is None:
                continue
            batch.append(prepared)
            size += max(1, len(prepared.chunks or ()))
            if size >= BATCH_CHUNKS:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def _store(
        self, source: Source, batch: Sequence[PreparedFile], tally: Tally, *, dry_run: bool
    ) -> None:
        new = {file.row.source: file.chunks for file in batch if file.chunks is not None}
        if dry_run:
            self._writer.count_only(new, tally)
            return
        rows = [file.row for file in batch]

        def note_files(tx: Transaction) -> None:
            files.put(tx, source.workspace_id, rows, now=self._clock())
            if tx.get_meta(_CUT) is None:
                tx.set_meta(_CUT, self._cut)

        self._writer.store(new, tally, note_files)

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
