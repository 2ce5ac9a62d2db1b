"""How often searches ask the database what others changed."""

from __future__ import annotations

from datetime import datetime, timedelta

from langchain_memengine.storage.change_counters import Counters
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.transaction import Transaction


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
        self._known: tuple[datetime, int, Counters] | None = None

    def at(self, tx: Transaction, now: datetime | None) -> Counters:
        """Return counters that are recent enough.

        Args:
            tx: A view of the database.
            now: The time; ``None`` asks the database in any case.
        """
        if now is None or not self._longest:
            return tx.counters()
        writes = self._database.writes
        if self._known is not None:
            asked_at, writes_then, counters = self._known
            if writes == writes_then and asked_at <= now < asked_at + self._longest:
                return counters
        counters = tx.counters()
        self._known = now, writes, counters
        return counters
