"""How often searches ask the database what others changed."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from langchain_memengine.storage.change_counters import Counters
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.transaction import Transaction


class _Known(NamedTuple):
    """Counters, as a view showed them.

    Attributes:
        at: The time then.
        began: When that view began, as the database counts.
        asked: When it was asked, in the same way.
        counters: What it answered.
    """

    at: datetime
    began: int
    asked: int
    counters: Counters


class KnownCounters:
    """The counters as they were last asked for, for as long as they may be used.

    What this process writes itself counts at once. A clock that was put back asks again.
    """

    def __init__(self, database: Database, max_staleness_seconds: float) -> None:
        """Know nothing yet.

        Args:
            database: The store.
            max_staleness_seconds: How old the counters may be; 0 asks each time.
        """
        self._database = database
        self._longest = timedelta(seconds=max_staleness_seconds)
        self._known: _Known | None = None

    def at(self, tx: Transaction, now: datetime | None) -> Counters:
        """Return counters that are recent enough, and never ahead of what a view shows.

        Args:
            tx: A view of the database.
            now: The time; ``None`` asks the database in any case.
        """
        if now is None or not self._longest:
            return tx.counters()
        known = self._known
        if (
            known is not None
            and known.asked < tx.began  # an older view does not show what they count
            and known.began > self._database.wrote_at
            and known.at <= now < known.at + self._longest
        ):
            return known.counters
        counters = tx.counters()
        self._known = _Known(now, tx.began, self._database.moment(), counters)
        return counters
