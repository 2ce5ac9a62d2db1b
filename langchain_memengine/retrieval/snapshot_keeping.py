"""Which partitions of a store are written to disk, and when it pays."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import NamedTuple

from langchain_memengine.errors import StorageError
from langchain_memengine.retrieval.derived_files import remove
from langchain_memengine.retrieval.partition import Partition
from langchain_memengine.retrieval.snapshot import Origin, folder_of, load, save
from langchain_memengine.storage.change_counters import Counters

logger = logging.getLogger(__name__)

MIN_CHUNKS = 500
"""Smaller partitions are built from SQL as fast as they are loaded."""

_MIN_LIVING = 0.5  # share of the slots; below, building again is better: it leaves no empty slot
_MAX_DRIFT = 0.01  # share of the slots that may change until writing everything again pays


class _Extent(NamedTuple):
    """How much a partition holds; what tells whether it changed enough to be written."""

    slots: int
    documents: int
    vectors: int
    model: str | None

    @classmethod
    def of(cls, partition: Partition) -> _Extent:
        return cls(
            len(partition.nums),
            partition.keyword.corpus_size,
            len(partition.vectors),
            partition.standing.model,
        )

    @property
    def is_worthwhile(self) -> bool:
        return self.documents >= max(MIN_CHUNKS, _MIN_LIVING * self.slots)

    def is_near(self, kept: _Extent) -> bool:
        """Return whether following the database from ``kept`` costs less than writing this."""
        drift = abs(self.slots - kept.slots) + abs(self.documents - kept.documents)
        if self.model is not None:  # a search without an embedder needs no vectors, the next may
            if self.model != kept.model:
                return False
            drift += abs(self.vectors - kept.vectors)
        return drift <= _MAX_DRIFT * kept.slots


class Snapshots:
    """The snapshots of one store.

    Args:
        folder: Where they are; made when the first one is written.
        origin: What they are made from.
        writes: Whether this process holds the lock on the derived files. Without it, snapshots
            are only read.
    """

    def __init__(self, folder: Path, origin: Origin, *, writes: bool) -> None:
        self._folder = folder
        self._origin = origin
        self._writes = writes
        self._kept: dict[str, _Extent] = {}

    def write_from_now_on(self, origin: Origin) -> None:
        """Begin to write, after the lock was taken over.

        Args:
            origin: What snapshots are made from, which may be another one by now.
        """
        self._origin = origin
        self._writes = True
        self._kept.clear()  # the process before may have written or removed any since

    def load(self, empty: Partition, counters: Counters) -> Partition | None:
        """Fill a partition from its snapshot, see :func:`load`."""
        partition = load(self._folder, empty, self._origin, counters)
        if partition is not None:
            self._kept[partition.key] = _Extent.of(partition)
        return partition

    def discard(self, key: str) -> None:
        """Remove the snapshot of a partition, also that of the process that maintains them."""
        remove(folder_of(self._folder, key))
        self._kept.pop(key, None)

    def save(self, partition: Partition) -> None:
        """Write a partition if this process may and the snapshot on disk is far from it.

        A snapshot of a partition that became too small, or mostly empty, is removed. A failure is
        logged: the snapshot before stays, and the database has everything.
        """
        if not self._writes:
            return
        extent = _Extent.of(partition)
        kept = self._kept.get(partition.key)
        if not extent.is_worthwhile:
            self.discard(partition.key)
            return
        if kept is not None and extent.is_near(kept):
            return
        try:
            save(partition, self._folder, self._origin)
        except (OSError, StorageError) as error:
            logger.warning(
                "The index of partition %r was not saved: %s. The next start builds or updates it "
                "from the database.",
                partition.key,
                error,
            )
        else:
            self._kept[partition.key] = extent
