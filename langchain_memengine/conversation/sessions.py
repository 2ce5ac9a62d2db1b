"""Memory sessions: a conversation tied to a set of sources, with a record of what it was shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import uuid4

from langchain_memengine.answers import (
    Hit,
    Receipt,
    SearchResult,
    as_json,
)
from langchain_memengine.conversation.lineage import checked_thread
from langchain_memengine.conversation.source_uris import learnt_prefix, thread_source
from langchain_memengine.errors import ConfigurationError, NotFoundError
from langchain_memengine.given import whole
from langchain_memengine.retrieval import visibility
from langchain_memengine.retrieval.filters import as_filter, source_condition
from langchain_memengine.retrieval.recall import Recalled
from langchain_memengine.storage import quarantines, stored_chunks
from langchain_memengine.storage import sessions as session_rows
from langchain_memengine.storage.chunk_values import StoredChunk
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.sessions import Session, SessionRecall
from langchain_memengine.text.sanitize import clean_text
from langchain_memengine.types import Actor

# Read again from the chunk, so that forgetting works.
_NOT_RECORDED = ("text", "heading", "metadata", "event_at")


@dataclass(frozen=True, slots=True)
class SourceNames:
    """How an engine's sources are called.

    Attributes:
        folders: Prefix of the source URIs of each folder in the settings, by its name.
        pinned: Source URIs of the actor's pinned facts.
    """

    folders: Mapping[str, str]
    pinned: Sequence[str]


class MemorySessions:
    """The memory sessions of one user; get them from ``engine.sessions()``.

    ```python
    sessions = engine.sessions()
    session = sessions.create("thread-1", sources=["doc:*"])
    sessions.recall(session, "how do we deploy?")
    sessions.audit(session)  # which files and chunks it was shown
    ```
    """

    def __init__(
        self,
        database: Database,
        *,
        search: Callable[..., SearchResult],
        recall: Callable[..., Recalled],
        sources: SourceNames,
        actor: Actor,
        clock: Callable[[], datetime],
    ) -> None:
        self._database = database
        self._search = search
        self._recall = recall
        self._sources = sources
        self._actor = actor
        self._owner = visibility.owner_of("personal", actor)
        self._clock = clock

    def create(self, thread_id: str, sources: Sequence[str] = ()) -> Session:
        """Begin a session.

        Args:
            thread_id: The conversation; what it leaves in memory itself it always sees.
            sources: All it sees besides: names of folders in the settings, source URIs, or
                prefixes that end with ``*``, like ``doc:*``. None given is everything.

        Raises:
            ConfigurationError: A source is none of these.
        """
        thread_id = checked_thread(thread_id)
        if isinstance(sources, str):
            raise ConfigurationError("sources is a single text. Pass a list: [source].")
        wanted = tuple(self._uri(clean_text(source)) for source in sources)
        if wanted:
            wanted += (thread_source(thread_id) + "*", learnt_prefix(thread_id) + "*")
        session = Session(uuid4().hex, self._owner, thread_id, wanted, self._clock())
        with self._database.write() as tx:
            session_rows.create(tx, session)
        return session

    def get(self, session_id: str) -> Session:
        """Return a session by its id.

        Raises:
            NotFoundError: The user has none of this id.
        """
        with self._database.read() as tx:
            session = session_rows.find(tx, clean_text(session_id), self._owner)
        if session is None:
            raise NotFoundError(
                f"There is no session {session_id!r} of this user. latest(), in a terminal "
                "`memengine sessions list`, shows theirs; create() makes one."
            )
        return session

    def latest(self, limit: int = 50) -> list[Session]:
        """Return the user's sessions, newest first, those that were archived too.

        Raises:
            ConfigurationError: ``limit`` is no whole number from 0 on.
        """
        limit = whole("limit", limit)
        with self._database.read() as tx:
            return session_rows.latest(tx, self._owner, limit=limit)

    def search(
        self, session: Session, query: str, k: int | None = None, **options: Any
    ) -> SearchResult:
        """Search the session's sources and record what was found; options as of ``search``.

        Raises:
            ConfigurationError: The session was archived.
        """
        result = self._search(query, k, **self._options(session, options))
        self._record(session, query, options.get("head"), result.hits)
        return result

    def recall(
        self, session: Session, query: str, k: int | None = None, **options: Any
    ) -> Recalled:
        """Recall from the session's sources and record the hits; options as of ``recall``.

        Pinned facts are there when their files are among the sources.

        Raises:
            ConfigurationError: The session was archived.
        """
        recalled = self._recall(query, k, **self._options(session, options))
        self._record(session, query, options.get("head"), recalled.hits)
        return recalled if self._sees_pinned(session) else replace(recalled, pinned="")

    def archive(self, session: Session) -> Session:
        """End a session; what it was shown stays. Twice is once."""
        session = self.get(session.id)
        with self._database.write() as tx:
            session_rows.archive(tx, session.id, now=self._clock())
        return self.get(session.id)

    def audit(self, session: Session) -> list[SessionRecall]:
        """Return which files and chunks the session was shown for which query, in order."""
        session = self.get(session.id)
        with self._database.read() as tx:
            return session_rows.recalls(tx, session.id)

    def replay(self, session: Session) -> list[SearchResult]:
        """Load the same context again: for each recorded query the hits it had then.

        Nothing is ranked anew. A chunk that has changed, or was forgotten or quarantined since,
        does not come back: ``degraded`` names it.
        """
        session = self.get(session.id)
        partitions = (
            *visibility.readable_partitions(self._actor),
            visibility.thread_partition(session.thread_id),
        )
        shown = self.audit(session)
        ids = list(dict.fromkeys(recorded["id"] for recall in shown for recorded in recall.hits))
        with self._database.read() as tx:
            aside = quarantines.hidden_sources(tx)
            found = stored_chunks.by_ids(tx, ids, partitions=partitions, now=self._clock())
        stored = {one: chunk for one, chunk in found.items() if chunk.source not in aside}
        return [_replayed(recall, stored) for recall in shown]

    def _uri(self, source: str) -> str:
        if source in self._sources.folders:
            return self._sources.folders[source] + "*"
        if ":" in source or source.endswith("*"):
            return source
        known = ", ".join(sorted(self._sources.folders)) or "none"
        raise ConfigurationError(
            f"{source!r} is no source. Use the name of a folder in the settings ({known}), "
            "a source URI, or a prefix that ends with *, like doc:*."
        )

    def _options(self, session: Session, options: Mapping[str, Any]) -> dict[str, Any]:
        session = self.get(session.id)
        if session.archived_at is not None:
            raise ConfigurationError(
                f"The session {session.id!r} was archived. Make another one with create()."
            )
        wanted = as_filter(options.get("filter"))
        if session.sources and wanted.sources:
            raise ConfigurationError("A session has its own sources; use filter's source instead.")
        wanted = replace(wanted, sources=session.sources or wanted.sources)
        return {
            **options,
            "filter": wanted,
            "actor": self._actor,
            "thread_id": session.thread_id,
        }

    def _sees_pinned(self, session: Session) -> bool:
        conditions = [source_condition(source) for source in session.sources]
        return not conditions or all(
            any(condition(uri) for condition in conditions) for uri in self._sources.pinned
        )

    def _record(self, session: Session, query: str, head: str | None, hits: Sequence[Hit]) -> None:
        recorded = tuple(
            {key: value for key, value in as_json(hit).items() if key not in _NOT_RECORDED}
            for hit in hits
        )
        recall = SessionRecall(clean_text(query), head, recorded, self._clock())
        with self._database.write() as tx:
            session_rows.add_recall(tx, session.id, recall)


def _replayed(recall: SessionRecall, stored: Mapping[str, StoredChunk]) -> SearchResult:
    there = [(recorded, stored.get(recorded["id"])) for recorded in recall.hits]
    return SearchResult(
        tuple(_hit(recorded, chunk) for recorded, chunk in there if chunk is not None),
        tuple(
            f"gone: {recorded['path'] or recorded['source']}"
            for recorded, chunk in there
            if chunk is None
        ),
    )


def _hit(recorded: Mapping[str, Any], stored: StoredChunk) -> Hit:
    again = {name: getattr(stored, name) for name in _NOT_RECORDED}
    return Hit(**{**recorded, **again, "receipt": Receipt(**recorded["receipt"])})
