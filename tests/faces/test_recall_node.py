"""Recall before the model: once a turn, for whom, in time, and at no cost when it fails."""

import threading

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph

from langchain_memengine.conversation.compaction import CompactionLimits
from langchain_memengine.errors import ConfigurationError, StorageError
from langchain_memengine.faces.nodes import summarization_node
from langchain_memengine.faces.recall_node import RecallState, recall_node
from langchain_memengine.retrieval.recall import Recalled
from langchain_memengine.types import Actor
from tests.fakes.engines import make_engine
from tests.fakes.graphs import config


def counted(engine, monkeypatch):
    asked = []
    recall = engine.recall

    def counting(query, *args, **options):
        asked.append((query, options["actor"], options["thread_id"], options["head"]))
        return recall(query, *args, **options)

    monkeypatch.setattr(engine, "recall", counting)
    return asked


def app_of(node, rounds=1):
    """Return recall → model, ``rounds`` times in a turn, as a loop of tools does."""

    def model(state):
        calls = sum(isinstance(message, ToolMessage) for message in state["messages"])
        if calls + 1 < rounds:
            call = {"name": "x", "args": {}, "id": str(calls)}
            return {
                "messages": [
                    AIMessage("", tool_calls=[call]),
                    ToolMessage("done", tool_call_id=str(calls)),
                ]
            }
        return {"messages": [AIMessage("answer")]}

    graph = StateGraph(RecallState).add_node("recall", node).add_node("model", model)
    graph.add_edge(START, "recall").add_edge("recall", "model")
    graph.add_conditional_edges(
        "model", lambda s: "recall" if s["messages"][-1].type == "tool" else "__end__"
    )
    return graph.compile(checkpointer=InMemorySaver())


def said(text, number=1):
    return {"messages": [HumanMessage(text, id=str(number))]}


def test_what_is_recalled_is_in_the_state_fenced_and_not_in_the_messages(engine):
    engine.add_texts(["Deploys happen on Tuesdays."])
    state = app_of(recall_node(engine)).invoke(said("when are deploys?"), config())
    assert "Deploys happen on Tuesdays." in state["recalled"]
    assert state["recalled"].startswith("## Memory")
    assert all("Tuesdays" not in message.text for message in state["messages"])
    assert "recall_note" not in state


def test_it_recalls_once_a_turn_and_again_in_the_next(engine, monkeypatch):
    asked = counted(engine, monkeypatch)
    app = app_of(recall_node(engine), rounds=3)
    app.invoke(said("one"), config())
    assert len(asked) == 1
    app.invoke(said("two", 2), config())
    app.invoke(said("two, edited", 2), config())
    assert [query for query, *_ in asked] == ["one", "two", "two, edited"]


def test_another_user_of_the_thread_is_told_their_own(engine):
    engine.add_texts(["Ann likes tea."], scope="personal", actor=Actor("ann"))
    app = app_of(recall_node(engine))
    assert "Ann" in app.invoke(said("tea"), config(user_id="ann"))["recalled"]
    assert app.invoke(said("tea"), config(user_id="bob"))["recalled"] == ""


def test_thread_and_branch_are_passed_on(engine, monkeypatch):
    asked = counted(engine, monkeypatch)
    head = engine.commit("t", "", "fact", ["tea at four"]).lstrip("+")
    node = recall_node(engine)
    app_of(node).invoke({**said("tea"), "memory_head": head}, config("t", user_id="u"))
    ((_, actor, thread_id, passed),) = asked
    assert (actor.user_id, thread_id) == ("u", "t")
    assert passed
    graph = StateGraph(RecallState).add_node("recall", node).add_edge(START, "recall")
    graph.compile().invoke(said("tea"), config("t"))  # no checkpoints, and so no branches
    assert asked[-1][2:] == ("t", None)
    node.invoke(said("tea"))  # outside of a graph there is neither
    assert asked[-1][2:] == (None, None)


def test_numbers_of_memories_are_kept(engine):
    engine.add_texts([f"tea number{i}" for i in range(9)])
    few = app_of(recall_node(engine, k=2)).invoke(said("tea"), config())["recalled"]
    assert few.count("<memory ") == 2
    none = app_of(recall_node(engine, max_tokens=1)).invoke(said("tea"), config())["recalled"]
    assert none == ""


