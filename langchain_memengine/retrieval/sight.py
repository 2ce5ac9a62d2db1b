"""What a query sees of the memory it may read: its filter, its branch, its time."""

from __future__ import annotations

from typing import NamedTuple

from langchain_memengine.retrieval.branches import Branches
from langchain_memengine.retrieval.hiding import HiddenPairs
from langchain_memengine.retrieval.legs import Mask, both
from langchain_memengine.retrieval.query import Query
from langchain_memengine.retrieval.validity import Validity
from langchain_memengine.retrieval.view import View
from langchain_memengine.storage.change_counters import Counters
from langchain_memengine.storage.times import to_ms
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.types import Filter


class Seen(NamedTuple):
    """Which positions of a view a query sees; ``None`` is all of them.

    Attributes:
        allowed: Those that pass its filter and hold on its branch and at its time.
        shown: Those of them that are not hidden behind another one that is allowed.
        known: Those that can be seen from its vantage, whatever else it asks for.
        hidden: What the last check of the rows must not let pass, see ``Branches``.
    """

    allowed: Mask | None
    shown: Mask | None
    known: Mask | None
    hidden: frozenset[str]


class Sight:
    """Answers what a query sees, following the database; for one thread at a time."""

    def __init__(self) -> None:
        self._branches = Branches()
        self._validity = Validity()
        self._hidden = HiddenPairs()

    def of(self, tx: Transaction, view: View, counters: Counters, query: Query) -> Seen:
        """Return what a query sees of a view.

        Raises:
            UnknownCommitError: Its head is none of its thread's.
        """
        unseen = self._branches.unseen(tx, view, counters, query.vantage)
        allowed = both(_filtered(tx, view, query.filter), unseen.mask)
        allowed = both(allowed, self._validity.mask(tx, view, counters, to_ms(query.now)))
        as_of_ms = to_ms(query.vantage.as_of)
        shown = self._hidden.mask(tx, view, counters, allowed, as_of_ms)
        return Seen(allowed, shown, unseen.mask, unseen.hidden)


def _filtered(tx: Transaction, view: View, wanted: Filter) -> Mask | None:
    if wanted.is_empty:
        return None
    since, until = to_ms(wanted.since), to_ms(wanted.until)
    mask: Mask = view.join([p.mask(tx, wanted, since, until) for p in view.partitions])
    return mask
