"""A graph beside the state in one database."""

from langchain_memengine.storage import chunks, graph
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.graph_schema import GRAPH
from langchain_memengine.storage.graph_values import GraphCounts
from tests.storage.contract import NOW


def test_state_and_graph_share_a_database(tmp_path):
    settings = {"store_id": "a", "now": NOW, "busy_timeout_ms": 0}
    url = f"sqlite:///{tmp_path}/both.sqlite"
    for read_only in (False, True):
        state = Database(url, read_only=read_only, **settings)
        kg = Database(url, read_only=read_only, schema=GRAPH, **settings)
        with state.read() as tx, kg.read() as graph_tx:
            assert chunks.count(tx) == 0
            assert graph.counts(graph_tx) == GraphCounts(0, 0, 0)
        state.close()
        kg.close()
