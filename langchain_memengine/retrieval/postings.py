"""Posting lists: for each term, the documents that have it and how often.

They stand in two places. The *base* is one array for all terms, cheap to read; what is added later
goes into the *delta*, one small list a term, and is folded into the base when it has grown to a
quarter of it. Removed documents leave their postings behind until then; readers mask them.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, count
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from langchain_memengine.retrieval.growing import GrowingArray

Words = Sequence[str]
Ints32 = NDArray[np.int32]

MERGE_FRACTION = 0.25
"""Share of the base that the delta may reach before it is folded in."""

MIN_DELTA = 4096
"""Postings the delta may always have: folding in a small base is not worth the work."""


class Counted(NamedTuple):
    """The postings of some documents, one document after the other.

    Attributes:
        terms: Term of each posting.
        counts: How often the document has it.
        sizes: Postings of each document.
        lengths: Words of each document.
    """

    terms: Ints32
    counts: Ints32
    sizes: Ints32
    lengths: Ints32


@dataclass(frozen=True, slots=True)
class _Segment:
    """Postings sorted by term, then slot; ``starts[t] : starts[t + 1]`` are those of term t."""

    starts: NDArray[np.int64]
    slots: Ints32
    counts: Ints32

    @classmethod
    def build(cls, terms: Ints32, slots: Ints32, counts: Ints32, size: int) -> _Segment:
        # A stable sort keeps slots in order, and merges already sorted runs in linear time.
        order = np.argsort(terms, kind="stable")
        starts = np.zeros(size + 1, np.int64)
        np.cumsum(np.bincount(terms, minlength=size), out=starts[1:])
        return cls(starts, slots[order], counts[order])

    def terms(self) -> Ints32:
        """Return the term of each posting."""
        return np.repeat(np.arange(len(self.starts) - 1, dtype=np.int32), np.diff(self.starts))

    def of_term(self, term: int) -> tuple[Ints32, Ints32]:
        """Return (slots, counts) of a term, empty if the segment is older than the term."""
        if not 0 <= term < len(self.starts) - 1:
            return self.slots[:0], self.counts[:0]
        run = slice(self.starts[term], self.starts[term + 1])
        return self.slots[run], self.counts[run]


class Postings:
    """The posting lists of a corpus whose documents are numbered by slot.

    Attributes:
        merges: How often the delta was folded into the base.
    """

    def __init__(self) -> None:
        nothing = np.zeros(0, np.int32)
        self.merges = 0
        self._vocabulary: defaultdict[str, int] = defaultdict(count().__next__)
        self._base = _Segment.build(nothing, nothing, nothing, 0)
        self._delta: dict[int, tuple[array[int], array[int]]] = {}
        self._delta_terms: dict[int, array[int]] = {}
        self._delta_size = 0
        self._frequency = GrowingArray(np.int64)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], vocabulary: Sequence[str]) -> Self:
        """Return the posting lists that :meth:`to_arrays` described, over the same arrays."""
        postings = cls()
        postings._vocabulary = defaultdict(
            count(len(vocabulary)).__next__, zip(vocabulary, range(len(vocabulary)), strict=True)
        )
        postings._base = _Segment(
            arrays["posting_starts"], arrays["posting_slots"], arrays["posting_counts"]
        )
        postings._frequency = GrowingArray.of(arrays["frequencies"])
        return postings

    def to_arrays(self, alive: NDArray[np.bool_]) -> tuple[dict[str, NDArray[Any]], list[str]]:
        """Return (arrays, vocabulary) to keep; everything is folded into the base first.

        Terms that no document has any more are left out: what was removed leaves no word behind.

        Args:
            alive: Which slots are in use.
        """
        if self._delta_size or not alive.all():
            nothing = np.zeros(0, np.int32)
            self._merge(nothing, nothing, nothing, alive)
        used = self._frequency.values > 0
        arrays = {
            # Unused terms have no postings, so the end of a run is the start of the next used one.
            "posting_starts": np.append(self._base.starts[:-1][used], self._base.starts[-1]),
            "posting_slots": self._base.slots,
            "posting_counts": self._base.counts,
            "frequencies": self._frequency.values[used],
        }
        return arrays, list(compress(self._vocabulary, used.tolist()))

    @property
    def vocabulary(self) -> list[str]:
        """Every term that some document has or had."""
        return list(self._vocabulary)

    def term(self, word: str) -> int | None:
        """Return the number of a term, ``None`` if no document ever had it."""
        return self._vocabulary.get(word)

    def frequencies(self, words: Iterable[str]) -> dict[str, int]:
        """Return in how many documents each word occurs."""
        known = self._vocabulary.get
        counts = self._frequency.values
        return {word: 0 if (term := known(word)) is None else int(counts[term]) for word in words}

    def of_term(self, term: int) -> tuple[Ints32, Ints32]:
        """Return (slots, counts) of a term, slots ascending; removed documents included."""
        slots, counts = self._base.of_term(term)
        if term not in self._delta:
            return slots, counts
        new_slots, new_counts = self._delta[term]
        return (
            np.concatenate([slots, np.asarray(new_slots, np.int32)]),
            np.concatenate([counts, np.asarray(new_counts, np.int32)]),
        )

    def counted(self, documents: Iterable[Words]) -> Counted:
        """Return the postings of new documents, of which one at a time is looked at."""
        terms, counts, sizes, lengths = array("i"), array("i"), array("i"), array("i")
        term_of = self._vocabulary.__getitem__
        for words in documents:
            frequencies = Counter(words)
            terms.extend(map(term_of, frequencies))
            counts.extend(frequencies.values())
            sizes.append(len(frequencies))
            lengths.append(len(words))
        return Counted(*(np.asarray(each, np.int32) for each in (terms, counts, sizes, lengths)))

    def add(self, new: Counted, alive: NDArray[np.bool_]) -> None:
        """Add the documents in the last slots of ``alive``, which tells which slots are in use."""
        first = len(alive) - len(new.sizes)
        slots = np.repeat(np.arange(first, len(alive), dtype=np.int32), new.sizes)
        self._frequency.grow_to(len(self._vocabulary))
        self._frequency.values[:] += np.bincount(new.terms, minlength=len(self._vocabulary))
        if self._delta_size + len(slots) > max(MIN_DELTA, MERGE_FRACTION * len(self._base.slots)):
            self._merge(new.terms, slots, new.counts, alive)
        else:
            self._add_to_delta(new.terms, slots, new.counts)

    def remove(self, slots: Sequence[int]) -> None:
        """Lower the frequencies of the terms in these documents; each may be removed once."""
        in_base = np.flatnonzero(np.isin(self._base.slots, np.asarray(slots, np.int32)))
        terms = np.searchsorted(self._base.starts, in_base, side="right") - 1
        np.subtract.at(self._frequency.values, terms, 1)
        nothing = array("i")
        for slot in slots:
            self._frequency.values[self._delta_terms.get(slot, nothing)] -= 1

    def _add_to_delta(self, terms: Ints32, slots: Ints32, counts: Ints32) -> None:
        for term, slot, times in zip(terms.tolist(), slots.tolist(), counts.tolist(), strict=True):
            posting = self._delta.setdefault(term, (array("i"), array("i")))
            posting[0].append(slot)
            posting[1].append(times)
            self._delta_terms.setdefault(slot, array("i")).append(term)
        self._delta_size += len(terms)

    def _merge(
        self, terms: Ints32, slots: Ints32, counts: Ints32, alive: NDArray[np.bool_]
    ) -> None:
        """Make base, delta and new postings the new base, without those of removed documents."""
        delta = self._delta.values()
        delta_terms = np.repeat(
            np.fromiter(self._delta, np.int32, len(self._delta)),
            np.fromiter((len(posting[0]) for posting in delta), np.int64, len(delta)),
        )
        delta_slots = [np.asarray(posting[0], np.int32) for posting in delta]
        delta_counts = [np.asarray(posting[1], np.int32) for posting in delta]
        all_terms = np.concatenate([self._base.terms(), delta_terms, terms])
        all_slots = np.concatenate([self._base.slots, *delta_slots, slots])
        all_counts = np.concatenate([self._base.counts, *delta_counts, counts])
        kept = alive[all_slots]
        self._base = _Segment.build(
            all_terms[kept], all_slots[kept], all_counts[kept], len(self._vocabulary)
        )
        self._delta, self._delta_terms, self._delta_size = {}, {}, 0
        self.merges += 1
