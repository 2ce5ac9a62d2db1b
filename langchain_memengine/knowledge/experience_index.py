"""The intents of all experiences in memory, to be found by their words.

Each user has a corpus of their own, so that nobody's words, not even their frequencies, tell in
another's answer.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from langchain_memengine.retrieval.growing import GrowingArray
from langchain_memengine.retrieval.keyword_index import CorpusStatistics, Floats, KeywordIndex
from langchain_memengine.retrieval.top import top
from langchain_memengine.storage import experiences
from langchain_memengine.storage.experience_values import EXPERIENCE_KINDS, IntentRow
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.text.words import WordSplitter

Slots = NDArray[np.int64]

TAG_BOOST = 0.5
"""What having all the tags asked for adds to a score, as a share of it."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is looked for.

    Attributes:
        words: Of the query; a hit has at least one of them.
        tags: Those that are welcome, casefolded.
        kind: The only kind that will do; ``None`` for any.
        limit: How many, at least 1.
    """

    words: Sequence[str]
    tags: tuple[str, ...]
    kind: str | None
    limit: int


class ExperienceIndex:
    """Follows the table of experiences; not safe for several threads at once."""

    def __init__(self, splitter: WordSplitter) -> None:
        self._splitter = splitter
        self._corpora: dict[str, _Corpus] = {}
        self._seq = 0

    def follow(self, tx: Transaction) -> None:
        """Take over what changed in the store since the last call."""
        changes = tx.counters().changes
        if changes == self._seq:
            return
        changed: dict[str, list[IntentRow]] = defaultdict(list)
        for row in experiences.intents(tx, after_seq=self._seq):
            if row.kind in EXPERIENCE_KINDS:  # others are for newer releases
                changed[row.user].append(row)
        for user, rows in changed.items():
            self._corpora.setdefault(user, _Corpus()).put(rows, self._splitter)
        if experiences.removed_seq(tx) > self._seq:
            left = experiences.keys(tx)
            for user, corpus in self._corpora.items():
                corpus.keep({id_ for owner, id_ in left if owner == user})
        self._seq = changes

    def best(self, wanted: Wanted, user: str) -> list[str]:
        """Return the ids of the best of a user's and everyone's, best first.

        The score is BM25 times weight times success, raised by up to half for the tags. Equal ones
        stand newest first, then by id.
        """
        corpora = [
            corpus for name in dict.fromkeys(("", user)) if (corpus := self._corpora.get(name))
        ]
        terms = set(wanted.words)
        parts = [corpus.keywords.statistics(terms) for corpus in corpora]
        joined = CorpusStatistics(
            sum(part.documents for part in parts),
            sum(part.words for part in parts),
            {term: sum(part.document_frequency[term] for part in parts) for term in terms},
        )
        found = [place for corpus in corpora for place in corpus.best(wanted, joined)]
        return [id_ for _, _, id_ in sorted(found)[: wanted.limit]]


class _Corpus:
    """The experiences of one user, by slot of their keyword index."""

    def __init__(self) -> None:
        self.keywords = KeywordIndex()
        self._slots: dict[str, int] = {}
        self._rows: list[IntentRow] = []
        self._created = GrowingArray(np.int64)
        self._quality = GrowingArray(np.float64)
        self._kinds = GrowingArray(np.int8)
        self._tagged: defaultdict[str, array[int]] = defaultdict(lambda: array("i"))

    def put(self, rows: Sequence[IntentRow], splitter: WordSplitter) -> None:
        """Add rows; of a known one that is found by the same words only the quality changes."""
        new, replaced = [], []
        for row in rows:
            slot = self._slots.get(row.id)
            if slot is None:
                new.append(row)
            elif _is_same(self._rows[slot], row):
                self._quality.values[slot] = row.quality
            else:
                replaced.append(slot)
                new.append(row)
        self.keywords.remove(replaced)
        self._add(new, splitter)

    def keep(self, ids: set[str]) -> None:
        """Drop all but these."""
        gone = {id_: slot for id_, slot in self._slots.items() if id_ not in ids}
        self.keywords.remove(gone.values())
        for id_ in gone:
            del self._slots[id_]

    def best(self, wanted: Wanted, statistics: CorpusStatistics) -> list[tuple[float, int, str]]:
        """Return (minus score, minus time, id) of the best, and of all that equal the last."""
        scores = self.keywords.scores(wanted.words, statistics) * self._quality.values
        if wanted.kind is not None:
            scores[self._kinds.values != EXPERIENCE_KINDS.index(wanted.kind)] = 0.0
        if wanted.tags:
            scores *= self._boosts(wanted.tags)
        found = top(scores, wanted.limit, above=0.0)
        if len(found) == wanted.limit:
            found = self._with_newest_ties(scores, found)
        return [
            (-float(scores[slot]), -int(self._created.values[slot]), self._rows[slot].id)
            for slot in found.tolist()
        ]

    def _add(self, rows: list[IntentRow], splitter: WordSplitter) -> None:
        first = self.keywords.add([splitter(row.intent) for row in rows])
        for slot, row in enumerate(rows, start=first):
            self._slots[row.id] = slot
            for tag in row.tags:
                self._tagged[tag].append(slot)
        self._rows.extend(rows)
        self._created.extend(np.array([row.created_ms for row in rows], np.int64))
        self._quality.extend(np.array([row.quality for row in rows], np.float64))
        kinds = [EXPERIENCE_KINDS.index(row.kind) for row in rows]
        self._kinds.extend(np.array(kinds, np.int8))

    def _boosts(self, tags: tuple[str, ...]) -> Floats:
        boosts = np.ones(len(self._rows))
        for tag in tags:
            if tag in self._tagged:
                boosts[np.frombuffer(self._tagged[tag], np.int32)] += TAG_BOOST / len(tags)
        return boosts

    def _with_newest_ties(self, scores: Floats, found: Slots) -> Slots:
        """Return the found slots; where others equal the last, the newest stand in for it."""
        last = scores[found[-1]]
        better = found[scores[found] > last]
        ties = np.flatnonzero(scores == last)
        created = self._created.values[ties]
        oldest = np.sort(created)[-(len(found) - len(better))]
        return np.concatenate([better, ties[created >= oldest]])


def _is_same(one: IntentRow, other: IntentRow) -> bool:
    return (one.intent, one.kind, one.tags, one.created_ms) == (
        other.intent,
        other.kind,
        other.tags,
        other.created_ms,
    )
