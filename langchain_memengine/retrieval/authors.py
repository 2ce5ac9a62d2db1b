"""Who wrote the chunks of a partition, and which of them a query names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from langchain_memengine.retrieval.growing import GrowingArray

Splitter = Callable[[str], list[str]]
Mask = NDArray[np.bool_]

_NOBODY = 0


class Authors:
    """The author of each slot, and what words they are called by.

    Args:
        splitter: Splits a name into words, as the keyword index splits texts.
    """

    def __init__(self, splitter: Splitter) -> None:
        self._splitter = splitter
        self._codes = GrowingArray(np.int32)
        self._slots_of: list[int] = [0]  # number of slots of each code
        self._known: dict[str, int] = {"": _NOBODY}
        self._called: dict[str, list[str]] = {}

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], names: Sequence[str], splitter: Splitter
    ) -> Self:
        """Return the authors that :meth:`to_arrays` described, over the same arrays.

        Raises:
            ValueError: A slot has an author without a name.
        """
        authors = cls(splitter)
        for name in names:
            authors._code(name)
        counts = np.bincount(arrays["authors"], minlength=len(authors._known)).tolist()
        if len(counts) != len(authors._known):
            raise ValueError("an author has no name")
        authors._codes = GrowingArray.of(arrays["authors"])
        authors._slots_of = counts
        return authors

    def to_arrays(self) -> tuple[dict[str, NDArray[Any]], list[str]]:
        """Return (arrays, names) to keep."""
        return {"authors": self._codes.values}, list(self._known)[1:]

    @property
    def names(self) -> set[str]:
        """Everybody who wrote one of the chunks."""
        return {name for name, code in self._known.items() if code and self._slots_of[code]}

    def add(self, names: Sequence[str]) -> None:
        """Append slots; ``""`` is a chunk of nobody."""
        codes = [self._code(name) for name in names]
        for code in codes:
            self._slots_of[code] += 1
        self._codes.extend(np.asarray(codes, np.int32))

    def remove(self, slots: Iterable[int]) -> None:
        """Take the authors away from slots."""
        for slot in slots:
            self._slots_of[self._codes.values[slot]] -= 1
            self._slots_of[_NOBODY] += 1
            self._codes.values[slot] = _NOBODY

    def called(self, words: Iterable[str]) -> dict[str, set[str]]:
        """Return whom any of these words may mean, with the words that do."""
        found: dict[str, set[str]] = {}
        for word in words:
            for name in self._called.get(word, ()):
                if self._slots_of[self._known[name]]:
                    found.setdefault(name, set()).add(word)
        return found

    def wrote(self, slots: NDArray[np.int64], names: Iterable[str]) -> Mask:
        """Return which slots are by one of these authors."""
        codes = [self._known[name] for name in names if name in self._known]
        return np.isin(self._codes.values[slots], codes)

    def _code(self, name: str) -> int:
        code = self._known.get(name)
        if code is None:
            code = self._known[name] = len(self._known)
            self._slots_of.append(0)
            for word in set(self._splitter(name)):
                self._called.setdefault(word, []).append(name)
        return code
