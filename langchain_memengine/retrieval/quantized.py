"""Vectors at a byte a number, to find cheaply which of them can be among the nearest.

Scalar quantization of what sets the vectors apart: the vectors of texts have much in common, so
their mean is taken off, and the rest becomes whole numbers from -127 to 127 and a scale. Reading
them takes a quarter of the memory that the vectors take, and what was rounded away bounds each dot
product from both sides. Only what can be among the best must then be looked at exactly, so that the
answer is that of the whole product, sooner.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numkong
import numpy as np
from numpy.typing import NDArray

from langchain_memengine.retrieval.growing import GrowingArray
from langchain_memengine.retrieval.top import not_above_best

FloatArray = NDArray[np.float32]
Ints = NDArray[np.int64]

_FEW = 0.3
"""Share of the slots up to which the codes of some are picked out: to read all in order is faster
above."""

_ROUNDING = 2e-5
"""More than single precision can be wrong by, here and in an exact product."""

_BATCH = 4096
"""Vectors that are quantized at a time: the work needs several times their memory."""


class Codes(NamedTuple):
    """Quantized vectors, less a centre.

    Attributes:
        codes: Shape (n, dimension), -127 to 127.
        scales: What a code stands for, shape (n,).
        errors: Length of what was rounded away, shape (n,).
        norms: Length of what is left without the centre, shape (n,).
        offsets: Dot product of that with the centre, shape (n,).
    """

    codes: NDArray[np.int8]
    scales: FloatArray
    errors: FloatArray
    norms: FloatArray
    offsets: FloatArray

    def of(self, slots: Ints) -> Codes:
        """Return a copy of those in some slots."""
        return Codes(**{name: array.take(slots, axis=0) for name, array in self._asdict().items()})


def quantize(vectors: FloatArray, centre: FloatArray) -> Codes:
    """Return the codes of vectors of shape (n, dimension), less a centre of shape (dimension,)."""
    rest = vectors - centre
    scales = np.abs(rest).max(axis=1, initial=0.0) / np.float32(127)
    steps = np.where(scales > 0, scales, np.float32(1))[:, np.newaxis]
    codes = np.rint(rest / steps)
    return Codes(
        codes.astype(np.int8),
        scales,
        np.linalg.norm(rest - codes * steps, axis=1),
        np.linalg.norm(rest, axis=1),
        np.vecdot(rest, centre),
    )


class QuantizedVectors:
    """The codes of the vectors in the slots of a partition.

    Args:
        centre: What is taken off each vector, shape (dimension,), at most 1 long. Any will do for a
            right answer, the mean of the vectors for a quick one.
    """

    def __init__(self, centre: FloatArray) -> None:
        self._centre = centre
        self._arrays = {name: GrowingArray(np.float32) for name in Codes._fields}
        self._arrays["codes"] = GrowingArray(np.int8, centre.shape)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return what :meth:`to_arrays` described, over the same arrays."""
        quantized = cls(arrays["centre"])
        quantized._arrays = {name: GrowingArray.of(arrays[name]) for name in Codes._fields}
        return quantized

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to keep."""
        return {"centre": self._centre, **self._held()._asdict()}

    def grow_to(self, slots: int) -> None:
        """Make room for ``slots`` slots, the new ones without vectors."""
        for array in self._arrays.values():
            array.grow_to(slots)

    def put(self, slots: Ints, matrix: FloatArray) -> None:
        """Quantize the rows in existing slots of a matrix; each at most 1 long."""
        for start in range(0, len(slots), _BATCH):
            some = slots[start : start + _BATCH]
            for name, values in quantize(matrix[some], self._centre)._asdict().items():
                self._arrays[name].values[some] = values

    def may_be_nearest(
        self, query: FloatArray, k: int, among: NDArray[np.bool_] | None = None
    ) -> Ints:
        """Return the slots, ascending, that can be one of the ``k`` with the highest dot products.

        Args:
            query: Shape (dimension,).
            k: How many are wanted, at least 1.
            among: Which slots count; ``None`` counts all.
        """
        held = self._held()
        slots = None if among is None else among.nonzero()[0]
        count = len(held.codes if slots is None else slots)
        if count <= k:
            return np.arange(count) if slots is None else slots
        if slots is None:
            return _best(*self._bounds(held, query), k)
        if len(slots) <= _FEW * len(held.codes):
            return slots[_best(*self._bounds(held.of(slots), query), k)]
        least, most = self._bounds(held, query)
        return slots[_best(least[slots], most[slots], k)]

    def _held(self) -> Codes:
        return Codes(**{name: array.values for name, array in self._arrays.items()})

    def _bounds(self, held: Codes, query: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what the dot products with a query are at least and at most.

        Less the product of query and centre, which is the same for all: with r for a vector and p
        for the query, both less the centre c, v.q = r.p + r.c + c.q.
        """
        asked = quantize(query[np.newaxis], self._centre)
        off, norm = float(asked.errors[0]), float(asked.norms[0])
        most: FloatArray = np.asarray(numkong.dot(held.codes, asked.codes[0], out_dtype="float32"))
        most *= held.scales
        most *= asked.scales
        most += held.offsets
        # |r.p - r'.p'| <= |r - r'| |p| + |r'| |p - p'|, and |r'| <= |r| + |r - r'|
        margins = held.errors * np.float32(norm + off)
        margins += held.norms * np.float32(off)
        margins += np.float32(_ROUNDING)
        least = most - margins
        most += margins
        return least, most


def _best(least: FloatArray, most: FloatArray, k: int) -> Ints:
    """Return the positions that can be one of the ``k`` with the highest products."""
    (possible,) = (most >= not_above_best(least, k)).nonzero()
    return possible
