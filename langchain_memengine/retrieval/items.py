"""Values under namespaces and keys, searched like everything else and apart from it.

The items under one first label share a partition of the index, which no search of an actor reads.
An item is the row that is given back and the chunks that are searched, written together.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from langchain_memengine.config import MemEngineConfig
from langchain_memengine.retrieval.embedding_cache import FloatArray
from langchain_memengine.retrieval.hit_rows import read_hits
from langchain_memengine.retrieval.indexing import Indexer
from langchain_memengine.retrieval.item_filters import matches
from langchain_memengine.retrieval.query import Query, Stopwatch
from langchain_memengine.retrieval.search import Searcher
from langchain_memengine.retrieval.sources import TextChunks
from langchain_memengine.storage import chunks, store_items
from langchain_memengine.storage.chunk_values import partition_key
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.item_values import (
    Namespace,
    StoredItem,
    root_of,
    source_of,
    source_prefix,
)
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.text.chunking import chunk_markdown
from langchain_memengine.text.sanitize import clean_text
from langchain_memengine.types import (
    Filter,
    Provenance,
)

SWEEP = 1000
"""Expired items that one write removes, at most."""

_ANY_COSINE = -1.0
_FETCH_GROWTH = 4


@dataclass(frozen=True, slots=True)
class NewItem:
    """An item to put.

    Attributes:
        namespace: Where.
        key: Under which name.
        value: JSON values; ``None`` removes the item.
        texts: What of it is searched; nothing keeps it out of the ranking.
        ttl: Time to keep it after it was last put or read; ``None`` for ever.
    """

    namespace: Namespace
    key: str
    value: Mapping[str, Any] | None
    texts: Sequence[str] = ()
    ttl: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which items a search returns.

    Attributes:
        prefix: In and under this namespace.
        query: What is asked; without it the order is that of creation.
        filter: Conditions on the value, see :func:`item_filters.matches`.
        limit: Items, at most.
        offset: Items that are passed over.
    """

    prefix: Namespace
    query: str = ""
    filter: Mapping[str, Any] = field(default_factory=dict)
    limit: int = 10
    offset: int = 0

    @property
    def end(self) -> int:
        """Items up to the last one wanted."""
        return self.offset + self.limit


Scored = tuple[StoredItem, float | None]


