"""Which texts are hidden behind others that say the same.

One is hidden only from those who can see the other in the same search: what a filter, a branch or a
time leaves out stands in for nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from langchain_memengine.retrieval.following import PerPartition
from langchain_memengine.retrieval.partition import Partition
from langchain_memengine.retrieval.view import View
from langchain_memengine.storage import hidden_chunks
from langchain_memengine.storage.change_counters import Counters
from langchain_memengine.storage.transaction import Transaction

Pairs = NDArray[np.int64]
Mask = NDArray[np.bool_]


class HiddenPairs:
    """Answers what is hidden, following the counter of changes; for one thread at a time.

    A store in which nothing was ever hidden or superseded pays nothing.
    """

    def __init__(self) -> None:
        self._pairs = PerPartition(_pairs_of)

    def mask(
        self,
        tx: Transaction,
        view: View,
        counters: Counters,
        seen: Mask | None,
        as_of_ms: int | None = None,
    ) -> Mask | None:
        """Return which of the positions that can be seen are not hidden behind another of them.

        Args:
            tx: A view of the database.
            view: The partitions.
            counters: Where the database stands.
            seen: Positions that can be seen at all; ``None`` is all.
            as_of_ms: What was hidden later is not.
        """
        if not counters.commits:
            return seen
        shown = np.ones(len(view), np.bool_) if seen is None else seen.copy()
        for number, partition in enumerate(view.partitions):
            pairs = self._pairs.of(tx, partition, counters)
            if as_of_ms is not None:
                pairs = pairs[:, pairs[2] <= as_of_ms]
            hidden, kept = (_positions(view, number, partition, nums) for nums in pairs[:2])
            if seen is not None:
                hidden = hidden[seen[kept]]
            shown[hidden] = False
        return seen if seen is None and shown.all() else shown


def _pairs_of(tx: Transaction, partition: Partition) -> Pairs:
    """Return numbers of hidden chunks, of those they are hidden behind, and times: (3, n)."""
    rows = hidden_chunks.standing(tx, partition.key)
    pairs = np.asarray(rows, np.int64).reshape(-1, 3).T
    return pairs[:, np.isin(pairs[:2], partition.nums).all(axis=0)]


def _positions(view: View, number: int, partition: Partition, nums: Pairs) -> Pairs:
    return view.positions_of(number, partition.slots_of(nums))
