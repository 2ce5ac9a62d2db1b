"""BM25 over posting lists, on rank_bm25's model.

``rank_bm25`` scores every document of the corpus for every query and must be rebuilt to change.
This subclass reads only the posting lists of the query's terms, documents are added and removed
one by one, and the scores are the same.
"""

from __future__ import annotations

import math
from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi

from langchain_memengine.retrieval.growing import GrowingArray
from langchain_memengine.retrieval.postings import Postings, Words

Floats = NDArray[np.float64]

DENSE_SHARE = 0.3
"""Share of the documents from which on a term counts as common."""

MAX_CACHED_WEIGHTS = 4_000_000
"""Numbers kept of the weights of common terms: 32 MB."""


@dataclass(frozen=True, slots=True)
class CorpusStatistics:
    """What BM25 must know of the whole corpus a query is answered from.

    Attributes:
        documents: How many documents there are.
        words: How many words they have together.
        document_frequency: In how many documents each query term occurs.
    """

    documents: int
    words: int
    document_frequency: Mapping[str, int]

    @property
    def average_length(self) -> float:
        """Average words a document; 1 for an empty corpus."""
        return self.words / self.documents if self.words else 1.0

    def idf(self, term: str) -> float:
        """Return log(1 + (N - n + 0.5) / (n + 0.5)): positive however common the term is."""
        frequency = self.document_frequency[term]
        return math.log(1 + (self.documents - frequency + 0.5) / (frequency + 0.5))


