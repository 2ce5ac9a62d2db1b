"""Which memories are valid at a time, so that those that are not take no place from others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from langchain_memengine.retrieval.following import PerPartition
from langchain_memengine.retrieval.partition import Partition
from langchain_memengine.retrieval.view import View
from langchain_memengine.storage import commit_chunks
from langchain_memengine.storage.change_counters import Counters
from langchain_memengine.storage.transaction import Transaction

_ALWAYS = -(2**63)
_NEVER = 2**63 - 1

Limits = NDArray[np.int64]


class Validity:
    """Answers what is not valid, following the change counter; for one thread at a time.

    A store in which everything is valid for ever pays one small query after a change.
    """

    def __init__(self) -> None:
        self._limits = PerPartition(_limits_of)

    def mask(
        self, tx: Transaction, view: View, counters: Counters, now_ms: int
    ) -> NDArray[np.bool_] | None:
        """Return which positions of a view are valid; ``None`` if all are."""
        limits = [self._limits.of(tx, partition, counters) for partition in view.partitions]
        if not any(one.size for one in limits):
            return None
        return view.all_but(
            [nums[(begins > now_ms) | (ends <= now_ms)] for nums, begins, ends in limits]
        )


def _limits_of(tx: Transaction, partition: Partition) -> Limits:
    """Return numbers, beginnings and ends of the limited chunks, shape (3, n)."""
    rows = [
        (num, _ALWAYS if begins is None else begins, _NEVER if ends is None else ends)
        for num, begins, ends in commit_chunks.limited(tx, partition.key)
    ]
    return np.asarray(rows, np.int64).reshape(-1, 3).T
