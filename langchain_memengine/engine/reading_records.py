"""Read records: one, pages of them, what was done to them, and how many there are."""

from __future__ import annotations

from datetime import datetime

from langchain_memengine.engine.graph_work import GraphWork
from langchain_memengine.errors import ConfigurationError, NotFoundError
from langchain_memengine.given import whole
from langchain_memengine.retrieval import documents, visibility
from langchain_memengine.retrieval.current_records import known_records
from langchain_memengine.retrieval.record_chunks import record_source
from langchain_memengine.storage import auditing, quarantines, records, revisions, supersessions
from langchain_memengine.storage.auditing import AuditReport
from langchain_memengine.storage.record_values import (
    MemoryRecord,
    Quarantine,
    RecordFilter,
    Revision,
)
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.text.digests import digest
from langchain_memengine.text.sanitize import as_utc, clean_text
from langchain_memengine.types import (
    Actor,
    Origin,
    Scope,
    Trust,
)

MAX_ID_CHARS = 64  # what the columns hold on every database
_PAGE = 500


class ReadingRecords(GraphWork):
    """The chapter of the engine that shows records."""

    def get(self, id: str, *, actor: Actor | None = None) -> MemoryRecord:  # noqa: A002  # as above
        """Return a record by its id, also one that is superseded or not valid now.

        Raises:
            NotFoundError: There is no such record, or the actor may not read it.
        """
        with self._database.read() as tx:
            return self._readable(tx, id, actor or self.actor)

    def list_records(  # noqa: PLR0913  # keywords, each with a default
        self,
        *,
        scope: Scope | None = None,
        owner: str | None = None,
        origin: Origin | None = None,
        trust: Trust | None = None,
        thread_id: str | None = None,
        source: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        current: bool = True,
        limit: int = 100,
        after: MemoryRecord | None = None,
        actor: Actor | None = None,
    ) -> list[MemoryRecord]:
        """Return the records that the actor may read, newest first, a page at a time.

        Args:
            scope: Only of this scope.
            owner: Only personal ones of this user id.
            origin: Only from there.
            trust: Only trusted so far.
            thread_id: Only learnt in this conversation.
            source: Learnt from exactly this, or from what begins so when it ends with ``*``.
            since: Only first remembered at or after this time.
            until: Only first remembered before this time.
            current: Leave out what is superseded, or not valid now.
            limit: Records, at most.
            after: The last record of the page before.
            actor: Who asks.

        Raises:
            ConfigurationError: ``limit`` is no whole number from 0 on, or there is no such scope.
        """
        limit = whole("limit", limit)
        if scope is not None:
            visibility.require_known_scope(scope)
        wanted = RecordFilter(
            scope=scope,
            owner=None if owner is None else visibility.owner_of("personal", Actor(owner)),
            origin=origin,
            trust=trust,
            thread_id=None if thread_id is None else clean_text(thread_id),
            source=None if source is None else clean_text(source),
            since=None if since is None else as_utc(since),
            until=None if until is None else as_utc(until),
            valid_at=self._clock() if current else None,
        )
        places = visibility.readable_places(actor or self.actor)
        found: list[MemoryRecord] = []
        with self._database.read() as tx:
            while len(found) < limit:
                page = records.page(tx, places, wanted, after=after, limit=_PAGE)
                found += known_records(tx, page, current=current)
                if len(page) < _PAGE:
                    break
                after = page[-1]
        return found[:limit]

    def revisions(self, id: str, *, actor: Actor | None = None) -> list[Revision]:  # noqa: A002
        """Return what was done to a record, oldest first; what was forgotten says only that.

        Raises:
            NotFoundError: There never was such a record, or the actor may not read it.
        """
        actor = actor or self.actor
        with self._database.read() as tx:
            for name in record_names(id, actor):
                found = [r for r in revisions.of_records(tx, [name]) if may_read(r, actor)]
                if found:
                    return found
        raise no_record(id)

    def latest_revisions(self, *, limit: int = 50, actor: Actor | None = None) -> list[Revision]:
        """Return what was done last to any records, and to chunks that were hidden, newest first.

        What was forgotten is not listed: it says nothing any more.

        Args:
            limit: Revisions, at most.
            actor: Who asks; others than admins see those of records they may read.

        Raises:
            ConfigurationError: ``limit`` is no whole number from 0 on.
        """
        limit = whole("limit", limit)
        actor = actor or self.actor
        found: list[Revision] = []
        before: Revision | None = None
        with self._database.read() as tx:
            while len(found) < limit:
                page = revisions.latest(tx, before=before, limit=_PAGE)
                found += [r for r in page if r.kind != "forgotten" and may_read(r, actor)]
                if len(page) < _PAGE:
                    break
                before = page[-1]
        return found[:limit]

    def provenance(self, id: str, *, actor: Actor | None = None) -> list[MemoryRecord]:  # noqa: A002
        """Return a record, and those that were merged into it, each with where it came from.

        Those that say the same follow the record, oldest first.

        Raises:
            NotFoundError: There is no such record, or the actor may not read it.
        """
        actor = actor or self.actor
        places = visibility.readable_places(actor)
        with self._database.read() as tx:
            kept = self._readable(tx, id, actor)
            merged = records.by_ids(tx, _merged_into(tx, kept.id)).values()
        readable = [record for record in merged if record.place in places]
        return [kept, *sorted(readable, key=lambda record: (record.created_at, record.id))]

    def quarantined(self, *, actor: Actor | None = None) -> list[Quarantine]:
        """Return what is set aside, newest first; to others than admins only their own records."""
        actor = actor or self.actor
        with self._database.read() as tx:
            found = quarantines.everything(tx)
            if actor.is_admin:
                return found
            own = records.by_ids(tx, [one.target_id for one in found])
        mine = ("personal", visibility.owner_of("personal", actor))
        return [one for one in found if one.target_id in own and own[one.target_id].place == mine]

    def audit(self, *, actor: Actor | None = None) -> AuditReport:
        """Return who wrote what, how far it is trusted, what is set aside, what was redacted.

        These are numbers, and where what is set aside came from. An admin sees those of all users,
        anybody else those of what they may read.
        """
        actor = actor or self.actor
        places = None if actor.is_admin else visibility.readable_places(actor)
        aside = self.quarantined(actor=actor)
        with self._database.read() as tx:
            return auditing.audit(
                tx, places, visibility.readable_partitions(actor), actor.user_id, aside
            )

    def _readable(self, tx: Transaction, name: str, actor: Actor) -> MemoryRecord:
        found = records.by_ids(tx, record_names(name, actor))
        for one in record_names(name, actor):
            if one in found and found[one].place in visibility.readable_places(actor):
                return found[one]
        raise no_record(name)


