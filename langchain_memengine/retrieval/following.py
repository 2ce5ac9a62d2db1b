"""What masks know of each partition: read once, and again after a change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from langchain_memengine.retrieval.partition import Partition
from langchain_memengine.storage.change_counters import Counters
from langchain_memengine.storage.transaction import Transaction

T = TypeVar("T")

_KEPT = 64


class PerPartition(Generic[T]):
    """Something of each partition, following the counters; for one thread at a time.

    Args:
        read: Reads it.
    """

    def __init__(self, read: Callable[[Transaction, Partition], T]) -> None:
        self._read = read
        self._known: dict[str, tuple[Counters, T]] = {}

    def of(self, tx: Transaction, partition: Partition, counters: Counters) -> T:
        """Return it as ``tx`` sees the database, which stands at these counters."""
        known = self._known.get(partition.key)
        if known is None or known[0] != counters:
            known = self._known[partition.key] = counters, self._read(tx, partition)
            while len(self._known) > _KEPT:
                self._known.pop(next(iter(self._known)))
        return known[1]
