"""What every function of this package takes first: one open transaction of one store."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlalchemy import Connection, bindparam, select

from langchain_memengine.storage import change_counters, dialects
from langchain_memengine.storage.change_counters import ACCESSES, CHANGES, COMMITS, Counters
from langchain_memengine.storage.clickhouse import ClickHouse
from langchain_memengine.storage.schema import meta

_META = select(meta.c.value).where(
    meta.c.store_id == bindparam("store_id"), meta.c.key == bindparam("key")
)


@dataclass(slots=True)
class Transaction:
    """One open transaction of one store. The functions of this package take it first.

    Attributes:
        connection: The SQLAlchemy connection; not to be used outside ``storage``.
        store_id: The store all statements are about.
        clickhouse: Where records, revisions and messages are, if not here; see ``kept``.
        began: When it began, as ``Database.moment`` counts; 0 for one that writes.
        queued_jobs: Whether jobs were put that a worker should look for after the commit.
        has_waiting: Whether something is to be moved to ClickHouse after the commit.
    """

    connection: Connection
    store_id: str
    clickhouse: ClickHouse | None = None
    began: int = 0
    queued_jobs: bool = False
    has_waiting: bool = False
    _taken: dict[str, int] = field(default_factory=dict)

    @property
    def seq(self) -> int:
        """This transaction's value of the change counter; taken at the first use.

        The counter's row stays locked until the commit, so values become visible in order: a
        reader that has seen n has seen everything up to n.
        """
        return self._take(CHANGES)

    @property
    def access_seq(self) -> int:
        """This transaction's value of the counter of access counts; taken at the first use."""
        return self._take(ACCESSES)

    @property
    def commit_seq(self) -> int:
        """This transaction's value of the counter of commits; taken at the first use."""
        return self._take(COMMITS)

    def touch(self) -> None:
        """Bump the change counter, for a change that no row's ``seq`` tells."""
        self._take(CHANGES)

    def _take(self, name: str) -> int:
        if name not in self._taken:
            self._taken[name] = change_counters.bump(self.connection, self.store_id, name)
        return self._taken[name]

    def counters(self) -> Counters:
        """Return all counters in one statement."""
        return change_counters.values(self.connection, self.store_id)

    def get_meta(self, key: str) -> str | None:
        """Return a value noted about the store, or ``None``."""
        return self.connection.execute(
            _META, {"store_id": self.store_id, "key": key}
        ).scalar_one_or_none()

    def set_meta(self, key: str, value: str) -> None:
        """Note a value about the store, replacing an earlier one."""
        row = {"store_id": self.store_id, "key": key, "value": value}
        dialects.upsert(self.connection, meta, [row])
