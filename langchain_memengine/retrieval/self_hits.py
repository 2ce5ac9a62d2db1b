"""Whether what an index holds is found by its own vector: a sample tells a damaged index."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from langchain_memengine.storage import integrity
from langchain_memengine.storage.transaction import Transaction

FloatArray = NDArray[np.float32]

SAMPLES = 20
"""Chunks of a partition that are looked for."""

NEAREST = 10
"""Chunks that an approximate index is asked for around each of them."""

SAME = 0.999
"""Cosine of a vector with itself, as float32 rounds it; equal texts have equal vectors."""

MIN_FOUND = 0.9
"""Share of the sample that an approximate index must find."""


def spread(nums: NDArray[np.int64]) -> list[int]:
    """Return up to ``SAMPLES`` of these numbers, from the first to the last."""
    places = np.unique(np.linspace(0, len(nums) - 1, min(SAMPLES, len(nums))).astype(np.int64))
    return [int(num) for num in nums[places]]


def sample(tx: Transaction, partition: str, model: str) -> dict[int, FloatArray]:
    """Return the vectors of some chunks of a partition, by number; those that mean something."""
    vectors = integrity.vectors(tx, spread(integrity.nums(tx, partition)), model)
    return {num: vector for num, vector in vectors.items() if vector.any()}


def found(
    tx: Transaction,
    model: str,
    sampled: Mapping[int, FloatArray],
    nearest: Callable[[int], Sequence[int]],
) -> int:
    """Return how many sampled chunks are among their own nearest, or one with the same vector.

    Args:
        tx: A view of the database.
        model: Identity of the embedding model.
        sampled: Vectors by chunk number.
        nearest: The numbers that the index found around a sampled chunk.
    """
    hits = 0
    for num, vector in sampled.items():
        around = list(nearest(num))
        vectors = [] if num in around else list(integrity.vectors(tx, around, model).values())
        hits += num in around or any(float(other @ vector) > SAME for other in vectors)
    return hits
