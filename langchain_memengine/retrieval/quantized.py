"""Vectors at a byte a number, to find cheaply which of them can be among the nearest.

Scalar quantization: a vector becomes whole numbers from -127 to 127 and a scale. Reading them takes
a quarter of the memory that the vectors take, and what was rounded away bounds each dot product
from both sides. Only what can be among the best must then be looked at exactly, so that the answer
is that of the whole product, sooner.
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

Bounded = tuple[FloatArray, FloatArray]
"""Estimates, and how far off each may be."""

_FEW = 0.3
"""Share of the slots up to which the codes of some are picked out: to read all in order is faster
above."""

_ROUNDING = 1e-5
"""More than single precision can be wrong by, here and in an exact product."""

_BATCH = 4096
"""Vectors that are quantized, or read as single precision, at a time: the work needs several times
their memory."""


class Codes(NamedTuple):
    """Quantized vectors.

    Attributes:
        codes: Shape (n, dimension), -127 to 127.
        scales: What a code stands for, shape (n,).
        errors: Length of what was rounded away, shape (n,).
    """

    codes: NDArray[np.int8]
    scales: FloatArray
    errors: FloatArray

    def of(self, slots: Ints) -> Codes:
        """Return a copy of those in some slots."""
        return Codes(self.codes.take(slots, axis=0), self.scales[slots], self.errors[slots])


def quantize(vectors: FloatArray) -> Codes:
    """Return the codes of vectors of shape (n, dimension)."""
    scales = np.abs(vectors).max(axis=1, initial=0.0) / np.float32(127)
    steps = np.where(scales > 0, scales, np.float32(1))[:, np.newaxis]
    codes = np.rint(vectors / steps)
    errors = np.linalg.norm(vectors - codes * steps, axis=1)
    return Codes(codes.astype(np.int8), scales, errors)


class QuantizedVectors:
    """The codes of the vectors in the slots of a partition."""

    def __init__(self, dimension: int) -> None:
        self._codes = GrowingArray(np.int8, (dimension,))
        self._scales = GrowingArray(np.float32)
        self._errors = GrowingArray(np.float32)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return what :meth:`to_arrays` described, over the same arrays."""
        quantized = cls(arrays["codes"].shape[1])
        quantized._codes = GrowingArray.of(arrays["codes"])
        quantized._scales = GrowingArray.of(arrays["scales"])
        quantized._errors = GrowingArray.of(arrays["errors"])
        return quantized

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to keep."""
        return self._held()._asdict()

    def grow_to(self, slots: int) -> None:
        """Make room for ``slots`` slots, the new ones without vectors."""
        for array in (self._codes, self._scales, self._errors):
            array.grow_to(slots)

    def put(self, slots: Ints, vectors: FloatArray) -> None:
        """Quantize the vectors of existing slots; shape (n, dimension), at most 1 long."""
        for start in range(0, len(slots), _BATCH):
            some = slice(start, start + _BATCH)
            coded = quantize(vectors[some])
            self._codes.values[slots[some]] = coded.codes
            self._scales.values[slots[some]] = coded.scales
            self._errors.values[slots[some]] = coded.errors

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
        if slots is not None and len(slots) <= _FEW * len(held.codes):
            possible = slots[_best(*_products(held.of(slots), query), k)]
        else:
            products, margins = _products(held, query)
            if slots is None:
                possible = _best(products, margins, k)
            else:
                possible = slots[_best(products[slots], margins[slots], k)]
        # Most of what is left is there because the query was quantized, too.
        return possible[_best(*_closer_products(held, possible, query), k)]

    def _held(self) -> Codes:
        return Codes(self._codes.values, self._scales.values, self._errors.values)


def _products(held: Codes, query: FloatArray) -> Bounded:
    """Return dot products of quantized vectors with a quantized query, and their margins."""
    asked = quantize(query[np.newaxis])
    dots = np.asarray(numkong.dot(held.codes, asked.codes[0], out_dtype="float32"))
    # |v.q - v'.q'| <= |v - v'| |q| + |v'| |q - q'|, and |v'| <= 1 + |v - v'|
    off = float(asked.errors[0])
    margins = held.errors * np.float32(np.linalg.norm(query) + off)
    margins += np.float32(off + _ROUNDING)
    return dots * (held.scales * asked.scales), margins


def _closer_products(held: Codes, slots: Ints, query: FloatArray) -> Bounded:
    """Return dot products of some quantized vectors with the query itself, and their margins."""
    products = np.empty(len(slots), np.float32)
    # Vectors that are much alike are all left: they must not be read at once.
    for start in range(0, len(slots), _BATCH):
        some = held.of(slots[start : start + _BATCH])
        dots = np.vecdot(some.codes.astype(np.float32), query)
        products[start : start + _BATCH] = dots * some.scales
    margins = held.errors[slots] * np.float32(np.linalg.norm(query)) + np.float32(_ROUNDING)
    return products, margins


def _best(products: FloatArray, margins: FloatArray, k: int) -> Ints:
    """Return the positions that can be one of the ``k`` with the highest products."""
    least = not_above_best(products - margins, k)
    (possible,) = (products + margins >= least).nonzero()
    return possible
