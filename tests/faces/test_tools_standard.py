"""LangChain's standard tests of tools, for every tool there is."""

import json

import pytest
from langchain_tests.integration_tests import ToolsIntegrationTests
from langchain_tests.unit_tests import ToolsUnitTests

from langchain_memengine import experience_tools, graph_tools, memory_tools
from tests.doc_pages import read
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine

EXAMPLES = {
    "memory_search": {"query": "tea", "k": 3},
    "memory_save": {"text": "Ann likes tea."},
    "memory_forget": {"id": "0123456789abcdef"},
    "memory_consolidate": {"dry_run": True},
    "experience_search": {"query": "brew tea"},
    "experience_record": {"intent": "brew tea", "solution": "Boil water."},
    "graph_neighbours": {"entity": "Anna", "hops": 2},
}


@pytest.fixture
def tools():
    with make_engine(embeddings=FakeEmbeddings()) as engine:
        engine.graph.add_triples([("Anna", "drinks", "tea")])
        made = [*memory_tools(engine, admin=True), *experience_tools(engine), *graph_tools(engine)]
        yield {tool.name: tool for tool in made}


def test_each_is_tested_and_listed_in_one_place_with_its_arguments(tools):
    assert list(tools) == list(EXAMPLES)
    listed = dict(
        line.removeprefix("| `").split("(", 1)
        for line in read("docs/interfaces.md").splitlines()
        if line.startswith(("| `memory_", "| `experience_", "| `graph_"))
    )
    assert list(listed) == list(tools)
    for name, tool in tools.items():
        arguments = listed[name].split(")")[0].split(", ")
        assert arguments == list(tool.args)


def test_schemas_are_short_and_name_no_user(tools):
    for tool in tools.values():
        schema = json.dumps(tool.tool_call_schema.model_json_schema())
        assert len(schema) < 800
        assert "user_id" not in schema
        assert "config" not in schema


@pytest.mark.parametrize("name", EXAMPLES, scope="class")
class Suite:
    @pytest.fixture(autouse=True)
    def _one(self, tools, name):
        self._tool, self._example = tools[name], EXAMPLES[name]

    @property
    def tool_constructor(self):
        return self._tool

    @property
    def tool_invoke_params_example(self):
        return self._example


class TestUnit(Suite, ToolsUnitTests):
    pass


class TestIntegration(Suite, ToolsIntegrationTests):
    pass
