"""One server of each kind for all tests here; each module has databases of its own."""

import itertools

import pytest

from integration_tests.reliability.processes import Program
from integration_tests.servers import replica_processes
from integration_tests.servers.starting import KINDS, started
from langchain_memengine.storage.database import Database
from tests.storage.contract import NOW

_store_ids = (f"store-{number}" for number in itertools.count())


@pytest.fixture(scope="session")
def postgresql():
    """A running PostgreSQL."""
    with started("postgresql") as server:
        yield server


@pytest.fixture(scope="session")
def mariadb():
    """A running MariaDB."""
    with started("mariadb") as server:
        yield server


@pytest.fixture(scope="session", params=list(KINDS))
def server(request):
    """A running server, of each kind in turn."""
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="session")
def replica_program():
    """What plays writers and replicas."""
    with Program(replica_processes) as program:
        yield program


@pytest.fixture(scope="module")
def url(server):
    """The address of a database that the tests of a module share."""
    return server.url()


@pytest.fixture
def store_id():
    """The id of a store that no other test has."""
    return next(_store_ids)


@pytest.fixture
def opened(url, store_id):
    """Open stores of one database; those that other tests made have other ids."""
    opened: list[Database] = []

    def opener(name="a", **options):
        database = Database(
            url, **{"store_id": f"{store_id}-{name}", "now": NOW, "busy_timeout_ms": 0, **options}
        )
        opened.append(database)
        return database

    yield opener
    for database in opened:
        database.close()


@pytest.fixture
def database(opened):
    """An empty store."""
    return opened()
