"""The partitions of a store that are in memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import AbstractContextManager

from langchain_memengine.retrieval.partition import Partition, Splitter
from langchain_memengine.retrieval.snapshot_keeping import Snapshots
from langchain_memengine.retrieval.view import View
from langchain_memengine.storage.change_counters import Counters
from langchain_memengine.storage.transaction import Transaction

_MAX_PARTITIONS = 64


class Partitions:
    """The partitions in memory: loaded on first use, the coldest dropped.

    One thread at a time may use them: hold ``lock`` from :meth:`view` to the last array.

    Args:
        splitter: Splits a chunk's text into the words that the keyword index counts.
        k1: Saturation of the term frequency.
        b: Strength of the length normalisation, 0 to 1.
        snapshots: Where partitions are kept from one run to the next.
    """

    def __init__(
        self, splitter: Splitter, *, k1: float, b: float, snapshots: Snapshots | None = None
    ) -> None:
        self.lock: AbstractContextManager[object] = threading.RLock()
        self._splitter = splitter
        self._k1 = k1
        self._b = b
        self._snapshots = snapshots
        self._loaded: OrderedDict[str, Partition] = OrderedDict()
        self._latest: tuple[tuple[Counters, tuple[str, ...], str | None], View] | None = None

    def view(
        self, tx: Transaction, counters: Counters, keys: tuple[str, ...], model: str | None
    ) -> View:
        """Return these partitions as they are in the database now.

        Args:
            tx: A view of the database.
            counters: Where that view stands.
            keys: Which partitions.
            model: Identity of the embedding model whose vectors are wanted.
        """
        if self._latest is not None and self._latest[0] == (counters, keys, model):
            return self._latest[1]
        found = []
        for key in keys:
            partition = self._loaded.get(key)
            if partition is None:
                partition = self._loaded[key] = self._first(key, counters)
            self._loaded.move_to_end(key)
            partition.follow(tx, counters, model)
            found.append(partition)
        while len(self._loaded) > max(_MAX_PARTITIONS, len(keys)):
            self._loaded.popitem(last=False)
        self._latest = ((counters, keys, model), View(found))
        return self._latest[1]

    def follow(self, tx: Transaction, counters: Counters) -> None:
        """Let what is in memory catch up, so that no search has to; hold the lock."""
        self._latest = None
        for partition in self._loaded.values():
            partition.follow(tx, counters, partition.standing.model)

    def save(self, *, forgotten_at: int = 0) -> None:
        """Keep what is in memory for the next run, as far as that is worthwhile.

        Args:
            forgotten_at: Value of the change counter when something was last forgotten; what is
                older is not kept, because it may still hold it.
        """
        if self._snapshots is None:
            return
        with self.lock:
            for partition in self._loaded.values():
                if partition.changes >= forgotten_at:
                    self._snapshots.save(partition)

    def discard(self, keys: Sequence[str]) -> None:
        """Forget partitions, here and as they were kept: they are built again when next used."""
        with self.lock:
            self._latest = None
            for key in keys:
                self._loaded.pop(key, None)
                if self._snapshots is not None:
                    self._snapshots.discard(key)

    def _first(self, key: str, counters: Counters) -> Partition:
        """Return a partition that is not in memory yet: as it was kept, or empty."""
        kept = self._snapshots.load(self._empty(key), counters) if self._snapshots else None
        return kept or self._empty(key)

    def _empty(self, key: str) -> Partition:
        return Partition(key, self._splitter, k1=self._k1, b=self._b)
