"""The derived indexes of what one actor may read, and how they follow the database.

A partition holds the keyword index, the vectors and the ages of one visibility class: what
everyone may read, or what belongs to one owner. All its arrays are addressed by *slot*; slots are
filled in the order of chunk numbers, so that every process has the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from langchain_memengine.retrieval.authors import Authors
from langchain_memengine.retrieval.context_index import ContextIndex
from langchain_memengine.retrieval.filters import FilterColumns, Mask
from langchain_memengine.retrieval.growing import GrowingArray
from langchain_memengine.retrieval.keyword_index import KeywordIndex
from langchain_memengine.retrieval.row_reading import author, group, place, words_of
from langchain_memengine.retrieval.surroundings import Surroundings
from langchain_memengine.retrieval.vector_matrix import Unrelated, VectorMatrix
from langchain_memengine.storage import access, chunks, embeddings, tombstones
from langchain_memengine.storage.change_counters import Counters
from langchain_memengine.storage.chunk_values import FilterRow, IndexRow
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.types import Filter

Splitter = Callable[[str], list[str]]

_MS_PER_DAY = 86_400_000.0
_NO_ROW = FilterRow("", "", "", "{}")


class Standing(NamedTuple):
    """What of the database a partition reflects.

    Attributes:
        changes: Value of the change counter.
        accesses: Value of the counter of access counts.
        model: Identity of the embedding model of the vectors.
    """

    changes: int
    accesses: int
    model: str | None


class Partition:
    """The indexes of one visibility class.

    Attributes:
        key: Its name in the database.
        changes: Value of the change counter that it reflects.
        keyword: Keyword index, one slot a chunk.
        vectors: Vectors, one slot a chunk.
        surroundings: File or conversation of each slot.
        context: Keyword index of whole files and conversations.
        authors: Who wrote each slot.
    """

    def __init__(self, key: str, splitter: Splitter, *, k1: float, b: float) -> None:
        self.key = key
        self.changes = 0
        self.keyword = KeywordIndex(k1=k1, b=b)
        self.vectors = VectorMatrix()
        self.surroundings = Surroundings()
        self.context = ContextIndex(self.keyword, self.surroundings)
        self.authors = Authors(splitter)
        self._accesses_seen = 0
        self._model: str | None = None
        self._splitter = splitter
        self._nums = GrowingArray(np.int64)
        self._event_days = GrowingArray(np.float64)  # since 1970; NaN for what never ages
        self._accesses = GrowingArray(np.int64)
        self._columns = FilterColumns()
        self._unrelated: Unrelated | None = None

    @property
    def standing(self) -> Standing:
        """What of the database it reflects."""
        return Standing(self.changes, self._accesses_seen, self._model)

    def to_arrays(self) -> tuple[dict[str, NDArray[Any]], dict[str, list[str]]]:
        """Return the arrays and the lists of texts that :meth:`restore` needs, by name.

        Most arrays are views of the partition's own: they are valid until it changes.
        """
        keyword, vocabulary = self.keyword.to_arrays()
        around, names = self.surroundings.to_arrays()
        authors, author_names = self.authors.to_arrays()
        arrays = {
            "nums": self.nums,
            "event_days": self._event_days.values,
            "accesses": self.accesses,
            **keyword,
            **self.vectors.to_arrays(),
            **around,
            **authors,
        }
        texts = {"vocabulary": vocabulary, "group_names": names, "author_names": author_names}
        return arrays, texts

    def restore(
        self,
        arrays: Mapping[str, NDArray[Any]],
        texts: Mapping[str, Sequence[str]],
        standing: Standing,
    ) -> None:
        """Become the partition that :meth:`to_arrays` described when it stood there.

        The arrays are taken over and written to.

        Raises:
            KeyError: An array or a list is missing.
            ValueError: Lengths do not fit together.
        """
        keyword, b = self.keyword, self.keyword.b
        self.keyword = KeywordIndex.from_arrays(arrays, texts["vocabulary"], k1=keyword.k1, b=b)
        self.vectors = VectorMatrix.from_arrays(arrays)
        self.surroundings = Surroundings.from_arrays(arrays, texts["group_names"])
        self.context = ContextIndex(self.keyword, self.surroundings)
        self.authors = Authors.from_arrays(arrays, texts["author_names"], self._splitter)
        self._nums = GrowingArray.of(arrays["nums"])
        self._event_days = GrowingArray.of(arrays["event_days"])
        self._accesses = GrowingArray.of(arrays["accesses"])
        self.changes, self._accesses_seen, self._model = standing

    @property
    def nums(self) -> NDArray[np.int64]:
        """Chunk number of each slot, ascending."""
        return self._nums.values

    @property
    def accesses(self) -> NDArray[np.int64]:
        """Access count of each slot."""
        return self._accesses.values

    @property
    def unrelated(self) -> Unrelated:
        """Cosines of unrelated texts of this partition."""
        if self._unrelated is None:
            self._unrelated = self.vectors.unrelated()
        return self._unrelated

    def slots_of(self, nums: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the slots of those of these chunk numbers that the partition has."""
        slots = np.searchsorted(self.nums, nums)
        known = slots < len(self.nums)
        known[known] = self.nums[slots[known]] == nums[known]
        return slots[known]

    def age_days(self, slots: NDArray[np.int64], now_ms: int) -> NDArray[np.float64]:
        """Return ages in days, never negative; NaN for what never ages."""
        age: NDArray[np.float64] = now_ms / _MS_PER_DAY - self._event_days.values[slots]
        return np.maximum(age, 0.0, out=age)

    def event_days(self, slots: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return when it happened, in days since 1970; NaN for what never ages."""
        days: NDArray[np.float64] = self._event_days.values[slots]
        return days

    def mask(self, tx: Transaction, wanted: Filter, since: int | None, until: int | None) -> Mask:
        """Return which slots pass a filter; times are milliseconds."""
        unread = self.nums[len(self._columns) :].tolist()
        if unread:  # a row never changes: another value is another row
            rows = chunks.filter_rows(tx, self.key, from_num=unread[0])
            self._columns.extend([rows.get(num, _NO_ROW) for num in unread])
        mask = self._columns.mask(wanted)
        event_days = self._event_days.values  # comparisons with NaN are false
        if since is not None:
            mask &= event_days >= since / _MS_PER_DAY
        if until is not None:
            mask &= event_days < until / _MS_PER_DAY
        return mask

    def follow(self, tx: Transaction, counters: Counters, model: str | None) -> None:
        """Catch up with the database as ``tx`` sees it."""
        oldest_new = len(self._nums)
        if counters.changes != self.changes:
            self._follow_rows(tx)
        if model != self._model:
            self._model = model
            self.vectors = VectorMatrix()
            self.vectors.grow_to(len(self._nums))
            self._follow_vectors(tx, after_seq=0)
        elif counters.changes != self.changes:
            self._follow_vectors(tx, after_seq=self.changes)
        self._follow_accesses(tx, oldest_new, changed=counters.accesses != self._accesses_seen)
        self.changes = counters.changes
        self._accesses_seen = counters.accesses

    def _follow_rows(self, tx: Transaction) -> None:
        newest = 0
        if len(self._nums):  # most users and threads have left nothing yet
            newest = int(self.nums[-1])
            removed = tombstones.removed_nums(tx, self.key, after_seq=self.changes)
            self._remove(self._not_stored(tx) if removed is None else removed)
        rows = chunks.index_rows(tx, self.key, after_seq=self.changes)
        self._append([row for row in rows if row.num > newest])
        self.context.forget()

    def _not_stored(self, tx: Transaction) -> list[int]:
        """Return the numbers that the database has no chunk of (any more)."""
        gone: list[int] = np.setdiff1d(self.nums, chunks.nums(tx, self.key)).tolist()
        return gone

    def _remove(self, nums: Sequence[int]) -> None:
        gone = self.slots_of(np.asarray(nums, np.int64)).tolist()
        self.keyword.remove(gone)
        self.vectors.remove(gone)
        self.surroundings.remove(gone)
        self.authors.remove(gone)

    def _follow_vectors(self, tx: Transaction, *, after_seq: int) -> None:
        self._unrelated = None
        if self._model is not None and len(self._nums):
            nums, vectors = embeddings.vectors_of_partition(
                tx, self.key, self._model, after_seq=after_seq
            )
            self.vectors.put(self.slots_of(nums), vectors)

    def _append(self, rows: Sequence[IndexRow]) -> None:
        self._nums.extend(np.fromiter((row.num for row in rows), np.int64, len(rows)))
        self._event_days.extend(
            np.fromiter(
                (nan if row.event_ms is None else row.event_ms / _MS_PER_DAY for row in rows),
                np.float64,
                len(rows),
            )
        )
        self._accesses.grow_to(len(self._nums))
        self.surroundings.add([group(row) for row in rows], [place(row) for row in rows])
        self.authors.add([author(row) for row in rows])
        # The words of all rows at once would need a multiple of what is kept of them.
        self.keyword.add(self._splitter(words_of(row)) for row in rows)
        self.vectors.grow_to(len(self._nums))

    def _follow_accesses(self, tx: Transaction, oldest_new: int, *, changed: bool) -> None:
        """Read the counts that changed, and those of chunks that came back as new rows."""
        counts: dict[int, int] = {}
        if len(self._nums) > oldest_new:
            newest_known = int(self.nums[oldest_new - 1]) if oldest_new else 0
            counts = access.counts_of_partition(tx, self.key, after_num=newest_known)
        if changed:
            counts |= access.counts_of_partition(tx, self.key, after_seq=self._accesses_seen)
        for num, times in counts.items():
            self.accesses[self.slots_of(np.asarray([num]))] = times
