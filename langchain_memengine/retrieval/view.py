"""Several partitions as one.

Positions number the slots of all partitions of a view through, in the order of the partitions, so
that one array holds the scores of everything an actor can see.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from langchain_memengine.retrieval.partition import Partition
from langchain_memengine.retrieval.surroundings import NOBODY
from langchain_memengine.retrieval.vector_matrix import Unrelated

Ints = NDArray[np.int64]

_VECTOR_SAMPLE = 400


class View:
    """The partitions that an actor may read, as one space of positions.

    It is valid until a partition changes: sizes are counted once.
    """

    def __init__(self, partitions: Sequence[Partition]) -> None:
        # Most users have no memory of their own: what is empty costs nothing.
        self.partitions = [p for p in partitions if p.keyword.corpus_size] or partitions[:1]
        sizes = [len(partition.nums) for partition in self.partitions]
        self._starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    def __len__(self) -> int:
        """Return the number of positions."""
        return int(self._starts[-1])

    @cached_property
    def vectors(self) -> int:
        """Vectors in all partitions together."""
        return sum(len(partition.vectors) for partition in self.partitions)

    @cached_property
    def unembedded(self) -> int:
        """Documents without a vector."""
        return sum(p.keyword.corpus_size for p in self.partitions) - self.vectors

    @cached_property
    def vector_sample(self) -> NDArray[np.float32]:
        """Some vectors, up to 400, evenly spread; shape (n, dimension).

        Counted over those that are there: what was removed must not decide which they are, else
        a store would be ranked otherwise after it is opened again.
        """
        embedded: Ints = np.flatnonzero(self.join([p.vectors.present for p in self.partitions]))
        return self.vector_rows(embedded[:: -(-len(embedded) // _VECTOR_SAMPLE) or 1])

    @cached_property
    def unrelated(self) -> Unrelated:
        """Cosines of unrelated texts, measured where most vectors are."""
        return max(self.partitions, key=lambda partition: len(partition.vectors)).unrelated

    def join(self, arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """Return one array over all positions from one array a partition."""
        return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)

    def all_but(self, nums: Sequence[Ints]) -> NDArray[np.bool_] | None:
        """Return which positions are left without these chunks; ``None`` if all are.

        Args:
            nums: One array of chunk numbers a partition.
        """
        masks = [np.ones(len(partition.nums), np.bool_) for partition in self.partitions]
        for mask, partition, gone in zip(masks, self.partitions, nums, strict=True):
            mask[partition.slots_of(gone)] = False
        joined = self.join(masks)
        return None if joined.all() else joined

    def split(self, array: NDArray[Any]) -> list[NDArray[Any]]:
        """Return one array a partition from one over all positions, as views of it."""
        return np.split(array, self._starts[1:-1])

    def take(self, positions: Ints, of: Callable[[Partition, Ints], NDArray[Any]]) -> NDArray[Any]:
        """Return ``of(partition, slots)`` for some positions, in their order."""
        if len(self.partitions) == 1:
            return of(self.partitions[0], positions)
        owner = np.searchsorted(self._starts, positions, side="right") - 1
        places = [np.flatnonzero(owner == number) for number in range(len(self.partitions))]
        joined = np.concatenate(
            [
                of(partition, positions[mine] - start)
                for partition, mine, start in zip(
                    self.partitions, places, self._starts, strict=False
                )
            ]
        )
        taken: NDArray[Any] = np.empty_like(joined)
        taken[np.concatenate(places)] = joined
        return taken

    def newness(self, positions: Ints) -> NDArray[np.float64]:
        """Return how new some positions are, higher is newer; what never ages is the newest."""
        days = self.take(positions, lambda p, slots: p.event_days(slots))
        return np.where(np.isnan(days), np.inf, days)

    def vector_rows(self, positions: Ints) -> NDArray[np.float32]:
        """Return the vectors of some positions, zeros where there is none; (n, dimension)."""
        dimension = max(partition.vectors.dimension for partition in self.partitions)

        def of(partition: Partition, slots: Ints) -> NDArray[np.float32]:
            return np.broadcast_to(partition.vectors.rows(slots), (len(slots), dimension))

        return self.take(positions, of)

    @cached_property
    def has_context(self) -> bool:
        """Whether anything stands around any chunk."""
        return any(partition.surroundings.has_groups for partition in self.partitions)

    def neighbours(self, positions: Ints) -> Ints:
        """Return the positions before and after each one in its file or conversation.

        Shape (n, 2), ``NOBODY`` at the ends.
        """
        starts = dict(zip((p.key for p in self.partitions), self._starts.tolist(), strict=False))

        def of(partition: Partition, slots: Ints) -> Ints:
            found = np.stack(partition.surroundings.neighbours(slots), axis=1)
            return np.where(found == NOBODY, NOBODY, found + starts[partition.key])

        return self.take(positions, of)

    def positions_of(self, number: int, slots: Ints) -> Ints:
        """Return the positions of slots of the partition with this number."""
        positions: Ints = slots + self._starts[number]
        return positions
