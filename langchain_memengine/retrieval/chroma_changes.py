"""What a collection of Chroma lacks, and has too much, of what the database says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from langchain_memengine.storage import chunks, embeddings
from langchain_memengine.storage.transaction import Transaction


class Built(NamedTuple):
    """What a collection reflects: a value of the change counter, and that many vectors."""

    seq: int
    vectors: int


class Change(NamedTuple):
    """What is to be done to a collection.

    Attributes:
        gone: Numbers of chunks whose vectors go.
        nums: Numbers of chunks whose vectors are written, shape (n,).
        vectors: Those vectors, shape (n, dimension).
        built: What the collection reflects then.
    """

    gone: Sequence[int]
    nums: NDArray[np.int64]
    vectors: NDArray[np.float32]
    built: Built


def change_since(tx: Transaction, partition: str, model: str, after: int) -> Change:
    """Return what happened to the vectors of a partition after a value of the change counter."""
    gone = chunks.removed_nums(tx, partition, after_seq=after)
    nums, vectors = embeddings.vectors_of_partition(tx, partition, model, after_seq=after)
    expected = embeddings.count_of_partition(tx, partition, model)
    return Change(gone, nums, vectors, Built(tx.counters().changes, expected))


def difference(tx: Transaction, partition: str, model: str, held: NDArray[np.int64]) -> Change:
    """Return what turns a collection that holds these numbers into what the database says.

    The numbers are to be read before the view is opened: what others wrote since is no remnant.
    """
    whole = change_since(tx, partition, model, 0)
    lacking = ~np.isin(whole.nums, held)
    gone = np.setdiff1d(held, whole.nums).tolist()
    return Change(gone, whole.nums[lacking], whole.vectors[lacking], whole.built)
