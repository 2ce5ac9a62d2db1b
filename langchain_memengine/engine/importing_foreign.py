"""Import of what mem0 and ChatGPT exported: it becomes the actor's own."""

from __future__ import annotations

from langchain_memengine.engine.import_tally import ImportTally
from langchain_memengine.engine.reading_records import MAX_ID_CHARS, record_id
from langchain_memengine.engine.remembering import MAX_SOURCE_CHARS, Remembering
from langchain_memengine.errors import ConfigurationError, ScopeError
from langchain_memengine.retrieval import visibility
from langchain_memengine.retrieval.documents import document_uri
from langchain_memengine.retrieval.sources import TextChunks
from langchain_memengine.storage import (
    exports,
    records,
)
from langchain_memengine.text.chunking import chunk_markdown
from langchain_memengine.text.digests import bounded
from langchain_memengine.text.foreign_exports import ForeignExport, ForeignText
from langchain_memengine.text.sanitize import clean_metadata, clean_text
from langchain_memengine.types import (
    MAX_THREAD_CHARS,
    Actor,
    Origin,
    Provenance,
    Trust,
)


class ForeignImporting(Remembering):
    """The part of importing that takes in other systems' memories and messages."""

    def _import_foreign(self, export: ForeignExport, actor: Actor, tally: ImportTally) -> None:
        users = {one.user_id for one in export.texts if one.user_id is not None}
        for one in export.texts:
            if len(users) > 1 and one.user_id not in {None, actor.user_id}:
                tally.skipped["of another user"] += 1
                continue
            kind, take_in = (
                ("records", self._import_memory)
                if one.role == "memory"
                else ("texts", self._import_said)
            )
            try:
                is_new = take_in(one, export.system, actor)
            except ScopeError:
                tally.skipped[f"{kind}: not yours to write"] += 1
            except ConfigurationError:
                tally.skipped[f"{kind}: cannot be stored"] += 1
            else:
                (tally.imported if is_new else tally.unchanged)[kind] += 1

    def _import_memory(self, one: ForeignText, system: str, actor: Actor) -> bool:
        name = bounded(f"{system}:{one.id}", MAX_ID_CHARS)
        scope = visibility.default_scope(actor)
        stored_id = record_id(name, visibility.owner_of(scope, actor))
        with self._database.read() as tx:
            if records.by_ids(tx, [stored_id]):
                return False
        told = {"created_at": one.at.isoformat()} if one.at else {}
        self.remember(
            one.text,
            id=name,
            metadata={**one.metadata, **told},
            origin="app",
            trust="unverified",
            source=f"{system}:{one.id}"[:MAX_SOURCE_CHARS],
            actor=actor,
        )
        return True

    def _import_said(self, one: ForeignText, system: str, actor: Actor) -> bool:
        scope = visibility.default_scope(actor)
        visibility.require_write(scope, actor)
        owner = visibility.owner_of(scope, actor)
        source = document_uri(owner, f"{system}:{one.id}")
        origin: Origin = "user" if one.role == "user" else "assistant"
        trust: Trust = "trusted" if one.role == "user" else "unverified"
        provenance = Provenance(
            scope=scope,
            owner=owner,
            origin=origin,
            trust=trust,
            thread_id=bounded(clean_text(one.thread_id or ""), MAX_THREAD_CHARS) or None,
            event_at=one.at or self._clock(),
            metadata=clean_metadata({**one.metadata, "role": one.role}),
        )
        pieces = chunk_markdown(
            clean_text(one.text),
            self.config.chunk_tokens,
            self.config.overlap_tokens,
            source=source,
        )
        with self._database.read() as tx:
            is_known = bool(exports.ids_of_source(tx, source))
        if not is_known:
            new: TextChunks = [(chunk, provenance) for chunk in pieces]
            self._indexer.put({source: new})
        return not is_known
