"""Forget: remove words from everything the engine keeps, and say where else they may be."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from langchain_memengine.engine.erasing import Erasing, unique
from langchain_memengine.engine.forgotten_experiences import forgotten_experiences
from langchain_memengine.engine.forgotten_graph import evidence_condition, partitions_in_reach
from langchain_memengine.engine.forgotten_words import forgotten_words, shown_in_entries
from langchain_memengine.engine.reading_records import texts_named
from langchain_memengine.engine.remembering import Remembering
from langchain_memengine.errors import ConfigurationError, NotFoundError, ScopeError
from langchain_memengine.reports import ForgetReport
from langchain_memengine.retrieval import documents, note_erasing, visibility
from langchain_memengine.retrieval.record_chunks import record_source
from langchain_memengine.storage import chunks, doomed
from langchain_memengine.storage.chunk_values import partition_key
from langchain_memengine.storage.doomed_values import Doomed, DoomedChunk, Selection
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.text.digests import bounded
from langchain_memengine.text.erasing import Erasure
from langchain_memengine.text.sanitize import clean_text
from langchain_memengine.text.uris import is_of_message
from langchain_memengine.types import MAX_THREAD_CHARS, Actor
from langchain_memengine.workspace.layout import slug

_DERIVED = ("message:", "learnt:")

ForgetHook = Callable[[Doomed], Mapping[str, int]]
"""Forgets what is derived elsewhere, and returns how much by kind. It is called before the rows
go, so that after a crash the same call does it all again."""

BEYOND = (
    "Backups, exports and copies of the folder or the database.",
    "The history of Git or another version control, where the folder is under one.",
    "LangGraph checkpoints: delete the thread with the checkpointer's delete_thread().",
    "Traces in LangSmith or another tracing service, and the logs of model providers.",
)
"""Where words may be that no engine can know of."""


class Forgetting(Erasing, Remembering):
    """The chapter of the engine that forgets.

    Attributes:
        forget_hooks: Called with what is to go, before it goes.
    """

    forget_hooks: Sequence[ForgetHook] = ()

    def forget(
        self,
        ids: Sequence[str] | None = None,
        *,
        source: str | None = None,
        thread: str | None = None,
        owner: str | None = None,
        actor: Actor | None = None,
    ) -> ForgetReport:
        """Forget for good; return what went and where the words may still be.

        Give one of the four. With the rows go their chunks, embeddings, access counts, revisions
        and saved index files; messages, transcripts, notes that the engine writes, recorded
        queries and payloads of jobs that hold the same words; and what is derived from them. A
        text of less than 12 characters is looked for only where it stands alone. What a person
        wrote into a file of their own is named, not changed.

        Users forget what is their own, an admin whatever there is. Items of a LangGraph store are
        the application's: those in namespaces named like the owner, and for an admin those that
        hold the same words, are counted in the report, not removed.

        Args:
            ids: Of records, or of texts that were added.
            source: Source URI of texts, like ``file:…`` or ``message:…``, or what records were
                learnt from; all that begins so when it ends with ``*``. A file in the root is
                removed from disk.
            thread: Everything that belongs to this conversation.
            owner: Everything personal of this user id, with the files in their folder and what
                agents learnt for them.
            actor: Who forgets.

        Raises:
            ConfigurationError: None of the four is given, or several.
            NotFoundError: An id is unknown, or the actor may not read it; nothing is forgotten.
            ScopeError: The actor may not forget it; nothing is forgotten.
            StorageError: A file or the database could not be written. Call it again.
        """
        self._require_writable()
        actor = actor or self.actor
        wanted = self._selection(ids, source, thread, owner, actor)
        with self._database.read() as tx:
            found = doomed.select_rows(tx, wanted)
            by_id = wanted.thread_id is None and wanted.owner is None
            words = forgotten_words(tx, found, with_chunks=by_id)
        try:
            report = self._forget(found, words, wanted, actor)
        finally:
            self.taken_back += 1
        items = self._items_left(words, owner, actor)
        return replace(report, out_of_reach=(*items, *report.out_of_reach))

    async def aforget(self, ids: Sequence[str] | None = None, **options: Any) -> ForgetReport:
        """Forget without blocking the event loop; options as in :meth:`forget`."""
        return await asyncio.to_thread(self.forget, ids, **options)

    def _selection(
        self,
        ids: Sequence[str] | None,
        source: str | None,
        thread: str | None,
        owner: str | None,
        actor: Actor,
    ) -> Selection:
        named = [one for one in (ids, source, thread, owner) if one is not None]
        if len(named) != 1 or not named[0]:
            raise ConfigurationError("Say what to forget: ids=, source=, thread= or owner=.")
        places = visibility.forgettable_places(actor)
        if owner is not None and slug(owner) != slug(actor.user_id) and not actor.is_admin:
            raise ScopeError(f"{actor.user_id!r} may not forget another user: it needs an admin.")
        if ids is not None:
            documents.require_list("ids", ids)
            sources = tuple(s for one in ids for s in self._sources_of(one, actor))
            return Selection(sources, places=places)
        return Selection(
            source=None if source is None else clean_text(source),
            thread_id=None if thread is None else bounded(clean_text(thread), MAX_THREAD_CHARS),
            owner=None if owner is None else slug(owner),
            places=places,
        )

    def _sources_of(self, name: str, actor: Actor) -> list[str]:
        """Return the sources of the record, or else of the added texts, that an id means."""
        uris = texts_named(name, actor)
        with self._database.read() as tx:
            try:
                record = self._readable(tx, name, actor)
            except NotFoundError:
                found = chunks.scopes_of_sources(tx, uris)
                if not found:
                    raise NotFoundError(
                        f"There is no record or added text {name!r} to forget. Its id is what "
                        "adding it returned, and stands behind record: or doc: in a hit."
                    ) from None
                own = [uris[0]] if uris[0] in found and not actor.is_admin else list(found)
                for one in own:
                    visibility.require_write(found[one][0], actor)
                return own
        self._require_change(record, actor)
        return [record_source(record.id)]

    def _forget(
        self, found: Doomed, words: Erasure, wanted: Selection, actor: Actor
    ) -> ForgetReport:
        with self._database.read() as tx:
            owners = self._owners_in_reach(tx, found, wanted, actor)
            self._add_what_holds(tx, found, words, owners, actor)
            transcripts = self._add_what_messages_left(tx, found)
            found.experiences = forgotten_experiences(tx, wanted, found.messages, owners, words)
        is_told = evidence_condition(wanted, found.messages)
        heard = self.graph.forget_told(is_told, partitions_in_reach(wanted, owners))
        removed = Counter({"graph evidence": heard})
        for hook in self.forget_hooks:
            removed.update(hook(found))
        found.chunks, elsewhere = self._within_reach(known := found.chunks)
        erased = note_erasing.joined(
            note_erasing.remove_notes(self._notes, self._whole_notes(found, wanted, owners)),
            note_erasing.rewrite_transcripts(self._notes, owners, transcripts),
            note_erasing.erase_notes(self._notes, owners, words, shown_in_entries(found)),
        )
        beyond = [f"{source} is a file outside the root: remove it there." for source in elsewhere]
        beyond += [
            f"{source} was a file of a folder that this engine does not follow: if another one "
            "does, remove it there, too."
            for source in self._unfollowed(found.chunks)
        ]
        beyond += [f"{name} holds the same words; it is yours to edit." for name in erased.left]
        beyond += [f"{name} is no text: look yourself what it holds." for name in erased.unread]
        report = self._remove(found, erased, removed, beyond, keep_history=False)
        return replace(
            report,
            out_of_reach=(*report.out_of_reach, *self._still_holding(words, known, actor), *BEYOND),
        )

    def _owners_in_reach(
        self, tx: Transaction, found: Doomed, wanted: Selection, actor: Actor
    ) -> tuple[str, ...] | None:
        """Return whose messages, notes and jobs are searched for the words; ``None`` is all.

        An admin also reaches what conversations of several users keep.
        """
        mine = visibility.owner_of("personal", actor)
        if not actor.is_admin:
            return (mine,)
        if wanted.thread_id is not None or wanted.source is not None:
            return None
        personal = {record.owner for record in found.records}
        shared = doomed.owners_of_messages(tx, visibility.THREAD_OWNERS)
        return tuple({"", mine, wanted.owner or "", *personal, *shared})

    def _add_what_holds(
        self,
        tx: Transaction,
        found: Doomed,
        words: Erasure,
        owners: tuple[str, ...] | None,
        actor: Actor,
    ) -> None:
        """Add messages, jobs, queries and derived texts that hold forgotten words."""
        doomed.add_holders(tx, found, owners, words.is_in_json)
        if words:
            derived = [
                source
                for source in doomed.holding_sources(
                    tx, self._writable_partitions(found, owners, actor), words.holds
                )
                if source.startswith(_DERIVED)
            ]
            more = doomed.select_rows(tx, Selection(tuple(derived))).chunks
            found.chunks = unique([*found.chunks, *more])
        spoken = doomed.chunks_of_messages(tx, found.messages)
        found.chunks = unique([*found.chunks, *spoken])

    def _add_what_messages_left(self, tx: Transaction, found: Doomed) -> dict[str, str]:
        """Add the summaries of messages; return what transcripts say then."""
        if not (found.messages or any(is_of_message(one.source) for one in found.chunks)):
            return {}
        # Here, because it loads LangChain's messages.
        from langchain_memengine.engine import forgotten_messages as left

        made = left.archiving_commits(tx, found)
        summaries = left.summaries_of(made)
        told = doomed.select_rows(tx, summaries).chunks
        found.chunks = unique([*found.chunks, *told])
        return left.transcripts_left(tx, made, found.messages)

    def _writable_partitions(
        self, found: Doomed, owners: Sequence[str] | None, actor: Actor
    ) -> list[str]:
        keys = {partition_key("personal", visibility.owner_of("personal", actor))}
        threads = (one for one in owners or () if one.startswith(visibility.THREAD_OWNERS))
        keys |= {partition_key("personal", one) for one in threads}
        if actor.is_admin:
            keys |= {chunk.partition_key for chunk in found.chunks}
            keys |= set(visibility.readable_partitions(actor))
        return sorted(keys)

    def _within_reach(self, found: Sequence[DoomedChunk]) -> tuple[list[DoomedChunk], list[str]]:
        """Return what can be removed, and the files that only their own folder can lose."""
        elsewhere = {source.workspace_id for source in self._sources[1:]}
        mine = [chunk for chunk in found if chunk.workspace_id not in elsewhere]
        return mine, sorted({chunk.source for chunk in found} - {chunk.source for chunk in mine})

    def _unfollowed(self, found: Sequence[DoomedChunk]) -> list[str]:
        """Return the files of folders that the settings do not name (any more)."""
        main = self._sources[0].workspace_id
        return sorted({chunk.source for chunk in found if chunk.workspace_id not in {"", main}})

    def _whole_notes(
        self, found: Doomed, wanted: Selection, owners: tuple[str, ...] | None
    ) -> set[str]:
        """Return the notes that go as a whole: files that were named, and all of an owner's."""
        main = self._sources[0].workspace_id
        names = {chunk.path for chunk in found.chunks if chunk.workspace_id == main}
        if wanted.thread_id is not None:
            names.update(note_erasing.transcripts_of(self._notes, wanted.thread_id, owners))
        if wanted.owner is not None:
            names.update(note_erasing.notes_of(self._notes, (wanted.owner,)))
        return names