def record_id(name: str, owner: str) -> str:
    """Return the id under which an owner's record of a name is stored, ``""`` for nobody's.

    Raises:
        ConfigurationError: The name is empty or too long.
    """
    cleaned = clean_text(name)
    if not 0 < len(cleaned) <= MAX_ID_CHARS:
        raise ConfigurationError(
            f"An id of {len(cleaned)} characters cannot be stored. Use 1 to {MAX_ID_CHARS}."
        )
    if not owner:
        return cleaned
    return digest(owner, cleaned)[:32]


def record_names(name: str, actor: Actor) -> list[str]:
    """Return the ids that an actor may mean by a name."""
    cleaned = clean_text(name)
    if not 0 < len(cleaned) <= MAX_ID_CHARS:
        return []  # no record has such an id
    return [record_id(cleaned, visibility.owner_of("personal", actor)), cleaned]


def sources_named(name: str, actor: Actor) -> list[str]:
    """Return the URIs of the records and added texts that an actor may mean by a name."""
    return [*map(record_source, record_names(name, actor)), *texts_named(name, actor)]


def texts_named(name: str, actor: Actor) -> tuple[str, str]:
    """Return the URIs of the added texts that an actor may mean: their own, and everyone's."""
    mine = visibility.owner_of("personal", actor)
    return documents.document_uri(mine, name), documents.document_uri("", name)


def no_record(name: str) -> NotFoundError:
    """Return the error for a record that is not there, or not for this actor."""
    return NotFoundError(f"There is no record {name!r}. What there is: engine.list_records()")


def _merged_into(tx: Transaction, kept_id: str) -> set[str]:
    """Return the ids of the records that say the same as one, also by way of others."""
    found: set[str] = set()
    onto = {kept_id}
    while onto:
        over = {one.old_id for one in supersessions.by_records(tx, onto)}
        same = revisions.said_again(tx, over - found - {kept_id})
        onto = {old for old, new in same if new in onto}
        found |= onto
    return found


def may_read(revision: Revision, actor: Actor) -> bool:
    """Return whether an actor may know of a revision; what was forgotten tells nothing.

    That a source was quarantined or a chunk hidden, which are no records, only an admin knows.
    """
    places = visibility.readable_places(actor)
    known = [s.record for s in (revision.before, revision.after) if s.record is not None]
    if revision.kind == "forgotten":
        return True
    return all(record.place in places for record in known) if known else actor.is_admin
