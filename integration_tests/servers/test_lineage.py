"""Memory on a database server follows the checkpoints of LangGraph."""

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from tests.engine.contract_lineage import Chat, LineageContract


class TestLineage(LineageContract):
    @pytest.fixture
    def chat(self, url, store_id):
        chat = Chat(InMemorySaver(), database_url=url, graph_url=url, store_id=store_id)
        yield chat
        chat.engine.close()
