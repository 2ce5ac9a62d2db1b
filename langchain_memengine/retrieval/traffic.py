"""Searches and indexing in one process: searches go first.

Python runs one thread at a time, and a thread that waits for an answer of the database gets its
turn back 5 ms later, dozens of times in one search. So indexing goes in short steps and begins none
while a search is under way.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

LONGEST_WAIT_SECONDS = 0.05
"""Searches without end must not keep indexing from going on."""


def _nothing() -> None:
    """Stand where no index is in memory."""


class ReadyWords:
    """Splits texts into words, or knows already what another process made of them.

    Args:
        splitter: Splits the texts that nobody has split.
    """

    def __init__(self, splitter: Callable[[str], list[str]]) -> None:
        self._splitter = splitter
        self._ready: Mapping[str, str] = {}

    def __call__(self, text: str) -> list[str]:
        """Return the words of a text."""
        words = self._ready.get(text)
        return self._splitter(text) if words is None else words.split()

    def expect(self, ready: Mapping[str, str]) -> None:
        """Know these texts' words, with spaces between, until the next call."""
        self._ready = ready


class Traffic:
    """What searches and indexing must know of each other.

    Attributes:
        words: Splits texts for the keyword index.
        follow: Makes the indexes in memory follow the database.
        searches: How many searches there were so far.
    """

    def __init__(self, splitter: Callable[[str], list[str]]) -> None:
        self.words = ReadyWords(splitter)
        self.follow: Callable[[], None] = _nothing
        self.searches = 0
        self._under_way = 0
        self._changed = threading.Condition()

    @contextmanager
    def searching(self) -> Iterator[None]:
        """Span a search."""
        with self._changed:
            self.searches += 1
            self._under_way += 1
        try:
            yield
        finally:
            with self._changed:
                self._under_way -= 1
                self._changed.notify_all()

    def give_way(self) -> None:
        """Wait until no search is under way, for 50 ms at most; to be called before each step."""
        with self._changed:
            self._changed.wait_for(lambda: not self._under_way, LONGEST_WAIT_SECONDS)
