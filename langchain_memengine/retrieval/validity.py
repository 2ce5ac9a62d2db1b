"""Which memories are valid at a time, so that those that are not take no place from others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from langchain_memengine.retrieval.partition import Partition
from langchain_memengine.retrieval.view import View
from langchain_memengine.storage import commit_chunks
from langchain_memengine.storage.database import Counters, Transaction

_ALWAYS = -(2**63)
_NEVER = 2**63 - 1
_KEPT = 64

Limits = NDArray[np.int64]


class Validity:
    """Answers what is not valid, following the change counter; for one thread at a time.

    A store in which everything is valid for ever pays one small query after a change.
    """

    def __init__(self) -> None:
        self._limits: dict[str, tuple[int, Limits]] = {}

    def mask(
        self, tx: Transaction, view: View, counters: Counters, now_ms: int
    ) -> NDArray[np.bool_] | None:
        """Return which positions of a view are valid; ``None`` if all are."""
        limits = [self._limits_of(tx, partition, counters) for partition in view.partitions]
        if not any(one.size for one in limits):
            return None
        masks = []
        for partition, (nums, begins, ends) in zip(view.partitions, limits, strict=True):
            mask = np.ones(len(partition.nums), np.bool_)
            mask[partition.slots_of(nums[(begins > now_ms) | (ends <= now_ms)])] = False
            masks.append(mask)
        joined: NDArray[np.bool_] = view.join(masks)
        return None if joined.all() else joined

    def _limits_of(self, tx: Transaction, partition: Partition, counters: Counters) -> Limits:
        """Return numbers, beginnings and ends of the limited chunks, shape (3, n)."""
        known = self._limits.get(partition.key)
        if known is None or known[0] != counters.changes:
            rows = [
                (num, _ALWAYS if begins is None else begins, _NEVER if ends is None else ends)
                for num, begins, ends in commit_chunks.limited(tx, partition.key)
            ]
            limits = np.asarray(rows, np.int64).reshape(-1, 3).T
            known = self._limits[partition.key] = (counters.changes, limits)
            while len(self._limits) > _KEPT:
                self._limits.pop(next(iter(self._limits)))
        return known[1]
