"""Forget: remove words from everything the engine keeps, and say where else they may be."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from langchain_memengine.engine.parts import FORGOTTEN_AT
from langchain_memengine.engine.remembering import Remembering
from langchain_memengine.engine.writing import Writing
from langchain_memengine.errors import ConfigurationError, NotFoundError, ScopeError
from langchain_memengine.retrieval import documents, note_erasing, visibility
from langchain_memengine.retrieval.note_erasing import Erased
from langchain_memengine.retrieval.record_chunks import record_id, record_source
from langchain_memengine.storage import chunks, forgetting, records, revisions
from langchain_memengine.storage.chunk_values import partition_key
from langchain_memengine.storage.database import Transaction
from langchain_memengine.storage.forgetting import Doomed, DoomedChunk, Selection
from langchain_memengine.storage.record_values import Place
from langchain_memengine.text.erasing import Erasure
from langchain_memengine.text.sanitize import clean_text
from langchain_memengine.types import Actor, ForgetReport
from langchain_memengine.workspace.layout import slug

_ALL_RECORDS = record_source("")
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


class Forgetting(Remembering, Writing):
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

        Users forget what is their own, an admin whatever there is.

        Args:
            ids: Of records, or of texts that were added.
            source: Source URI of texts, like ``file:…`` or ``message:…``, or what records were
                learnt from; all that begins so when it ends with ``*``. A file in the root is
                removed from disk.
            thread: Everything that belongs to this conversation.
            owner: Everything personal of this user id, with the files in their folder.
            actor: Who forgets.

        Raises:
            ConfigurationError: None of the four is given, or several.
            NotFoundError: An id is unknown, or the actor may not read it; nothing is forgotten.
            ScopeError: The actor may not forget it; nothing is forgotten.
            StorageError: A file or the database could not be written. Call it again.
        """
        actor = actor or self.actor
        wanted = self._selection(ids, source, thread, owner, actor)
        with self._database.read() as tx:
            found = forgetting.select_rows(tx, wanted, _ALL_RECORDS)
            by_id = wanted.thread_id is None and wanted.owner is None
            words = _words(tx, found, with_chunks=by_id)
        return self._forget(found, words, wanted, actor)

    def vacuum(
        self, *, archive_older_than: timedelta | None = None, actor: Actor | None = None
    ) -> ForgetReport:
        """Remove records whose time is over, and archived messages that are old enough.

        An admin does so for all users, anybody else for themselves.

        Args:
            archive_older_than: Age from which archived messages go, with their transcripts;
                default: none goes. What a chat history has as well stays there.
            actor: Who cleans up.

        Raises:
            StorageError: A file or the database could not be written. Call it again.
        """
        actor = actor or self.actor
        places = _places_in_reach(actor)
        owners = None if places is None else tuple(owner for _, owner in places)
        now = self._clock()
        with self._database.read() as tx:
            over = records.expired(tx, places, now)
            sources = tuple(record_source(record.id) for record in over)
            found = forgetting.select_rows(tx, Selection(sources, places=places), _ALL_RECORDS)
            if archive_older_than is not None:
                old = forgetting.old_archive(tx, now - archive_older_than, owners)
                found = replace(found, messages=old.messages, chunks=[*found.chunks, *old.chunks])
        spoken = Erasure(_message_texts(found))
        erased = note_erasing.erase_notes(self._notes, owners, Erasure(()), spoken)
        return self._remove(found, erased, Counter(), (), keep_history=True)

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
        given = [one for one in (ids, source, thread, owner) if one is not None]
        if len(given) != 1 or not given[0]:
            raise ConfigurationError("Say what to forget: ids=, source=, thread= or owner=.")
        places = _places_in_reach(actor)
        if owner is not None and slug(owner) != slug(actor.user_id) and not actor.is_admin:
            raise ScopeError(f"{actor.user_id!r} may not forget another user: it needs an admin.")
        if ids is not None:
            documents.require_list("ids", ids)
            sources = tuple(s for one in ids for s in self._sources_of(one, actor))
            return Selection(sources, places=places)
        return Selection(
            source=None if source is None else clean_text(source),
            thread_id=None if thread is None else clean_text(thread),
            owner=None if owner is None else slug(owner),
            places=places,
        )

    def _sources_of(self, name: str, actor: Actor) -> list[str]:
        """Return the sources of the record, or else of the added texts, that an id means."""
        uris = [
            documents.document_uri(owner, name)
            for owner in (visibility.owner_of("personal", actor), "")
        ]
        with self._database.read() as tx:
            try:
                record = self._readable(tx, name, actor)
            except NotFoundError:
                found = chunks.scopes_of_sources(tx, uris)
                if not found:
                    raise
                own = uris[:1] if uris[0] in found and not actor.is_admin else list(found)
                for one in own:
                    visibility.require_write(found[one][0], actor)
                return own
        self._require_change(record, actor)
        return [record_source(record.id)]

    def _forget(
        self, found: Doomed, words: Erasure, wanted: Selection, actor: Actor
    ) -> ForgetReport:
        owners = self._owners_in_reach(found, wanted, actor)
        with self._database.read() as tx:
            self._add_what_holds(tx, found, words, owners, actor)
        removed: Counter[str] = Counter()
        for hook in self.forget_hooks:
            removed.update(hook(found))
        known = list(found.chunks)
        found.chunks, elsewhere = self._within_reach(found.chunks)
        spoken = Erasure([*_message_texts(found), *words.texts])
        gone = note_erasing.remove_notes(self._notes, self._whole_notes(found, wanted, owners))
        erased = note_erasing.erase_notes(self._notes, owners, words, spoken)
        erased = replace(erased, removed=gone.removed)
        beyond = [f"{source} is a file outside the root: remove it there." for source in elsewhere]
        beyond += [f"{name} holds the same words; it is yours to edit." for name in erased.left]
        report = self._remove(found, erased, removed, beyond, keep_history=False)
        return replace(
            report,
            out_of_reach=(*report.out_of_reach, *self._still_holding(words, known, actor), *BEYOND),
        )

    def _owners_in_reach(
        self, found: Doomed, wanted: Selection, actor: Actor
    ) -> tuple[str, ...] | None:
        """Return whose messages, notes and jobs are searched for the words; ``None`` is all."""
        mine = visibility.owner_of("personal", actor)
        if not actor.is_admin:
            return (mine,)
        if wanted.thread_id is not None or wanted.source is not None:
            return None
        personal = {record.owner for record in found.records}
        return tuple({"", mine, wanted.owner or "", *personal})

    def _add_what_holds(
        self,
        tx: Transaction,
        found: Doomed,
        words: Erasure,
        owners: tuple[str, ...] | None,
        actor: Actor,
    ) -> None:
        """Add messages, jobs, queries and derived texts that hold forgotten words."""
        if words:
            forgetting.add_holders(tx, found, owners, words.is_in_json)
            derived = [
                source
                for source in forgetting.holding_sources(
                    tx, self._writable_partitions(found, actor), words.holds
                )
                if source.startswith(_DERIVED)
            ]
            more = forgetting.select_rows(tx, Selection(tuple(derived)), _ALL_RECORDS).chunks
            found.chunks = _unique([*found.chunks, *more])
        spoken = forgetting.chunks_of_messages(tx, found.messages)
        found.chunks = _unique([*found.chunks, *spoken])

    def _writable_partitions(self, found: Doomed, actor: Actor) -> list[str]:
        keys = {partition_key("personal", visibility.owner_of("personal", actor))}
        if actor.is_admin:
            keys |= {chunk.partition_key for chunk in found.chunks}
            keys |= set(visibility.readable_partitions(actor))
        return sorted(keys)

    def _within_reach(self, found: Sequence[DoomedChunk]) -> tuple[list[DoomedChunk], list[str]]:
        """Return what can be removed, and the files that only their own folder can lose."""
        main = self._sources[0].workspace_id
        mine = [chunk for chunk in found if not chunk.path or chunk.workspace_id == main]
        return mine, sorted({chunk.source for chunk in found} - {chunk.source for chunk in mine})

    def _whole_notes(
        self, found: Doomed, wanted: Selection, owners: tuple[str, ...] | None
    ) -> set[str]:
        """Return the notes that go as a whole: files that were named, and all of an owner's."""
        names = {chunk.path for chunk in found.chunks if chunk.path}
        if wanted.thread_id is not None:
            names.update(note_erasing.transcripts_of(self._notes, wanted.thread_id, owners))
        if wanted.owner is not None:
            names.update(note_erasing.notes_of(self._notes, (wanted.owner,)))
        return names

    def _remove(
        self,
        found: Doomed,
        erased: Erased,
        removed: Counter[str],
        beyond: Sequence[str],
        *,
        keep_history: bool,
    ) -> ForgetReport:
        """Remove rows and everything that is derived from them."""
        touched = [*erased.changed, *erased.removed]
        gone = list(found.chunks)
        if touched:
            with self._database.read() as tx:
                main = self._sources[0].workspace_id
                gone = _unique([*gone, *forgetting.chunks_of_paths(tx, main, touched)])
            self.sync()
        removed["notes"] += len(touched)
        with self._access_lock:
            for chunk in gone:
                self._accesses.pop(chunk.id, None)
        with self._database.write() as tx:
            removed.update(
                forgetting.remove(tx, found, now=self._clock(), keep_history=keep_history)
            )
            removed.update(forgetting.remove_unused(tx, gone))
            if gone:
                tx.set_meta(FORGOTTEN_AT, str(tx.seq))
        lost = self._drop_derived({chunk.partition_key for chunk in gone})
        if not self._database.scrub():
            lost = (
                *lost,
                "SQLite's log, while another process reads; it goes with its next write.",
            )
        counted = {kind: number for kind, number in removed.items() if number}
        return ForgetReport(counted, (*beyond, *lost))

    def _drop_derived(self, partitions: set[str]) -> tuple[str, ...]:
        """Drop what was built from these partitions; return what could not be reached."""
        if not partitions:
            return ()
        self._partitions.forget(partitions)
        if self._chroma is not None:
            with self._database.read() as tx:
                model = self._embedding.model(tx)
            if not self._chroma[0].erase(partitions, model):
                return ("Vectors in the files of the Chroma server, until it cleans them up.",)
            return ()
        folder = None if self.root is None else self.root / ".memengine" / "chroma"
        if folder is None or not folder.exists():
            return ()
        if self._maintains:
            shutil.rmtree(folder)
            return ()
        return ("Vectors in the Chroma folder, which another process maintains.",)

    def _still_holding(
        self, words: Erasure, known: Sequence[DoomedChunk], actor: Actor
    ) -> list[str]:
        """Return sentences on texts that hold the same words and were not asked for."""
        if not words:
            return []
        keys = {*visibility.readable_partitions(actor)}
        if actor.is_admin:
            keys |= {chunk.partition_key for chunk in known}
        with self._database.read() as tx:
            left = forgetting.holding_sources(tx, sorted(keys), words.holds)
        return [f"{source} holds the same words and was not asked for." for source in left]


