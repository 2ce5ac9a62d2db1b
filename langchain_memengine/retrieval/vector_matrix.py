"""Exact vector search: one matrix, one product.

The matrix is stored with one *column* for each slot. The product with a query then reads whole
rows of it one after the other, which is about twice as fast as a dot product for each vector
(measured: 10,000 x 384 in 0.35 instead of 0.70 ms, 100,000 in 6.6 instead of 12.5).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from langchain_memengine.retrieval.blas_threads import ONE_BLAS_THREAD
from langchain_memengine.retrieval.growing import GrowingArray

FloatArray = NDArray[np.float32]

NO_COSINE = -2.0
"""Stands for "no embedding" in arrays of cosines: below every cosine."""

_GROUP = 16
"""Slots are multiplied in whole groups: BLAS sums the rest of a row up in another order, and the
last digit of a cosine would depend on the slot."""

MAX_SUBSET = 0.125
"""Share of the slots that a subset may have: what a copy of its vectors costs in memory."""

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


class _Subset(NamedTuple):
    """What a mask lets pass, with its vectors side by side.

    Attributes:
        mask: Over all slots.
        slots: Those that pass and have a vector, ascending.
        vectors: One column each, shape (dimension, whole groups).
    """

    mask: NDArray[np.bool_]
    slots: NDArray[np.int64]
    vectors: FloatArray


def _whole_groups(slots: int) -> int:
    return -(-slots // _GROUP) * _GROUP


def _products(query: FloatArray, matrix: FloatArray, slots: int) -> FloatArray:
    """Return the dot products of the first ``slots`` columns, as whole groups give them."""
    width = _whole_groups(slots)
    if matrix.shape[1] >= width:
        products: FloatArray = query @ matrix[:, :width]
        return products[:slots]
    # A matrix that was saved has no spare room: its last group is filled up here.
    rest = slots % _GROUP
    last = np.zeros((len(matrix), _GROUP), np.float32)
    last[:, :rest] = matrix[:, slots - rest : slots]
    return np.concatenate([query @ matrix[:, : slots - rest], (query @ last)[:rest]])


class VectorMatrix:
    """Normalised vectors of the documents in the slots of a partition.

    Slots without a vector are allowed: their embedding is still to come, or could not be made.

    Attributes:
        copies: How often the vectors of a subset were put side by side.
    """

    def __init__(self) -> None:
        self.copies = 0
        self._room: FloatArray | None = None  # shape (dimension, capacity)
        self._present = GrowingArray(np.bool_)
        self._subset: _Subset | None = None
        self._mask_before: NDArray[np.bool_] | None = None

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
            arrays["matrix"] = self._room[:, : len(self._present)]
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
        if self._room is not None and slots > self._room.shape[1]:
            capacity = _whole_groups(max(slots, self._room.shape[1] * 5 // 4 + 64))
            room = np.zeros((len(self._room), capacity), np.float32)
            room[:, : self._room.shape[1]] = self._room
            self._room = room

    def put(self, slots: NDArray[np.int64], vectors: FloatArray) -> None:
        """Set the vectors of existing slots; ``vectors`` has shape (n, dimension), normalised."""
        if not len(slots):
            return
        if self._room is None:
            width = _whole_groups(len(self._present))
            self._room = np.zeros((vectors.shape[1], width), np.float32)
        self._room[:, slots] = vectors.T
        self._present.values[slots] = True
        self._subset = None

    def remove(self, slots: Sequence[int]) -> None:
        """Forget the vectors of these slots."""
        self._present.values[list(slots)] = False
        self._subset = None

    def cosines(self, query: FloatArray) -> FloatArray:
        """Return the cosine of every slot with a normalised query; ``NO_COSINE`` if it has none."""
        present = self._present.values
        if self._room is None:
            return np.full(len(present), NO_COSINE, np.float32)
        with ONE_BLAS_THREAD:
            cosines = _products(query, self._room, len(present))
        if not present.all():
            cosines[~present] = NO_COSINE
        return cosines

    def cosines_of(self, slots: NDArray[np.int64], query: FloatArray) -> FloatArray:
        """Return the cosines of some slots only."""
        if self._room is None:
            return np.full(len(slots), NO_COSINE, np.float32)
        with ONE_BLAS_THREAD:
            cosines = _products(query, np.take(self._room, slots, axis=1), len(slots))
        cosines[~self._present.values[slots]] = NO_COSINE
        return cosines

    def cosines_among(self, query: FloatArray, mask: NDArray[np.bool_]) -> FloatArray:
        """Return the cosine of every slot that a mask lets pass; ``NO_COSINE`` for the others.

        A mask that lets few pass and comes twice in a row gets a copy of their vectors, until
        another one does: whoever searches one project reads its vectors only. To pick them out
        for one search costs more than the product with all.
        """
        subset = self._subset_of(mask)
        if subset is None:
            return np.where(mask, self.cosines(query), np.float32(NO_COSINE))
        cosines = np.full(len(mask), NO_COSINE, np.float32)
        with ONE_BLAS_THREAD:
            cosines[subset.slots] = _products(query, subset.vectors, len(subset.slots))
        return cosines

    def _subset_of(self, mask: NDArray[np.bool_]) -> _Subset | None:
        """Return the vectors that a mask lets pass, if there is a copy or one is worthwhile."""
        before, self._mask_before = self._mask_before, mask
        if self._subset is not None and np.array_equal(self._subset.mask, mask):
            return self._subset
        if self._room is None or before is None or not np.array_equal(before, mask):
            return None
        slots = np.flatnonzero(mask & self._present.values)
        if len(slots) > MAX_SUBSET * len(mask):
            return None
        vectors = np.zeros((len(self._room), _whole_groups(len(slots))), np.float32)
        vectors[:, : len(slots)] = np.take(self._room, slots, axis=1)
        self.copies += 1
        self._subset = _Subset(mask, slots, vectors)
        return self._subset

    def rows(self, slots: NDArray[np.int64]) -> FloatArray:
        """Return the vectors of some slots, zeros where there is none; shape (n, dimension)."""
        if self._room is None:
            return np.zeros((len(slots), 1), np.float32)
        vectors: FloatArray = self._room[:, slots].T
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
        pairs = self._room[:, present[left[different]]]
        cosines = np.einsum("ij,ij->j", pairs, self._room[:, present[right[different]]])
        average, spread = float(cosines.mean()), float(cosines.std())
        return Unrelated(
            average=min(max(average, 0.0), 0.95),
            rarely_over=min(max(average + 2 * spread, 0.1), 0.8),
        )
