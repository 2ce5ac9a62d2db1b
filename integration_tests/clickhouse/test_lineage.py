"""Memory beside ClickHouse follows the checkpoints of LangGraph."""

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from tests.engine.contract_lineage import Chat, LineageContract


class TestLineage(LineageContract):
    @pytest.fixture
    def chat(self, settings):
        chat = Chat(InMemorySaver(), **settings)
        yield chat
        chat.engine.close()
