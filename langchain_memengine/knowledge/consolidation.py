"""Find what is remembered twice.

A text gives way only to one that has all its sentences, word by word and in their order: nothing
that it says is lost, and what differs in a number, a sign or a "not" is never taken for the same.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from langchain_memengine.text.sameness import Sentence, says_all, sentences, similarity

MIN_WORDS = 3
"""Shorter texts are left alone: "see below" says nothing without what stands around it."""

MIN_SIMILARITY = 0.8
"""Share of common shingles from which a text that says more may stand in for one."""

MIN_COSINE = 0.9
"""Cosine that both must have, too."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A text that may say what another one says.

    Attributes:
        id: What it is known by.
        text: Its words.
        group: Only passages of one group are compared.
        trust: How far it is trusted; none gives way to one that is trusted less.
        at: When it happened: of two that say the same the later one is kept.
    """

    id: str
    text: str
    group: Hashable
    trust: int
    at: datetime


@dataclass(frozen=True, slots=True)
class Duplicate:
    """That one passage says nothing beyond another.

    Attributes:
        id: The one that gives way.
        kept_id: The one that says it all.
        similarity: Share of shingles in common, 0 to 1.
        is_same: Whether both say the same, word by word; else the kept one says more.
        cosine: Of their embeddings; ``None`` if they were not compared.
    """

    id: str
    kept_id: str
    similarity: float
    is_same: bool
    cosine: float | None = None


@dataclass(frozen=True, slots=True)
class Duplicates:
    """What was found twice.

    Attributes:
        found: In the order of the passages that give way.
        compared: Pairs of passages that were compared sentence by sentence.
    """

    found: tuple[Duplicate, ...]
    compared: int


@dataclass(frozen=True, slots=True)
class _Read:
    passage: Passage
    sentences: tuple[Sentence, ...]

    @property
    def rank(self) -> tuple[int, datetime, str]:
        """What decides which of several that say the same is kept."""
        return self.passage.trust, self.passage.at, self.passage.id


def find_duplicates(passages: Iterable[Passage]) -> Duplicates:
    """Find the passages that say nothing beyond another one of their group.

    Not every passage is compared with every other one: only with those that have its rarest
    sentence, too. One of a chain may be kept for the next and give way itself.
    """
    groups: dict[Hashable, dict[tuple[Sentence, ...], list[_Read]]] = {}
    order: dict[str, int] = {}
    for number, passage in enumerate(passages):
        order[passage.id] = number
        read = _Read(passage, sentences(passage.text))
        if sum(map(len, read.sentences)) >= MIN_WORDS:
            groups.setdefault(passage.group, {}).setdefault(read.sentences, []).append(read)
    found: list[Duplicate] = []
    compared = 0
    for same in groups.values():
        kept = []
        for alike in same.values():
            best = max(alike, key=lambda one: one.rank)
            kept.append(best)
            found += [
                Duplicate(one.passage.id, best.passage.id, 1.0, is_same=True)
                for one in alike
                if one is not best
            ]
        contained, number = _contained(kept)
        found += contained
        compared += number
    return Duplicates(tuple(sorted(found, key=lambda one: order[one.id])), compared)


def confirmed(
    found: Sequence[Duplicate], cosine_of: Callable[[str, str], float | None]
) -> tuple[list[Duplicate], int]:
    """Return the duplicates whose embeddings agree, and how many could not be compared.

    Those that are the same word by word need no embedding.

    Args:
        found: What words alone tell.
        cosine_of: Returns the cosine of two passages by id, ``None`` if one has no embedding.
    """
    agreed, unknown = [], 0
    for one in found:
        cosine = cosine_of(one.id, one.kept_id)
        if one.is_same or (cosine is not None and cosine >= MIN_COSINE):
            agreed.append(replace(one, cosine=cosine))
        elif cosine is None:
            unknown += 1
    return agreed, unknown


def _contained(distinct: Sequence[_Read]) -> tuple[list[Duplicate], int]:
    """Return which of passages that all differ are contained in another, and pairs compared."""
    frequency = Counter(sentence for one in distinct for sentence in set(one.sentences))
    rarest = [min(one.sentences, key=lambda s: (frequency[s], s)) for one in distinct]
    holders = _holders(distinct, {one for one in rarest if frequency[one] > 1})
    found, compared = [], 0
    for less, sentence in zip(distinct, rarest, strict=True):
        longer = [more for more in holders.get(sentence, ()) if _may_hold(more, less)]
        compared += len(longer)
        shares = [
            (similarity(more.sentences, less.sentences), more.rank)
            for more in longer
            if says_all(more.sentences, less.sentences)
        ]
        near = [one for one in shares if one[0] >= MIN_SIMILARITY]
        if near:
            share, (_, _, kept_id) = max(near)
            found.append(Duplicate(less.passage.id, kept_id, share, is_same=False))
    return found, compared


def _may_hold(more: _Read, less: _Read) -> bool:
    """Return whether a passage is longer than another one, and trusted as far."""
    is_longer = more is not less and len(more.sentences) > len(less.sentences)
    return is_longer and more.passage.trust >= less.passage.trust


def _holders(
    distinct: Sequence[_Read], wanted: set[Sentence]
) -> Mapping[Sentence, Sequence[_Read]]:
    """Return which passages have each of these sentences."""
    holders: dict[Sentence, list[_Read]] = defaultdict(list)
    for one in distinct:
        for sentence in wanted.intersection(one.sentences):
            holders[sentence].append(one)
    return holders
