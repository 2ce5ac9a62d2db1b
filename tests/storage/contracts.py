"""All contracts of storage, and what a kind of database needs to be held to them.

A module of tests says ``globals().update(held_to(CONTRACTS))``. There, or in a ``conftest.py``, are
the fixtures that contracts take:

- ``database``: an empty store;
- ``graph_database``: an empty store of a graph;
- ``opened``: opens stores of one database, ``opened(store_id="a", read_only=False)``;
- ``fresh``: opens another empty store, each time it is called;
- ``apart``: an empty store in a database that no other test looks into;
- ``histories``: how many histories a machine of states draws.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

from langchain_memengine.storage.database import Database
from tests.storage.contract import NOW

Opener = Callable[..., Database]

CONTRACTS = {
    name: found
    for path in sorted(Path(__file__).parent.glob("contract*.py"))
    if path.stem != Path(__file__).stem
    for name, found in vars(import_module(f"tests.storage.{path.stem}")).items()
    if name.endswith("Contract")
}
"""Every contract by its name."""


def held_to(contracts: Iterable[str]) -> dict[str, type]:
    """Return a class of tests for each contract, by a name that pytest collects."""
    return {f"Test{name}": type(f"Test{name}", (CONTRACTS[name],), {}) for name in contracts}


@contextmanager
def opening(open_one: Opener, *, apart_by: str = "") -> Iterator[Opener]:
    """Yield what opens stores, which are closed in the end.

    Args:
        open_one: Opens one, like :class:`Database` without its address.
        apart_by: What their ids begin with, where stores of other tests are in the same database.
    """
    opened: list[Database] = []

    def opener(store_id: str = "a", **options: object) -> Database:
        given = {"store_id": f"{apart_by}{store_id}", "now": NOW, "busy_timeout_ms": 0, **options}
        opened.append(open_one(**given))
        return opened[-1]

    try:
        yield opener
    finally:
        for database in opened:
            database.close()
