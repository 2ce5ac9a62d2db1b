"""Each module has databases of its own, on servers that all tests share."""

import itertools
from functools import partial

import pytest

from integration_tests.reliability.processes import Program
from integration_tests.servers import replica_processes
from integration_tests.servers.starting import KINDS
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.graph_schema import GRAPH
from tests.storage.contracts import opening

_store_ids = (f"store-{number}" for number in itertools.count())


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
    with opening(partial(Database, url), apart_by=f"{store_id}-") as opened:
        yield opened


@pytest.fixture
def database(opened):
    """An empty store."""
    return opened()


@pytest.fixture
def graph_database(opened):
    """An empty store of a graph."""
    return opened(schema=GRAPH)


@pytest.fixture
def fresh(opened):
    """Open another empty store, each time it is called."""
    return lambda: opened(next(_store_ids))


@pytest.fixture
def apart(server):
    """An empty store in a database of its own."""
    with opening(partial(Database, server.url())) as opened:
        yield opened()