@pytest.mark.parametrize("error", [StorageError("The disk is gone."), RuntimeError("secret text")])
async def test_a_memory_that_fails_costs_the_turn_nothing(engine, monkeypatch, error, caplog):
    engine.add_texts(["tea"])
    app = app_of(recall_node(engine))
    app.invoke(said("tea"), config())

    def broken(*args, **options):
        raise error

    monkeypatch.setattr(engine, "recall", broken)
    for state in (
        app.invoke(said("tea again", 2), config()),
        await app.ainvoke(said("and again", 3), config()),
    ):
        assert state["messages"][-1].text == "answer"
        assert state["recalled"] == ""  # not what an earlier turn was told
        reason = "The disk is gone." if isinstance(error, StorageError) else "RuntimeError."
        assert state["recall_note"] == f"Nothing was recalled: {reason}"
    assert "secret text" not in caplog.text


async def test_a_memory_that_is_poorer_than_it_could_be_says_so(engine, monkeypatch):
    poor = Recalled("", (), ("vector: The embedder is down.",))
    monkeypatch.setattr(engine, "recall", lambda *args, **options: poor)
    app = app_of(recall_node(engine))
    for state in (app.invoke(said("tea"), config()), await app.ainvoke(said("tea", 2), config())):
        assert state["recall_note"] == "vector: The embedder is down."


async def test_a_memory_that_is_slow_is_not_waited_for(engine, monkeypatch):
    release = threading.Event()
    monkeypatch.setattr(engine, "recall", lambda *args, **options: release.wait(60))
    app = app_of(recall_node(engine, seconds=0.01))
    try:
        for state in (
            app.invoke(said("tea"), config()),
            await app.ainvoke(said("tea", 2), config()),
        ):
            assert state["recalled"] == ""
            assert "longer than 0.01 s" in state["recall_note"]
    finally:
        release.set()


async def test_it_does_the_same_without_blocking(engine):
    engine.add_texts(["tea at four"])
    node = recall_node(engine)
    assert await node.ainvoke(said("tea")) == node.invoke(said("tea"))
    update = node.invoke(said("tea"))
    assert await node.ainvoke({**said("tea"), **update}) == {}
    assert node.invoke({**said("tea"), **update}) == node.invoke({**said("tea"), **update}) == {}


def test_a_conversation_without_a_question_recalls_what_is_pinned(tmp_path):
    with make_engine(tmp_path) as engine:
        (tmp_path / "MEMORY.md").write_text("Be brief.", encoding="utf-8")
        assert "Be brief." in recall_node(engine).invoke({"messages": []})["recalled"]


@pytest.mark.parametrize("given", [{"seconds": -1}, {"k": -3}, {"k": "6"}, {"max_tokens": -1}])
def test_numbers_that_cannot_work_are_refused_when_the_node_is_made(engine, given):
    ((name, value),) = given.items()
    with pytest.raises(ConfigurationError, match=f"{name}={value!r}|{value} seconds"):
        recall_node(engine, **given)


def test_what_a_recall_lacked_outlasts_the_compaction_and_not_the_next_recall(engine, monkeypatch):
    graph = StateGraph(RecallState).add_node("recall", recall_node(engine))
    graph.add_node("model", lambda state: {"messages": [AIMessage("answer")]})
    graph.add_node("summarize", summarization_node(engine))
    graph.add_edge(START, "recall").add_edge("recall", "model").add_edge("model", "summarize")
    app = graph.compile(checkpointer=InMemorySaver())
    with monkeypatch.context() as patch:
        poor = Recalled("", (), ("vector: The embedder is down.",))
        patch.setattr(engine, "recall", lambda *args, **options: poor)
        state = app.invoke(said("tea"), config())
    assert state["recall_note"] == "vector: The embedder is down."
    assert app.invoke(said("tea", 2), config())["recall_note"] == ""


def test_a_recall_and_a_compaction_that_both_lack_something_may_run_side_by_side(
    engine, monkeypatch
):
    poor = Recalled("", (), ("vector: The embedder is down.",))
    monkeypatch.setattr(engine, "recall", lambda *args, **options: poor)
    limits = CompactionLimits(max_tokens=1)
    graph = StateGraph(RecallState).add_node("recall", recall_node(engine))
    graph.add_node("summarize", summarization_node(engine, limits=limits))
    graph.add_edge(START, "recall").add_edge(START, "summarize")
    state = graph.compile(checkpointer=InMemorySaver()).invoke(said("tea"), config())
    assert state["recall_note"] == "vector: The embedder is down."
    assert "exceeds the limit" in state["memory_note"]
