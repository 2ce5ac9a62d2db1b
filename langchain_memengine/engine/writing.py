"""Index files, remember and forget texts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

from langchain_memengine.answers import IndexReport
from langchain_memengine.engine.graph_work import GraphWork
from langchain_memengine.engine.reading_records import texts_named
from langchain_memengine.progress import shown_progress
from langchain_memengine.retrieval import documents, visibility
from langchain_memengine.retrieval.file_plan import SyncPlan
from langchain_memengine.retrieval.sources import TextChunks
from langchain_memengine.storage import chunks, files
from langchain_memengine.types import (
    Actor,
    Origin,
    Progress,
    Provenance,
    Scope,
)
from langchain_memengine.workspace.layout import Layout
from langchain_memengine.workspace.watcher import OnSuccess


class Writing(GraphWork):
    """The chapter of the engine that changes what is stored."""

    def sync(self, *, dry_run: bool = False, progress: Progress | bool = False) -> IndexReport:
        """Index the files that changed; return what was done and what was left out.

        Args:
            dry_run: Only count: what would be embedded, and how many tokens that are.
            progress: ``True`` shows a bar; or a callback for (files done, files to do).

        Raises:
            ConfigurationError: A folder cannot be listed.
            StorageError: The database failed; what was stored before stays.
        """
        with self._sync_lock, shown_progress(progress, "Indexing", unit="file") as callback:
            if dry_run:
                plan = self._indexer.plan(self._sources)
                return self._indexer.carry_out(plan, dry_run=True, progress=callback)
            with self._pending.syncing() as succeed:
                plan = self._indexer.plan(self._sources)
                report = self._carry_out(plan, succeed, callback)
        if report.indexed or report.removed:
            self._tell_graph()
        return report

    def _carry_out(
        self, plan: SyncPlan, succeed: OnSuccess, progress: Progress | None = None
    ) -> IndexReport:
        """Index what is planned and note that it was.

        The caller holds the lock, and tells the graph when it no longer does: searches that want
        the lock must not wait for another database.
        """
        report = self._indexer.carry_out(plan, progress=progress)
        self._last_scan = time.monotonic()
        succeed(report, self._last_scan, self._clock())
        return report

    def index_file(self, path: str | Path) -> bool:
        """Index one file by its path, absolute or within the root; return whether it was stale.

        Raises:
            ConfigurationError: There is no such file in the root, or it is no text.
        """
        name = PurePath(path).as_posix()
        if self.root is not None and Path(path).is_absolute():
            name = Layout(self.root).name(Path(path))
        with self._sync_lock:
            was_stale = self._indexer.index_file(self._sources[0], name)
        if was_stale:
            self._tell_graph()
        return was_stale

    def indexed_files(self) -> list[str]:
        """Return the paths of all indexed files, sorted; those of named sources come last."""
        with self._database.read() as tx:
            return [
                path
                for source in self._sources
                for path, row in sorted(files.of_workspace(tx, source.workspace_id).items())
                if row.problem is None
            ]

    def reembed(self, *, progress: Progress | bool = False) -> IndexReport:
        """Embed all stored texts with the current model, after it was changed.

        Raises:
            EmbeddingError: There is no embedder, or it does not answer; nothing was changed.
        """
        with self._sync_lock, shown_progress(progress, "Embedding", unit="text") as callback:
            return self._indexer.reembed(callback)

    def add_texts(
        self,
        texts: Sequence[str],
        metadatas: Sequence[Mapping[str, Any] | None] | None = None,
        *,
        ids: Sequence[str | None] | None = None,
        scope: Scope | None = None,
        origin: Origin = "app",
        actor: Actor | None = None,
        progress: Progress | bool = False,
    ) -> list[str]:
        """Remember texts; return their ids. When this returns, they are on disk.

        Args:
            texts: Each becomes one chunk or more. Blank ones are kept out of the index.
            metadatas: Values to filter by. A date under ``event_at``, ``timestamp``, ``time``,
                ``created_at`` or ``date`` is when it happened, for ages; else that is now.
            ids: The same id again replaces the text; twice in one call, the last one wins.
            scope: Who may read them; default: everyone if the actor is an admin, else the actor.
            origin: Whose words they are; it decides how far they are trusted. ``personal`` says
                who reads them: they are no facts about the person.
            actor: Who adds them.
            progress: ``True`` shows a bar; or a callback for (texts done, texts to do).

        Raises:
            ConfigurationError: The lists differ in length, or metadata cannot be stored.
            ScopeError: The actor may not write to the scope.
            StorageError: The database failed; whole batches before it are stored.
        """
        new = documents.new_documents(texts, metadatas, ids)
        pieces = dict(self._pieces(new, scope, actor, origin))
        with shown_progress(progress, "Remembering", unit="text") as callback:
            self._indexer.put(pieces, callback)
        self._tell_graph()
        return [document.id for document in new]

    def _pieces(
        self,
        new: Sequence[documents.NewDocument],
        scope: Scope | None,
        actor: Actor | None,
        origin: Origin = "app",
    ) -> list[tuple[str, TextChunks]]:
        """Return the source URI of each text with its chunks.

        Raises:
            ScopeError: The actor may not write to the scope.
        """
        actor = actor or self.actor
        scope = scope or visibility.default_scope(actor)
        visibility.require_write(scope, actor)
        place = Provenance(
            scope=scope,
            owner=visibility.owner_of(scope, actor),
            origin=origin,
            trust=visibility.trust_of(origin, None, has_evidence=False),
        )
        return [
            documents.chunks_of_document(
                document,
                place,
                now=self._clock(),
                chunk_tokens=self.config.chunk_tokens,
                overlap_tokens=self.config.overlap_tokens,
            )
            for document in new
        ]

    def add_documents(
        self,
        new: Sequence[documents.DocumentLike],
        *,
        ids: Sequence[str | None] | None = None,
        scope: Scope | None = None,
        origin: Origin = "app",
        actor: Actor | None = None,
        progress: Progress | bool = False,
    ) -> list[str]:
        """Remember LangChain ``Document``s; ids default to their own. See :meth:`add_texts`."""
        return self.add_texts(
            [document.page_content for document in new],
            [document.metadata for document in new],
            ids=ids if ids is not None else [document.id for document in new],
            scope=scope,
            origin=origin,
            actor=actor,
            progress=progress,
        )

    def delete(self, ids: Sequence[str], *, actor: Actor | None = None) -> int:
        """Forget added texts by id; return how many there were.

        Ids that are unknown, or another user's, count as not there. An id that names a text of
        everyone and one of the actor means both to an admin, else the actor's own.

        Raises:
            ConfigurationError: ``ids`` is a single text.
            ScopeError: A text is there for everyone only, and the actor is no admin.
        """
        documents.require_list("ids", ids)
        actor = actor or self.actor
        own = dict(texts_named(one, actor) for one in ids)
        with self._database.read() as tx:
            found = chunks.scopes_of_sources(tx, [*own, *own.values()])
        if not actor.is_admin:
            for uri in own.keys() & found.keys():
                found.pop(own[uri], None)
        for scope, _ in set(found.values()):
            visibility.require_write(scope, actor)
        self._indexer.delete(list(found))
        self._tell_graph()
        return len(found)

    async def async_files(self, **options: Any) -> IndexReport:
        """Index changed files without blocking the event loop; options as in :meth:`sync`."""
        return await asyncio.to_thread(self.sync, **options)

    async def aindex_file(self, path: str | Path) -> bool:
        """Index one file without blocking the event loop, see :meth:`index_file`."""
        return await asyncio.to_thread(self.index_file, path)

    async def aadd_documents(
        self, new: Sequence[documents.DocumentLike], **options: Any
    ) -> list[str]:
        """Remember documents without blocking the event loop, see :meth:`add_documents`."""
        return await asyncio.to_thread(self.add_documents, new, **options)
