"""The storage contracts on SQLite, in a file and in memory."""

from functools import partial

import pytest

from langchain_memengine.storage.database import Database
from langchain_memengine.storage.graph_schema import GRAPH
from tests.storage.contract import NOW
from tests.storage.contracts import CONTRACTS, held_to, opening

IN_MEMORY = "sqlite://"

globals().update(held_to(CONTRACTS))


@pytest.fixture
def file(tmp_path):
    return f"sqlite:///{tmp_path}/store.sqlite"


@pytest.fixture(params=["file", "memory"])
def address(request, file):
    return file if request.param == "file" else IN_MEMORY


@pytest.fixture
def database(address):
    with opening(partial(Database, address)) as opened:
        yield opened()


@pytest.fixture
def graph_database(address):
    with opening(partial(Database, address, schema=GRAPH)) as opened:
        yield opened()


@pytest.fixture
def apart(database):
    return database


@pytest.fixture
def opened(file):
    with opening(partial(Database, file)) as opened:
        yield opened


@pytest.fixture
def fresh():
    return partial(Database, IN_MEMORY, store_id="a", now=NOW, busy_timeout_ms=0)


@pytest.fixture
def histories():
    return 40