class Items:
    """The items of a store."""

    def __init__(
        self,
        database: Database,
        indexer: Indexer,
        searcher: Searcher,
        config: MemEngineConfig,
        clock: Callable[[], datetime],
    ) -> None:
        self._database = database
        self._indexer = indexer
        self._searcher = searcher
        self._config = config
        self._clock = clock

    def get(self, places: Sequence[tuple[Namespace, str]]) -> list[StoredItem | None]:
        """Return the item at each place, ``None`` where there is none."""
        sources = [source_of(namespace, key) for namespace, key in places]
        with self._database.read() as tx:
            found = store_items.by_sources(tx, sources, self._clock())
        return [found.get(source) for source in sources]

    def search(self, wanted: Wanted) -> list[Scored]:
        """Return items with their scores: those that answer the query best first, then the others.

        An item that the query could not be compared with has no score: it has no text that is
        searched, or no embedding and none of the query's words.

        Raises:
            ConfigurationError: The filter has an unknown operator.
            StorageError: The database failed.
        """
        now = self._clock()
        if not (wanted.limit and wanted.query.strip()):
            return [(item, None) for item in self._listed(wanted, now)]
        vector, _ = self._searcher.query_vector(wanted.query)
        with self._database.read() as tx:
            passing = _passing(tx, wanted, now) if wanted.filter else None
            scores = self._scores(tx, wanted, passing, vector, now)
            best = list(scores)[wanted.offset : wanted.end]
            items = _in_order(tx, best, now)
            answers: list[Scored] = [(item, scores[item.source]) for item in items]
            if len(scores) < wanted.end:
                answers += _unscored(tx, wanted, passing, scores, now)
        return answers

    def namespaces(self) -> list[Namespace]:
        """Return the namespaces that have items, sorted."""
        with self._database.read() as tx:
            return sorted(store_items.namespaces(tx, self._clock()))

    def put(self, new: Sequence[NewItem]) -> None:
        """Put and remove items, all or none; of two at one place the last one counts.

        Expired items are removed on the way.

        Raises:
            StorageError: The database failed; nothing of this call is stored.
        """
        now = self._clock()
        last = {source_of(item.namespace, item.key): item for item in new}
        pieces = {source: self._chunks(source, item, now) for source, item in last.items()}
        kept = [
            _stored(item, item.value, indexed=bool(pieces[source]), now=now)
            for source, item in last.items()
            if item.value is not None
        ]
        gone = [source for source, item in last.items() if item.value is None]

        def store_rows(tx: Transaction) -> None:
            store_items.put(tx, kept)
            store_items.remove(tx, gone)
            self._remove_expired(tx, now)

        self._indexer.put_with(pieces, store_rows)

    def refresh(self, items: Sequence[StoredItem]) -> None:
        """Let items that were read be kept for a whole time to live from now."""
        sources = [item.source for item in items if item.ttl is not None]
        if sources and not self._database.read_only:
            with self._database.write() as tx:
                store_items.refresh(tx, sources, self._clock())

    def sweep(self) -> int:
        """Remove all expired items; return how many there were."""
        removed = 0
        while True:
            with self._database.write() as tx:
                count = self._remove_expired(tx, self._clock())
            removed += count
            if count < SWEEP:
                return removed

    def _remove_expired(self, tx: Transaction, now: datetime) -> int:
        expired = store_items.expired(tx, now, limit=SWEEP)
        if expired:
            chunks.replace_sources(tx, {source: [] for source in expired}, now=now)
            store_items.remove(tx, expired)
        return len(expired)

    def _listed(self, wanted: Wanted, now: datetime) -> list[StoredItem]:
        with self._database.read() as tx:
            if wanted.filter:
                page = _passing(tx, wanted, now)[wanted.offset : wanted.end]
                return _in_order(tx, page, now)
            return store_items.under(
                tx, wanted.prefix, now, limit=wanted.limit, offset=wanted.offset
            )

    def _scores(
        self,
        tx: Transaction,
        wanted: Wanted,
        passing: Sequence[str] | None,
        vector: FloatArray | None,
        now: datetime,
    ) -> dict[str, float]:
        """Return the scores of the best items, by source, best first, up to the last wanted."""
        roots = [root_of(wanted.prefix)] if wanted.prefix else store_items.roots(tx)
        if not roots or (passing is not None and not passing):
            return {}
        only = Filter()
        if passing is not None:
            only = Filter(sources=tuple(passing))
        elif len(wanted.prefix) > 1:  # a whole partition needs no filter
            only = Filter(source=f"{source_prefix(wanted.prefix)}*")
        query = Query(
            text=clean_text(wanted.query),
            k=wanted.end,
            ranking=self._config.ranking,
            partitions=tuple(partition_key("store", root) for root in roots),
            now=now,
            filter=only,
            min_cosine=_ANY_COSINE,
        )
        return self._ranked(tx, query, vector)

    def _ranked(self, tx: Transaction, query: Query, vector: FloatArray | None) -> dict[str, float]:
        """Return the ``k`` best items by their best chunk, or all there are."""
        fetch = query.ranking.fetch_k(query.k)
        while True:
            ranked = self._searcher.rank(tx, query, vector, fetch, Stopwatch())
            best: dict[str, float] = {}
            for hit in read_hits(tx, query, ranked):
                best.setdefault(hit.source, hit.score)
                if len(best) == query.k:
                    return best
            if len(ranked.candidates) < fetch:
                return best
            fetch *= _FETCH_GROWTH  # some items have many chunks

    def _chunks(self, source: str, item: NewItem, now: datetime) -> TextChunks:
        if item.value is None:
            return []
        provenance = Provenance(
            scope="store",
            owner=root_of(item.namespace),
            trust="unverified",
            event_at=now,
            expires_at=None if item.ttl is None else now + item.ttl,
        )
        config = self._config
        return [
            (chunk, provenance)
            for text in item.texts
            for chunk in chunk_markdown(
                clean_text(text), config.chunk_tokens, config.overlap_tokens, source=source
            )
        ]


def _passing(tx: Transaction, wanted: Wanted, now: datetime) -> list[str]:
    """Return the sources of the items whose values satisfy the filter, oldest first."""
    values = store_items.values_under(tx, wanted.prefix, now)
    return [source for source, value in values if matches(json.loads(value), wanted.filter)]


def _in_order(tx: Transaction, sources: Sequence[str], now: datetime) -> list[StoredItem]:
    found = store_items.by_sources(tx, sources, now)
    return [found[source] for source in sources]


def _unscored(
    tx: Transaction,
    wanted: Wanted,
    passing: Sequence[str] | None,
    scored: Collection[str],
    now: datetime,
) -> list[Scored]:
    """Return the items after the scored ones."""
    start = max(0, wanted.offset - len(scored))
    end = wanted.end - len(scored)
    if passing is None:
        items = store_items.under(tx, wanted.prefix, now, limit=wanted.end + len(scored))
        others = [item for item in items if item.source not in scored][start:end]
    else:
        page = [source for source in passing if source not in scored][start:end]
        others = _in_order(tx, page, now)
    return [(item, None) for item in others]


def _stored(item: NewItem, value: Mapping[str, Any], *, indexed: bool, now: datetime) -> StoredItem:
    return StoredItem(
        namespace=item.namespace,
        key=item.key,
        value=value,
        indexed=indexed,
        created_at=now,
        updated_at=now,
        ttl=item.ttl,
        expires_at=None if item.ttl is None else now + item.ttl,
    )