def _places_in_reach(actor: Actor) -> list[Place] | None:
    """Return where an actor may forget: what is their own, for an admin everything (``None``)."""
    return None if actor.is_admin else [("personal", visibility.owner_of("personal", actor))]


def _words(tx: Transaction, found: Doomed, *, with_chunks: bool) -> Erasure:
    """Return the words that are forgotten: also those that records had before.

    A whole conversation or owner is not looked for text by text, its records are.
    """
    texts = [record.text for record in found.records]
    for revision in revisions.of_records(tx, [record.id for record in found.records]):
        texts += [s.record.text for s in (revision.before, revision.after) if s.record]
    if with_chunks:
        texts += [c.text for c in found.chunks if record_id(c.source) is None and not c.path]
        texts += _message_texts(found)
    return Erasure(texts)


def _message_texts(found: Doomed) -> list[str]:
    """Return what the messages say, as transcripts show it."""
    said = []
    for message in found.messages:
        content = json.loads(message.body).get("data", {}).get("content", "")
        blocks = [content] if isinstance(content, str) else content
        said += [b if isinstance(b, str) else str(b.get("text", "")) for b in blocks]
    return said


def _unique(found: Sequence[DoomedChunk]) -> list[DoomedChunk]:
    return list({chunk.id: chunk for chunk in found}.values())
