"""What others build on a LangGraph store works on ours as it is: agents and langmem's tools."""

import json

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool

from langchain_memengine.faces.store import MemEngineStore
from tests.fakes.chat_models import ScriptedChatModel
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine

agents = pytest.importorskip("langchain.agents", reason="the extra `agents` is not installed")


@pytest.fixture
def store():
    with make_engine(embeddings=FakeEmbeddings()) as engine:
        yield MemEngineStore(engine)


def calling(name, **arguments):
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": "call"}])


def results(state):
    return [m.text for m in state["messages"] if isinstance(m, ToolMessage)]


def test_a_tool_of_an_agent_reaches_the_store(store):
    from langchain.tools import ToolRuntime

    @tool
    def note(text: str, runtime: ToolRuntime) -> str:
        """Note a text."""
        runtime.store.put(("notes", runtime.config["configurable"]["user_id"]), "1", {"text": text})
        return runtime.store.search(("notes",), query=text)[0].value["text"]

    model = ScriptedChatModel(replies=[calling("note", text="Ann likes tea"), "Noted."])
    agent = agents.create_agent(model, [note], store=store)
    state = agent.invoke({"messages": [("user", "note it")]}, {"configurable": {"user_id": "ann"}})
    assert results(state) == ["Ann likes tea"]
    assert store.get(("notes", "ann"), "1").value == {"text": "Ann likes tea"}


async def test_an_agent_remembers_with_langmem_s_tools(store, langmem):
    tools = [
        langmem.create_manage_memory_tool(("memories", "{user_id}")),
        langmem.create_search_memory_tool(("memories", "{user_id}")),
    ]
    config = {"configurable": {"user_id": "ann"}}

    def agent(*replies):
        model = ScriptedChatModel(replies=[*replies, "Done."])
        return agents.create_agent(model, tools, store=store)

    saving = agent(calling("manage_memory", content="Ann likes tea.", action="create"))
    saving.invoke({"messages": [("user", "I like tea")]}, config)
    (item,) = store.search(("memories", "ann"))
    assert item.value == {"content": "Ann likes tea."}

    def searching():
        return agent(calling("search_memory", query="tea"))

    for state in (
        searching().invoke({"messages": [("user", "what do I like?")]}, config),
        await searching().ainvoke({"messages": [("user", "what do I like?")]}, config),
    ):
        (found,) = json.loads(results(state)[0])
        assert found["value"] == {"content": "Ann likes tea."}
        assert found["namespace"] == ["memories", "ann"]
    others = searching().invoke({"messages": [("user", "x")]}, {"configurable": {"user_id": "bob"}})
    assert [json.loads(text) for text in results(others)] == [[]]

    changing = agent(
        calling("manage_memory", content="Ann likes coffee.", action="update", id=item.key)
    )
    await changing.ainvoke({"messages": [("user", "coffee now")]}, config)
    assert store.search(("memories", "ann"), query="coffee")[0].value == {
        "content": "Ann likes coffee."
    }
    agent(calling("manage_memory", action="delete", id=item.key)).invoke(
        {"messages": [("user", "forget it")]}, config
    )
    assert store.search(("memories", "ann")) == []


def test_langmem_s_store_manager_finds_and_puts_memories(store, langmem):
    model = ScriptedChatModel(replies=[{"content": "Ann likes tea."}, "Done."])
    manager = langmem.create_memory_store_manager(
        model, namespace=("memories", "{user_id}"), store=store
    )
    config = {"configurable": {"user_id": "ann"}}
    manager.put("k", {"kind": "Memory", "content": {"content": "Ann likes coffee."}}, config=config)
    assert manager.search(query="coffee", config=config)[0].key == "k"
    assert store.get(("memories", "ann"), "k") is not None
