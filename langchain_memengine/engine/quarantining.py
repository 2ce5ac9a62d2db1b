"""Set memory aside that should not be believed, and take it back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from langchain_memengine.engine.reading_records import record_names, texts_named
from langchain_memengine.engine.remembering import (
    MAX_SOURCE_CHARS,
    Remembering,
    fitting,
    stored_time,
)
from langchain_memengine.errors import ConfigurationError, NotFoundError, ScopeError
from langchain_memengine.retrieval import documents
from langchain_memengine.retrieval.record_chunks import record_source
from langchain_memengine.storage import chunks, quarantines, records
from langchain_memengine.storage.item_values import ITEM_PREFIX
from langchain_memengine.storage.record_values import (
    Quarantine,
    RecordState,
    quarantine_target,
)
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.text.sanitize import clean_text
from langchain_memengine.types import Actor

_MAX_REASON_CHARS = 1000


class Quarantining(Remembering):
    """The chapter of the engine for memory that is set aside."""

    def quarantine(
        self,
        ids: Sequence[str] | None = None,
        *,
        source: str | None = None,
        reason: str = "",
        actor: Actor | None = None,
    ) -> tuple[Quarantine, ...]:
        """Set memory aside; return what is set aside now and was not before.

        Nothing finds it then: no search, recall, list of facts, graph or export. What it took the
        place of is current again. It stays stored, and :meth:`release` brings it back. The engine
        does the same by itself with records of tools, files and models, and with notes for
        everyone's agents, that look like attempts to steer an agent.

        Args:
            ids: Of records, whoever's they are, or of texts that were added.
            source: Source URI of texts, like ``file:…`` or ``message:…``, or what records were
                learnt from; everything that begins so when it ends with ``*``. What comes from
                there later is set aside too.
            reason: Why, for people.
            actor: Who does it.

        Raises:
            ConfigurationError: Neither is given, or both, or the source is too long or an item's.
            NotFoundError: An id is unknown; nothing is set aside.
            ScopeError: The actor is no admin.
            StorageError: The database failed; nothing is set aside.
        """
        actor = self._admin(actor)
        sources = self._named(ids, source, actor)
        now = stored_time(self._clock())
        why = fitting("reason", reason, _MAX_REASON_CHARS)

        def change(state: RecordState, source: str) -> RecordState:
            new = Quarantine(source, why, clean_text(actor.user_id), now)
            return replace(state, quarantine=state.quarantine or new)

        wanted = {quarantine_target(one): partial(change, source=one) for one in sources}
        with self._database.read() as tx:
            before = quarantines.of_targets(tx, wanted)
        after = self._records.change(wanted, "quarantine", now=now)
        self.taken_back += 1
        found = (state.quarantine for target, state in after.items() if target not in before)
        return tuple(one for one in found if one is not None)

    def release(
        self,
        ids: Sequence[str] | None = None,
        *,
        source: str | None = None,
        actor: Actor | None = None,
    ) -> tuple[Quarantine, ...]:
        """Take back memory that was set aside; return the quarantines that ended.

        Args:
            ids: Of records or added texts, as in :meth:`quarantine`.
            source: As it was given to :meth:`quarantine`, with the ``*``.
            actor: Who does it.

        Raises:
            ConfigurationError: Neither is given, or both.
            NotFoundError: One was not set aside under this name; nothing is taken back.
            ScopeError: The actor is no admin.
            StorageError: The database failed; nothing is taken back.
        """
        actor = self._admin(actor)
        sources = self._named(ids, source, actor)
        targets = {quarantine_target(one): one for one in sources}
        with self._database.read() as tx:
            ended = quarantines.of_targets(tx, targets)
            known = quarantines.everything(tx)
        for target, one in targets.items():
            if target not in ended:
                raise _not_quarantined(one, known)

        def change(state: RecordState) -> RecordState:
            return replace(state, quarantine=None)

        now = stored_time(self._clock())
        self._records.change(dict.fromkeys(targets, change), "release", now=now)
        self._tell_graph_of_release()
        return tuple(ended.values())

    def _admin(self, actor: Actor | None) -> Actor:
        self._require_writable()
        actor = actor or self.actor
        if not actor.is_admin:
            raise ScopeError(
                f"{actor.user_id!r} may set nothing aside and take nothing back: it needs an admin."
            )
        return actor

    def _named(self, ids: Sequence[str] | None, source: str | None, actor: Actor) -> list[str]:
        """Return the sources that are meant."""
        if (ids is None) == (source is None) or not (ids or source):
            raise ConfigurationError("Say what is meant: ids= or source=, one of them.")
        if source is not None:
            cleaned = fitting("source", source, MAX_SOURCE_CHARS)
            if cleaned.startswith(ITEM_PREFIX):
                raise ConfigurationError(
                    f"{source!r} is an item of a LangGraph store, which is the application's own. "
                    "Delete it with the store."
                )
            return [cleaned]
        documents.require_list("ids", ids or ())
        with self._database.read() as tx:
            found = [self._sources_named(tx, one, actor) for one in ids or ()]
        return list(dict.fromkeys(one for some in found for one in some))

    def _sources_named(self, tx: Transaction, name: str, actor: Actor) -> list[str]:
        """Return the source of the record, or else of the added texts, that an id means."""
        known = records.by_ids(tx, record_names(name, actor))
        if known:
            return [record_source(next(iter(known)))]
        found = list(chunks.scopes_of_sources(tx, texts_named(name, actor)))
        if not found:
            raise NotFoundError(
                f"There is no record and no added text {name!r}. Other memories are named by their "
                "source, as hits have it: source=hit.source."
            )
        return found


def _not_quarantined(source: str, known: Sequence[Quarantine]) -> NotFoundError:
    """Return the error for what is not set aside under a name; it says under which it is."""
    covering = next((one for one in known if one.covers(source)), None)
    advice = (
        f"It is with the source {covering.source!r}: release that."
        if covering
        else "See: engine.quarantined()"
    )
    return NotFoundError(f"{source!r} was not quarantined by itself. {advice}")