class KeywordIndex(BM25Okapi):  # type: ignore[misc]  # rank_bm25 ships no types
    """A corpus of tokenized documents that can be searched and changed.

    Documents live in *slots*, numbered from 0 in the order they were added; a removed document's
    slot stays empty. ``get_scores`` and ``get_top_n`` of ``BM25Okapi`` see the documents without
    the empty slots.

    Args:
        corpus: Tokenized documents to start with.
        k1: Saturation of the term frequency.
        b: Strength of the length normalisation, 0 to 1.
    """

    def __init__(self, corpus: Iterable[Words] = (), *, k1: float = 1.5, b: float = 0.75) -> None:
        # rank_bm25's own constructor divides by the number of documents and keeps a dictionary
        # for each: everything it would set is set or derived here.
        self.k1 = k1
        self.b = b
        self.tokenizer = None
        self._postings = Postings()
        self._lengths = GrowingArray(np.int32)
        self._alive = GrowingArray(np.bool_)
        self._size = 0
        self._words = 0
        self._common: OrderedDict[str, Floats] = OrderedDict()
        self._norms_for = 0.0
        self._norms = np.zeros(0)
        # Of the size of the corpus, so that a search need not ask the system for fresh memory.
        self._scores = np.zeros(0)
        self._scratch = np.zeros(0)
        self.add(corpus)

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], vocabulary: Sequence[str], *, k1: float, b: float
    ) -> Self:
        """Return the index that :meth:`to_arrays` described, over the same arrays."""
        index = cls(k1=k1, b=b)
        index._postings = Postings.from_arrays(arrays, vocabulary)
        index._lengths = GrowingArray.of(arrays["lengths"])
        index._alive = GrowingArray.of(arrays["alive"])
        index._size = int(np.count_nonzero(index._alive.values))
        index._words = int(index.slot_lengths().sum())
        return index

    def to_arrays(self) -> tuple[dict[str, NDArray[Any]], list[str]]:
        """Return (arrays, vocabulary) to keep; they do not depend on ``k1`` and ``b``."""
        arrays, vocabulary = self._postings.to_arrays(self._alive.values)
        arrays |= {"lengths": self._lengths.values, "alive": self._alive.values}
        return arrays, vocabulary

    # --- what rank_bm25 calls its attributes -------------------------------------------------

    @property
    def corpus_size(self) -> int:
        """Documents in the index."""
        return self._size

    @property
    def avgdl(self) -> float:
        """Average words a document; 1 for an empty corpus."""
        return self.statistics(()).average_length

    @property
    def doc_len(self) -> list[int]:
        """Words of each document, in order."""
        lengths: list[int] = self._lengths.values[self._alive.values].tolist()
        return lengths

    @property
    def idf(self) -> dict[str, float]:
        """Inverse document frequency of every term that some document has."""
        statistics = self.statistics(self._postings.vocabulary)
        return {t: statistics.idf(t) for t, n in statistics.document_frequency.items() if n}

    def get_scores(self, query: Words) -> Floats:
        """Return the score of each document, in order; 0 means that no query term occurs."""
        scores: Floats = self.scores(query)[self._alive.values]
        return scores

    def get_batch_scores(self, query: Words, doc_ids: Sequence[int]) -> list[float]:
        """Return the scores of the documents at these positions."""
        scores: list[float] = self.get_scores(query)[list(doc_ids)].tolist()
        return scores

    # --- changing ----------------------------------------------------------------------------

    @property
    def merges(self) -> int:
        """How often the posting lists were rewritten as a whole."""
        return self._postings.merges

    def add(self, documents: Iterable[Words]) -> int:
        """Append documents, of which one at a time is looked at; return the slot of the first."""
        first = len(self._alive)
        new = self._postings.counted(documents)
        self._lengths.extend(new.lengths)
        self._alive.extend(np.ones(len(new.lengths), np.bool_))
        self._postings.add(new, self._alive.values)
        self._size += len(new.lengths)
        self._words += int(new.lengths.sum())
        self._forget_derived()
        return first

    def remove(self, slots: Iterable[int]) -> None:
        """Remove the documents in these slots; empty and unknown slots are ignored."""
        alive = self._alive.values
        gone = [slot for slot in set(slots) if 0 <= slot < len(alive) and alive[slot]]
        if not gone:
            return
        alive[gone] = False
        self._postings.remove(gone)
        self._size -= len(gone)
        self._words -= int(self._lengths.values[gone].sum())
        self._forget_derived()

    # --- searching ---------------------------------------------------------------------------

    def statistics(self, terms: Iterable[str]) -> CorpusStatistics:
        """Return what BM25 must know of this corpus for a query with these terms."""
        return CorpusStatistics(self._size, self._words, self._postings.frequencies(terms))

    def scores(self, query: Words, statistics: CorpusStatistics | None = None) -> Floats:
        """Return the score of each slot, shape (slots,); 0 for no match and for empty slots.

        They are valid until the next call.

        Args:
            query: Words; one that occurs twice counts twice.
            statistics: Of the corpus this index is a part of; default: of this index alone.
        """
        times = Counter(query)
        statistics = statistics or self.statistics(times)
        self._derive_norms(statistics.average_length)
        scores = self._scores
        scores.fill(0.0)
        rare: list[tuple[float, NDArray[np.int32], NDArray[np.int32]]] = []
        for word, count in times.items():
            weight = count * statistics.idf(word) * (self.k1 + 1.0)
            if statistics.document_frequency[word] < DENSE_SHARE * statistics.documents:
                rare.append((weight, *self.living_postings(word)))
            else:
                scores += np.multiply(self._common_weights(word), weight, out=self._scratch)
        if rare:
            weights, each_slots, each_counts = zip(*rare, strict=True)
            slots = np.concatenate(each_slots, dtype=np.intp)
            counts = np.concatenate(each_counts, dtype=np.float64)
            gains = np.asarray(weights).repeat(list(map(len, each_slots)))
            gains *= counts
            gains /= counts + self._norms[slots]
            np.add.at(scores, slots, gains)
        return scores

    def living_postings(self, word: str) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the slots that have a word, and how often; empty slots are left out."""
        term = self._postings.term(word)
        slots, counts = self._postings.of_term(-1 if term is None else term)
        if self._size < len(self._alive):
            alive = self._alive.values[slots]
            slots, counts = slots[alive], counts[alive]
        return slots, counts

    def slot_lengths(self) -> NDArray[np.int64]:
        """Return the words of each slot; 0 for empty slots."""
        lengths: NDArray[np.int64] = self._lengths.values * self._alive.values
        return lengths

    def _derive_norms(self, average_length: float) -> None:
        """Make sure that the length norms are those for this average length."""
        if average_length != self._norms_for:
            self._forget_derived()
            self._norms_for = average_length
            self._norms = self._lengths.values * (self.k1 * self.b / average_length)
            self._norms += self.k1 * (1 - self.b)
            self._scores = np.empty(len(self._alive))
            self._scratch = np.empty(len(self._alive))

    def _common_weights(self, word: str) -> Floats:
        """Return a term's saturated frequency in every slot; kept until a change.

        A term that many documents have comes up in many queries, and one number for each document
        is added faster than a long posting list.
        """
        weights = self._common.get(word)
        if weights is None:
            slots, counts = self.living_postings(word)
            weights = np.zeros(len(self._alive))
            weights[slots] = counts / (counts + self._norms[slots])
            self._common[word] = weights
            while len(self._common) * len(weights) > MAX_CACHED_WEIGHTS and len(self._common) > 1:
                self._common.popitem(last=False)
        else:
            self._common.move_to_end(word)
        return weights

    def _forget_derived(self) -> None:
        self._common.clear()
        self._norms_for = 0.0
