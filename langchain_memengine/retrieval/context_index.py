"""BM25 over whole files and conversations, from the posting lists of their chunks.

The chunks of a group count as one document. Nothing is stored for it: the frequency of a term in a
group is the sum over its chunks, taken when the term is first asked for.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from langchain_memengine.retrieval.keyword_index import CorpusStatistics, KeywordIndex
from langchain_memengine.retrieval.surroundings import Surroundings

Floats = NDArray[np.float64]

MAX_CACHED_TERMS = 512
"""Terms whose group frequencies are kept until a change."""


class ContextIndex:
    """Scores the group of each chunk for a query.

    Args:
        keyword: The chunks' own index.
        surroundings: Which group each of its slots belongs to.
    """

    def __init__(self, keyword: KeywordIndex, surroundings: Surroundings) -> None:
        self._keyword = keyword
        self._surroundings = surroundings
        self._frequencies: OrderedDict[str, Floats] = OrderedDict()
        self._lengths: Floats = np.zeros(0)

    def forget(self) -> None:
        """Drop what was derived; to be called after every change."""
        self._frequencies.clear()
        self._lengths = np.zeros(0)

    def statistics(self, terms: Iterable[str]) -> CorpusStatistics:
        """Return what BM25 must know of these groups for a query with these terms."""
        lengths = self._group_lengths()
        return CorpusStatistics(
            documents=int(np.count_nonzero(lengths)),
            words=int(lengths.sum()),
            document_frequency={t: int(np.count_nonzero(self._frequency(t))) for t in terms},
        )

    def scores(self, words: Sequence[str], statistics: CorpusStatistics) -> Floats:
        """Return the score of each group, shape (groups,); 0 where no word occurs.

        Args:
            words: Words of the query; one that occurs twice counts twice.
            statistics: Of all groups that the query is answered from.
        """
        scores = np.zeros(self._surroundings.groups)
        norms = self._group_lengths() * (self._keyword.b / statistics.average_length)
        norms = self._keyword.k1 * (norms + (1 - self._keyword.b))
        for word, times in Counter(words).items():
            frequency = self._frequency(word)
            weight = times * statistics.idf(word) * (self._keyword.k1 + 1)
            scores += weight * frequency / np.maximum(frequency + norms, 1e-9)
        return scores

    def _frequency(self, word: str) -> Floats:
        """Return how often a word occurs in each group."""
        frequency = self._frequencies.get(word)
        if frequency is None:
            slots, counts = self._keyword.living_postings(word)
            frequency = np.bincount(
                self._surroundings.codes[slots], counts, minlength=self._surroundings.groups
            ).astype(np.float64)
            self._frequencies[word] = frequency
            if len(self._frequencies) > MAX_CACHED_TERMS:
                self._frequencies.popitem(last=False)
        return frequency

    def _group_lengths(self) -> Floats:
        if len(self._lengths) != self._surroundings.groups:
            self._lengths = np.bincount(
                self._surroundings.codes,
                self._keyword.slot_lengths(),
                minlength=self._surroundings.groups,
            ).astype(np.float64)
        return self._lengths
