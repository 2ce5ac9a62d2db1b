"""Exact vector search: one matrix, one row for each slot.

Cosines are dot products row by row: they read the matrix once, from beginning to end, at the speed
of the memory, and a row's cosine is the same to its last digit wherever it stands. They stay on one
thread, too; a product of matrices takes one for each processor, and then waits for processors that
other programs hold. Where many are searched for the nearest, quantized vectors say which of them
need a product at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from langchain_memengine.retrieval.growing import GrowingArray
from langchain_memengine.retrieval.quantized import QuantizedVectors
from langchain_memengine.retrieval.top import all_as_high

FloatArray = NDArray[np.float32]

NO_COSINE = -2.0
"""Stands for "no embedding" in arrays of cosines: below every cosine."""

QUANTIZED_FROM = 1000
"""Vectors from which on there are quantized ones beside them: fewer are read as soon."""

_PICKED = 256
"""Vectors that are picked out at a time: so many stay in the processor's cache."""

_FEW = 0.25
"""Share of the slots up to which vectors are picked out: to read all in order is faster above."""

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
    """

    def __init__(self) -> None:
        self._present = GrowingArray(np.bool_)
        self._vectors: GrowingArray | None = None  # shape (slots, dimension)
        self._quantized: QuantizedVectors | None = None

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the matrix that :meth:`to_arrays` described, over the same arrays."""
        matrix = cls()
        matrix._present = GrowingArray.of(arrays["present"])
        if "matrix" in arrays:
            matrix._vectors = GrowingArray.of(arrays["matrix"])
        if "codes" in arrays:
            matrix._quantized = QuantizedVectors.from_arrays(arrays)
        return matrix

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to keep; only ``present`` if no slot ever had a vector."""
        arrays: dict[str, NDArray[Any]] = {"present": self._present.values}
        if self._vectors is not None:
            arrays["matrix"] = self._vectors.values
        if self._quantized is not None:
            arrays |= self._quantized.to_arrays()
        return arrays

    def __len__(self) -> int:
        """Return the number of slots that have a vector."""
        return int(np.count_nonzero(self._present.values))

    @property
    def dimension(self) -> int:
        """Length of a vector; 1 if no slot ever had one."""
        return 1 if self._vectors is None else self._vectors.values.shape[1]

    @property
    def present(self) -> NDArray[np.bool_]:
        """Which slots have a vector."""
        return self._present.values

    def grow_to(self, slots: int) -> None:
        """Make room for ``slots`` slots, the new ones without vectors."""
        self._present.grow_to(slots)
        if self._vectors is not None:
            self._vectors.grow_to(slots)
        if self._quantized is not None:
            self._quantized.grow_to(slots)

    def put(self, slots: NDArray[np.int64], vectors: FloatArray) -> None:
        """Set the vectors of existing slots; ``vectors`` has shape (n, dimension), normalised."""
        if not len(slots):
            return
        if self._vectors is None:
            self._vectors = GrowingArray(np.float32, vectors.shape[1:])
            self.grow_to(len(self._present))
        self._vectors.values[slots] = vectors
        self._present.values[slots] = True
        if self._quantized is not None:
            self._quantized.put(slots, self._vectors.values)
        elif len(self) >= QUANTIZED_FROM:
            self._quantize(self._vectors.values)

    def remove(self, slots: Sequence[int]) -> None:
        """Forget the vectors of these slots."""
        self._present.values[list(slots)] = False

    def cosines(self, query: FloatArray) -> FloatArray:
        """Return the cosine of every slot with a normalised query; ``NO_COSINE`` if it has none."""
        present = self._present.values
        if self._vectors is None:
            return np.full(len(present), NO_COSINE, np.float32)
        cosines: FloatArray = np.vecdot(self._vectors.values, query)
        if not present.all():
            cosines[~present] = NO_COSINE
        return cosines

    def cosines_of(self, slots: NDArray[np.int64], query: FloatArray) -> FloatArray:
        """Return the cosines of some slots only."""
        cosines = np.full(len(slots), NO_COSINE, np.float32)
        (embedded,) = self._present.values[slots].nonzero()
        if self._vectors is not None:
            vectors = self._vectors.values
            for start in range(0, len(embedded), _PICKED):
                some = embedded[start : start + _PICKED]
                cosines[some] = np.vecdot(vectors[slots[some]], query)
        return cosines

    def nearest(
        self, query: FloatArray, k: int, mask: NDArray[np.bool_] | None = None
    ) -> NDArray[np.int64]:
        """Return the slots that have the ``k`` highest cosines, nearest first, ties in order.

        Those that are as near as the last of them come behind it, too.

        Args:
            query: Normalised.
            k: How many, at least 1; fewer if there are no more.
            mask: Slots that may be returned; ``None`` is all.
        """
        among = self._present.values if mask is None else mask & self._present.values
        if self._quantized is None:
            (slots,) = among.nonzero()
        else:
            slots = self._quantized.may_be_nearest(query, k, None if among.all() else among)
        is_few = len(slots) <= _FEW * len(among)
        cosines = self.cosines_of(slots, query) if is_few else self.cosines(query)[slots]
        return slots[all_as_high(cosines, k, above=NO_COSINE)]

    def _quantize(self, vectors: FloatArray) -> None:
        (slots,) = self._present.values.nonzero()
        some = slots[:: -(-len(slots) // QUANTIZED_FROM)]
        self._quantized = QuantizedVectors(vectors[some].mean(axis=0))
        self._quantized.grow_to(len(vectors))
        self._quantized.put(slots, vectors)

    def rows(self, slots: NDArray[np.int64]) -> FloatArray:
        """Return the vectors of some slots, zeros where there is none; shape (n, dimension)."""
        if self._vectors is None:
            return np.zeros((len(slots), self.dimension), np.float32)
        vectors: FloatArray = self._vectors.values[slots]
        vectors[~self._present.values[slots]] = 0
        return vectors

    def unrelated(self) -> Unrelated:
        """Return what cosines unrelated texts of this matrix have.

        Measured on random pairs, the same pairs for the same vectors. With too few vectors to
        tell, 0.1 on average and rarely over 0.25.
        """
        present = np.flatnonzero(self._present.values)
        if self._vectors is None or len(present) < _FEW_VECTORS:
            return Unrelated(0.1, 0.25)
        generator = np.random.default_rng(len(present))
        left, right = generator.integers(0, len(present), (2, _SAMPLED_PAIRS))
        different = left != right
        vectors = self._vectors.values
        pairs = vectors[present[left[different]]], vectors[present[right[different]]]
        cosines = np.vecdot(*pairs)
        average, spread = float(cosines.mean()), float(cosines.std())
        return Unrelated(
            average=min(max(average, 0.0), 0.95),
            rarely_over=min(max(average + 2 * spread, 0.1), 0.8),
        )
