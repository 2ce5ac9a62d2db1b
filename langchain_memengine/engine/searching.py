"""Find memories, say why, and recall them for a prompt."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from langchain_memengine.answers import Explanation, Hit, SearchResult
from langchain_memengine.engine.pinning import Pinning
from langchain_memengine.engine.reading_records import sources_named
from langchain_memengine.engine.syncing_first import may_know_of
from langchain_memengine.errors import ConfigurationError, NotFoundError
from langchain_memengine.given import whole
from langchain_memengine.rankings import Ranking, checked_ranking
from langchain_memengine.retrieval import visibility
from langchain_memengine.retrieval.explain import explain
from langchain_memengine.retrieval.filters import as_filter
from langchain_memengine.retrieval.query import Query, Vantage
from langchain_memengine.retrieval.recall import Recalled, fence_nonce
from langchain_memengine.storage import commits
from langchain_memengine.text.heads import split_heads
from langchain_memengine.text.sanitize import as_utc, clean_text
from langchain_memengine.types import Actor, Filter


class Searching(Pinning):
    """The chapter of the engine that answers."""

    def search(  # noqa: PLR0913  # keywords, each with a default
        self,
        query: str,
        k: int | None = None,
        *,
        ranking: Ranking | str | None = None,
        filter: Filter | Mapping[str, Any] | None = None,  # noqa: A002  # LangChain's own name
        actor: Actor | None = None,
        max_chars: int = 0,
        max_tokens: int = 0,
        thread_id: str | None = None,
        head: str | None = None,
        as_of: str | datetime | None = None,
        graph_hops: int | None = None,
    ) -> SearchResult:
        """Find memories.

        Args:
            query: What is asked, in any language; an empty one finds nothing.
            k: Hits, at most; default: the ranking's own.
            ranking: A preset's name or a ranking of your own; default: the config's.
            filter: What may be returned; a plain mapping is a filter on metadata.
            actor: Whose personal memory is searched beside what all may read.
            max_chars: Characters of all hits together; 0 is unlimited.
            max_tokens: Estimated tokens of all hits together; 0 is unlimited.
            thread_id: Conversation that asks: what several users left in its archive is searched
                too. Give it to those who take part in it.
            head: The ``memory_head`` of its state: it sees what its own branch learnt. Without
                it, each conversation counts as its newest branch has it.
            as_of: Only what was known at this time, or at this head; texts added or replaced
                since are left out. Files are as they are now, and ``degraded`` says so.
            graph_hops: Relations of the graph to follow from what the query names and from what
                is found without it, at most 6; 0 leaves the graph out; default: the ranking's own.

        Raises:
            ConfigurationError: A number cannot work, or ranking, filter or branch cannot work.
            UnknownCommitError: A head is no memory commit of the thread.
            StorageError: The database failed.
        """
        asked = self._query(
            query, k, ranking, filter, actor, max_chars=max_chars, max_tokens=max_tokens
        )
        asked = self._seen_from(asked, thread_id, head, as_of)
        if graph_hops is not None:
            asked = replace(asked, graph_hops=graph_hops)
        auto_synced, problems, sync_ms = self._sync_if_due(actor or self.actor)
        problems = (*problems, *self._take_over_if_due())
        with self._traffic.searching():
            if asked.graph_hops:
                self._forget_in_graph()
            result = self._searcher.search(asked)
        if as_of is not None and any(hit.path for hit in result.hits):
            problems = (*problems, "as_of: files are as they are now.")
        timings = {**result.timings, "sync": sync_ms}
        return SearchResult(result.hits, (*problems, *result.degraded), auto_synced, timings)

    def explain(  # noqa: PLR0913  # keywords, as in `search`
        self,
        query: str,
        chunk_id: str,
        k: int | None = None,
        *,
        ranking: Ranking | str | None = None,
        filter: Filter | Mapping[str, Any] | None = None,  # noqa: A002  # LangChain's own name
        actor: Actor | None = None,
        thread_id: str | None = None,
        head: str | None = None,
        as_of: str | datetime | None = None,
    ) -> Explanation:
        """Say why a memory is, or is not, among the hits of a query.

        Args:
            query: What is asked.
            chunk_id: The id that a text or a record was added with, the path of a file, the place
                of a hit (``path:start-end``), or the id of a hit, of which a beginning that no
                other has is enough. Of a memory of several chunks the one that stands highest is
                explained.
            k: Hits, at most; default: the ranking's own.
            ranking: A preset's name or a ranking of your own; default: the config's.
            filter: What may be returned; a plain mapping is a filter on metadata.
            actor: Who asks.
            thread_id: Conversation that asks, as in :meth:`search`.
            head: The branch it is on.
            as_of: A time or a head.

        Raises:
            NotFoundError: There is no such memory, or the actor may not read it.
            UnknownCommitError: A head is no memory commit of the thread.
        """
        asked = self._query(query, k, ranking, filter, actor)
        asked = self._seen_from(asked, thread_id, head, as_of)
        sources = sources_named(chunk_id, actor or self.actor)
        try:
            with self._traffic.searching():
                return explain(self._database, self._searcher, asked, chunk_id, sources)
        except NotFoundError:
            why = self._why_left_out(chunk_id, actor or self.actor)
            if why is None:
                raise
            return Explanation(chunk_id, found=False, reason=f"Nothing of it is found: {why}.")

    def _why_left_out(self, path: str, actor: Actor) -> str | None:
        """Return why nothing of a file can be found; ``None`` if there is none, or not for them."""
        if not may_know_of(actor, path):
            return None
        reasons = (self._indexer.why_left_out(source, path) for source in self._sources)
        return next(filter(None, reasons), None)

    def recall(  # noqa: PLR0913  # keywords, as in `search`
        self,
        query: str,
        k: int | None = None,
        *,
        pinned_cap: int | None = None,
        filter: Filter | Mapping[str, Any] | None = None,  # noqa: A002  # LangChain's own name
        actor: Actor | None = None,
        max_tokens: int = 0,
        thread_id: str | None = None,
        head: str | None = None,
        as_of: str | datetime | None = None,
    ) -> Recalled:
        """Return what an agent should know before it answers: pinned facts and other memories.

        Args:
            query: The user's message, or what it is about.
            k: Hits, at most; default: the ranking's own.
            pinned_cap: Characters of MEMORY.md, at most; default: the config's.
            filter: Which memories; pinned facts are not filtered.
            actor: Whose memory.
            max_tokens: Estimated tokens of the hits together; 0 is unlimited.
            thread_id: Conversation the fragment is for; its fence stays the same all along.
            head: The ``memory_head`` of its state: it sees what its own branch learnt.
            as_of: Only what was known at this time, or at this head, as in :meth:`search`.

        Raises:
            ConfigurationError: A number cannot work.
            UnknownCommitError: A head is no memory commit of the thread.
            StorageError: The database failed.
        """
        actor = actor or self.actor
        cap = self.config.pinned_cap if pinned_cap is None else whole("pinned_cap", pinned_cap)
        pinned = self._pinned(actor, cap)
        wanted = as_filter(filter)
        not_sources = (*wanted.not_sources, *pinned.sources)
        result = self.search(
            query,
            k,
            filter=replace(wanted, not_sources=not_sources),
            actor=actor,
            max_tokens=max_tokens,
            thread_id=thread_id,
            head=head,
            as_of=as_of,
        )
        return Recalled(
            pinned.text,
            result.hits,
            (*pinned.problems, *result.degraded),
            fence_nonce(self._secret, thread_id),
        )

    def record_access(self, hits: Sequence[Hit]) -> None:
        """Count hits that were of use; written in batches, at the latest when closing."""
        self._access_counts.add(hit.id for hit in hits)

    async def asearch(self, query: str, k: int | None = None, **options: Any) -> SearchResult:
        """Find memories without blocking the event loop; options as in :meth:`search`."""
        return await asyncio.to_thread(self.search, query, k, **options)

    async def arecall(self, query: str, k: int | None = None, **options: Any) -> Recalled:
        """Recall without blocking the event loop; options as in :meth:`recall`."""
        return await asyncio.to_thread(self.recall, query, k, **options)

    def _query(
        self,
        text: str,
        k: int | None,
        ranking: Ranking | str | None,
        wanted: Filter | Mapping[str, Any] | None,
        actor: Actor | None,
        *,
        max_chars: int = 0,
        max_tokens: int = 0,
    ) -> Query:
        chosen = self.config.ranking if ranking is None else checked_ranking(ranking)
        return Query(
            text=clean_text(text),
            k=chosen.k if k is None else k,
            ranking=chosen,
            partitions=visibility.readable_partitions(actor or self.actor),
            now=self._clock(),
            filter=_in_utc(as_filter(wanted)),
            max_chars=max_chars,
            max_tokens=max_tokens,
            graph_hops=chosen.graph_hops,
        )

    def _seen_from(
        self,
        asked: Query,
        thread_id: str | None,
        head: str | None,
        as_of: str | datetime | None,
    ) -> Query:
        """Return the query as asked from a branch or a time; ages count back from that time."""
        if thread_id is not None:
            thread_id = clean_text(thread_id)
            own = visibility.thread_partition(thread_id)
            asked = replace(asked, partitions=(*asked.partitions, own))
        if isinstance(as_of, str):
            if head is not None or not split_heads(as_of):
                raise ConfigurationError(
                    f"as_of={as_of!r} must be a time or a head, and a head goes without head=."
                )
            head = as_of
            with self._database.read() as tx:
                thread_id, as_of = commits.origin(tx, head, thread_id)
        if as_of is not None:
            as_of = as_utc(as_of)
            asked = replace(asked, now=as_of)
        if head is None and as_of is None:
            return asked
        return replace(asked, vantage=Vantage(thread_id, head, as_of))


def _in_utc(wanted: Filter) -> Filter:
    """Return a filter whose times compare with stored ones: a naive time is read as UTC."""
    if wanted.since is None and wanted.until is None:
        return wanted
    if wanted.since and wanted.until and as_utc(wanted.since) >= as_utc(wanted.until):
        raise ConfigurationError(
            f"Nothing is at or after {wanted.since} and before {wanted.until}: swap them."
        )
    return replace(
        wanted,
        since=None if wanted.since is None else as_utc(wanted.since),
        until=None if wanted.until is None else as_utc(wanted.until),
    )
