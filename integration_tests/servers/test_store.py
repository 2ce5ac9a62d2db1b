"""LangGraph's store on a database server."""

import pytest
from langgraph.store.base import PutOp

from langchain_memengine.faces.store import MemEngineStore
from tests.faces.store_contract import StoreContract
from tests.fakes.clock import FixedClock
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine


@pytest.fixture(scope="module")
def clock():
    return FixedClock()


@pytest.fixture(scope="module")
def engine(url, clock):
    """An engine for all tests here: what each of them stored is removed after it."""
    with make_engine(embeddings=FakeEmbeddings(256), database_url=url, clock=clock) as engine:
        yield engine


class TestStore(StoreContract):
    @pytest.fixture(autouse=True)
    def _remember_clock(self, clock):
        self.clock = clock

    @pytest.fixture
    def made(self, engine):
        yield lambda fields: MemEngineStore(engine, fields=fields)
        store = MemEngineStore(engine)
        found = store.search((), limit=1000)
        store.batch([PutOp(item.namespace, item.key, None) for item in found])

    def wait(self):
        self.clock.pass_days(1)
