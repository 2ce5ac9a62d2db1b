"""Exact vector search: one matrix, one row for each slot.

Cosines are dot products row by row: they read the matrix once, from beginning to end, at the speed
of the memory, and a row's cosine is the same to its last digit wherever it stands. They stay on one
thread, too; a product of matrices takes one for each processor, and then waits for processors that
other programs hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from langchain_memengine.retrieval.growing import GrowingArray

FloatArray = NDArray[np.float32]

NO_COSINE = -2.0
"""Stands for "no embedding" in arrays of cosines: below every cosine."""

_FEW = 0.15
"""Share of the slots up to which the vectors of some are picked out: to read all in order is faster
above."""

_PICKED = 256
"""Vectors that are picked out at a time: so many stay in the processor's cache."""

_SAMPLED_PAIRS = 400
_FEW_VECTORS = 16


class Unrelated(NamedTuple):
    """Cosines of texts that have nothing to do with each other.

    Attributes:
        average: Their mean, 0 to 0.95.
        rarely_over: Their mean plus two standard deviations, 0.1 to 0.8.
    """

    average: float
    rarely_over: float


class VectorMatrix:
    """Normalised vectors of the documents in the slots of a partition.

    Slots without a vector are allowed: their embedding is still to come, or could not be made.

    Attributes:
        copies: How often the vectors that a mask lets pass were put side by side.
    """

    def __init__(self) -> None:
        self.copies = 0
        self._room: FloatArray | None = None  # shape (capacity, dimension)
        self._present = GrowingArray(np.bool_)
        self._asked: NDArray[np.int64] | None = None  # slots of the mask before
        self._copy: FloatArray | None = None  # of their vectors

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the matrix that :meth:`to_arrays` described, over the same arrays."""
        matrix = cls()
        matrix._room = arrays.get("matrix")
        matrix._present = GrowingArray.of(arrays["present"])
        return matrix

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to keep; no ``matrix`` if no slot ever had a vector."""
        arrays: dict[str, NDArray[Any]] = {"present": self._present.values}
        if self._room is not None:
            arrays["matrix"] = self._room[: len(self._present)]
        return arrays

    def __len__(self) -> int:
        """Return the number of slots that have a vector."""
        return int(np.count_nonzero(self._present.values))

    @property
    def present(self) -> NDArray[np.bool_]:
        """Which slots have a vector."""
        return self._present.values

    def grow_to(self, slots: int) -> None:
        """Make room for ``slots`` slots, the new ones without vectors."""
        self._present.grow_to(slots)
        if self._room is not None and slots > len(self._room):
            capacity = max(slots, len(self._room) * 5 // 4 + 64)
            room = np.zeros((capacity, self._room.shape[1]), np.float32)
            room[: len(self._room)] = self._room
            self._room = room

    def put(self, slots: NDArray[np.int64], vectors: FloatArray) -> None:
        """Set the vectors of existing slots; ``vectors`` has shape (n, dimension), normalised."""
        if not len(slots):
            return
        if self._room is None:
            self._room = np.zeros((len(self._present), vectors.shape[1]), np.float32)
        self._room[slots] = vectors
        self._present.values[slots] = True
        self._asked = None

    def remove(self, slots: Sequence[int]) -> None:
        """Forget the vectors of these slots."""
        self._present.values[list(slots)] = False
        self._asked = None

    def cosines(self, query: FloatArray) -> FloatArray:
        """Return the cosine of every slot with a normalised query; ``NO_COSINE`` if it has none."""
        present = self._present.values
        if self._room is None:
            return np.full(len(present), NO_COSINE, np.float32)
        cosines: FloatArray = np.vecdot(self._room[: len(present)], query)
        if not present.all():
            cosines[~present] = NO_COSINE
        return cosines

    def cosines_of(self, slots: NDArray[np.int64], query: FloatArray) -> FloatArray:
        """Return the cosines of some slots only."""
        cosines = np.full(len(slots), NO_COSINE, np.float32)
        (embedded,) = self._present.values[slots].nonzero()
        if self._room is not None:
            for start in range(0, len(embedded), _PICKED):
                some = embedded[start : start + _PICKED]
                cosines[some] = np.vecdot(self._room[slots[some]], query)
        return cosines

    def cosines_among(self, query: FloatArray, mask: NDArray[np.bool_]) -> FloatArray:
        """Return the cosine of every slot that a mask lets pass; ``NO_COSINE`` for the others.

        A mask that lets few pass and comes twice in a row gets a copy of their vectors, until
        another one comes: whoever searches one project need not pick them out each time.
        """
        slots = np.flatnonzero(mask & self._present.values)
        if len(slots) > _FEW * len(mask):
            return np.where(mask, self.cosines(query), np.float32(NO_COSINE))
        cosines = np.full(len(mask), NO_COSINE, np.float32)
        copy = self._copy_of(slots)
        cosines[slots] = self.cosines_of(slots, query) if copy is None else np.vecdot(copy, query)
        return cosines

    def _copy_of(self, slots: NDArray[np.int64]) -> FloatArray | None:
        """Return the vectors of these slots, if they were asked for just before, too."""
        if self._room is None or self._asked is None or not np.array_equal(slots, self._asked):
            self._asked, self._copy = slots, None
        elif self._copy is None:
            self._copy = self._room[slots]
            self.copies += 1
        return self._copy

    def rows(self, slots: NDArray[np.int64]) -> FloatArray:
        """Return the vectors of some slots, zeros where there is none; shape (n, dimension)."""
        if self._room is None:
            return np.zeros((len(slots), 1), np.float32)
        vectors: FloatArray = self._room[slots]
        vectors[~self._present.values[slots]] = 0
        return vectors

    def unrelated(self) -> Unrelated:
        """Return what cosines unrelated texts of this matrix have.

        Measured on random pairs, the same pairs for the same vectors. With too few vectors to
        tell, 0.1 on average and rarely over 0.25.
        """
        present = np.flatnonzero(self._present.values)
        if self._room is None or len(present) < _FEW_VECTORS:
            return Unrelated(0.1, 0.25)
        generator = np.random.default_rng(len(present))
        left, right = generator.integers(0, len(present), (2, _SAMPLED_PAIRS))
        different = left != right
        pairs = self._room[present[left[different]]], self._room[present[right[different]]]
        cosines = np.vecdot(*pairs)
        average, spread = float(cosines.mean()), float(cosines.std())
        return Unrelated(
            average=min(max(average, 0.0), 0.95),
            rarely_over=min(max(average + 2 * spread, 0.1), 0.8),
        )
