"""The tools about experiences, as an agent calls them."""

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from pydantic import ValidationError

from langchain_memengine.errors import ScopeError
from langchain_memengine.faces.experience_tools import experience_tools
from tests.fakes.engines import make_engine


@pytest.fixture
def tools(engine):
    return {tool.name: tool for tool in experience_tools(engine)}


def call(name, **args):
    return {"type": "tool_call", "name": name, "args": args, "id": "1"}


def as_user(user_id, **more):
    return {"configurable": {"user_id": user_id, **more}}


def test_what_one_run_records_the_next_finds(engine, tools):
    recorded = tools["experience_record"].invoke(
        call(
            "experience_record",
            intent="brew tea, password=hunter22",
            solution="boil, then pour; token=abcdef12",
            success=0.75,
            tags=["kitchen"],
        )
    )
    assert isinstance(recorded, ToolMessage)
    assert recorded.artifact["id"] in recorded.content
    assert recorded.artifact["intent"] == "brew tea, password=[redacted]"
    assert recorded.artifact["solution"] == "boil, then pour; token=[redacted]"
    found = tools["experience_search"].invoke(call("experience_search", query="tea"))
    assert found.content == engine.experiences.prompt(engine.experiences.latest())
    assert found.artifact[0]["id"] == recorded.artifact["id"]
    assert "boil, then pour" in found.content
    (used,) = engine.experiences.latest()
    assert used.use_count == 1
    assert (used.user, used.success_score, used.tags) == ("local", 0.75, ("kitchen",))


def test_nothing_found_is_said(tools):
    found = tools["experience_search"].invoke(call("experience_search", query="tea"))
    assert (found.content, found.artifact) == ("Nothing like this was done before.", [])


async def test_awaited_tools_do_the_same(tools):
    await tools["experience_record"].ainvoke(
        call("experience_record", intent="brew tea", solution="boil")
    )
    found = await tools["experience_search"].ainvoke(
        call("experience_search", query="tea", tags=["x"], limit=1)
    )
    assert [one["solution"] for one in found.artifact] == ["boil"]


def test_the_user_of_the_run_is_who_learns_and_finds(engine, tools):
    record = call("experience_record", intent="brew tea", solution="boil", kind="error_recovery")
    tools["experience_record"].invoke(record, as_user("ann"))
    search = call("experience_search", query="tea")
    assert len(tools["experience_search"].invoke(search, as_user("ann")).artifact) == 1
    assert tools["experience_search"].invoke(search, as_user("bob")).artifact == []
    assert tools["experience_search"].invoke(search).artifact == []
    assert engine.experiences.latest(user="ann")[0].kind == "error_recovery"


def test_a_user_without_a_name_is_not_everyone(tools):
    with pytest.raises(ScopeError, match="user_id"):
        tools["experience_record"].invoke(
            call("experience_record", intent="x", solution="y"), as_user("")
        )


def test_the_fence_is_that_of_the_thread(engine, tools):
    learnt = engine.experiences.record("brew tea", "boil", user="ann")
    found = tools["experience_search"].invoke(
        call("experience_search", query="tea"), as_user("ann", thread_id=7)
    )
    assert found.content == engine.experiences.prompt([learnt], thread_id="7")


def test_a_model_cannot_name_a_user_or_ask_for_everything(tools):
    schemas = [convert_to_openai_tool(tool)["function"] for tool in tools.values()]
    assert [sorted(schema["parameters"]["properties"]) for schema in schemas] == [
        ["limit", "query", "tags"],
        ["intent", "kind", "solution", "success", "tags"],
    ]
    assert sum(len(str(schema)) for schema in schemas) < 1500
    with pytest.raises(ValidationError):
        tools["experience_search"].invoke(call("experience_search", query="x", limit=1000))


def test_a_read_only_engine_finds_without_counting(tmp_path):
    with make_engine(tmp_path) as engine:
        engine.experiences.record("brew tea", "boil")
    with make_engine(tmp_path, read_only=True) as engine:
        search, _ = experience_tools(engine)
        assert len(search.invoke(call("experience_search", query="tea")).artifact) == 1


def test_a_checkpointer_brings_back_what_was_found(engine, tools):
    recorded = tools["experience_record"].invoke(
        call("experience_record", intent="brew tea", solution="boil", tags=["kitchen"])
    )
    found = tools["experience_search"].invoke(call("experience_search", query="tea"))
    # What LANGGRAPH_STRICT_MSGPACK=true sets: types that LangGraph does not know are not revived.
    strict = JsonPlusSerializer(allowed_msgpack_modules=None)
    for message in (recorded, found):
        assert strict.loads_typed(strict.dumps_typed(message)) == message
