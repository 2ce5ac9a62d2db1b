"""The storage contracts on a store whose records, revisions and messages are in ClickHouse."""

import pytest

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.dialects import is_transactional
from langchain_memengine.storage.graph_schema import GRAPH
from tests.storage.contract import NOW
from tests.storage.contracts import CONTRACTS, held_to

NEEDS_TRANSACTIONS = {"GraphContract"}
"""A graph is in one database, which must have them."""

globals().update(held_to(sorted(CONTRACTS.keys() - NEEDS_TRANSACTIONS)))


@pytest.fixture
def histories():
    return 8


def test_what_needs_transactions_is_refused(clickhouse):
    assert not is_transactional(clickhouse.url)
    with pytest.raises(ConfigurationError, match="graph_url"):
        Database(clickhouse.url, store_id="a", now=NOW, busy_timeout_ms=0, schema=GRAPH)
