"""The counters that tell what changed in a store: one row each, bumped in the same transaction."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, select, update

from langchain_memengine.errors import StorageError
from langchain_memengine.storage import dialects
from langchain_memengine.storage.schema import counters
from langchain_memengine.storage.statements import HotQuery

CHANGES = "changes"
ACCESSES = "accesses"
COMMITS = "commits"

_VALUES = HotQuery(
    select(counters.c.name, counters.c.value).where(counters.c.store_id == bindparam("store_id"))
)


@dataclass(frozen=True, slots=True)
class Counters:
    """Where the store stands: its visible changes, its access counts and its moved heads."""

    changes: int
    accesses: int
    commits: int = 0


def values(connection: Connection, store_id: str) -> Counters:
    """Return all counters of a store in one statement."""
    found = dict(_VALUES.rows(connection, {"store_id": store_id}))
    return Counters(found[CHANGES], found[ACCESSES], found[COMMITS])


def bump(connection: Connection, store_id: str, name: str) -> int:
    """Raise a counter by one and return it; its row stays locked until the commit."""
    row = (counters.c.store_id == store_id) & (counters.c.name == name)
    connection.execute(update(counters).where(row).values(value=counters.c.value + 1))
    value: int = connection.execute(select(counters.c.value).where(row)).scalar_one()
    return value


def ensure(connection: Connection, store_id: str) -> None:
    """Give a new store its counters."""
    missing = _missing(connection, store_id)
    rows = [{"store_id": store_id, "name": name, "value": 0} for name in missing]
    dialects.upsert(connection, counters, rows)


def require(connection: Connection, store_id: str) -> None:
    """Refuse a store that is not there.

    Raises:
        StorageError: It has no counters.
    """
    if _missing(connection, store_id):
        raise StorageError(
            f"The database has no store {store_id!r} and read_only=True forbids to make one. "
            "Correct store_id, or open it once without read_only."
        )


def _missing(connection: Connection, store_id: str) -> list[str]:
    present = set(
        connection.execute(select(counters.c.name).where(counters.c.store_id == store_id)).scalars()
    )
    return [name for name in (CHANGES, ACCESSES, COMMITS) if name not in present]
