"""Values under namespaces and keys, searched like everything else and apart from it.

The items under one first label share a partition of the index, which no search of an actor reads.
An item is the row that is given back and the chunks that are searched, written together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from langchain_memengine.config import MemEngineConfig
from langchain_memengine.retrieval.indexing import Indexer
from langchain_memengine.retrieval.item_search import Scored, Wanted, listed, ranked
from langchain_memengine.retrieval.search import Searcher
from langchain_memengine.retrieval.sources import TextChunks
from langchain_memengine.storage import chunks, store_items
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.item_values import (
    Namespace,
    StoredItem,
    root_of,
    source_of,
)
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.text.chunking import chunk_markdown
from langchain_memengine.text.sanitize import clean_text
from langchain_memengine.types import Provenance

SWEEP = 1000
"""Expired items that one write removes, at most."""


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
        if not wanted.is_asked:
            with self._database.read() as tx:
                return [(item, None) for item in listed(tx, wanted, now)]
        vector, _ = self._searcher.query_vector(wanted.query)
        with self._database.read() as tx:
            return ranked(tx, self._searcher, self._config.ranking, wanted, vector, now)

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
