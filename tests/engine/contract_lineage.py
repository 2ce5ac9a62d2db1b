"""Memory follows LangGraph's checkpoints, whatever is done to them, and whatever keeps them.

A test module inherits ``LineageContract`` under a name that starts with ``Test`` and gives it the
fixture ``chat``: a :class:`Chat` whose graph has that checkpointer.
"""

import operator
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import START as BEGIN
from langgraph.graph import MessagesState, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command, RetryPolicy, interrupt

from langchain_memengine.conversation.lineage import join_heads
from langchain_memengine.storage import kept
from langchain_memengine.storage.conversation_schema import archived_messages, messages
from langchain_memengine.storage.schema import chunks, commits
from tests.fakes.clock import START
from tests.fakes.engines import make_engine, texts

CONFIG = {"configurable": {"thread_id": "t"}}


class State(MessagesState):
    memory_head: Annotated[str, join_heads]
    knows: Annotated[list[str], operator.add]


class Chat:
    """A graph whose turn learns a fact and archives the message, at the same time, then answers.

    The next entry of ``faults`` happens after the fact was committed: an exception, or ``ask`` for
    a person.
    """

    def __init__(self, saver: BaseCheckpointSaver, *, is_async: bool = False, **settings: Any):
        self.engine = make_engine(**settings)
        self.faults = []
        self.is_async = is_async
        self.graph = (
            StateGraph(State)
            .add_node(
                "learn", self.learn, retry_policy=RetryPolicy(initial_interval=0, jitter=False)
            )
            .add_node("archive", self.archive)
            .add_node("answer", self.answer)
            .add_edge(BEGIN, "learn")
            .add_edge(BEGIN, "archive")
            .add_edge(["learn", "archive"], "answer")
            .compile(checkpointer=saver)
        )

    def learn(self, state: State, runtime: Runtime) -> dict:
        step, last = runtime.execution_info, state["messages"][-1]
        update = self.engine.commit(
            step.thread_id, state["memory_head"], "fact", [f"known fact {last.content}"],
            learnt_from=[last], checkpoint_id=step.checkpoint_id,
        )  # fmt: skip
        fault = self.faults.pop(0) if self.faults else None
        if isinstance(fault, Exception):
            raise fault
        if fault == "ask":
            interrupt("go on?")
        return {"memory_head": update}

    def archive(self, state: State, runtime: Runtime) -> dict:
        step, last = runtime.execution_info, state["messages"][-1]
        said = HumanMessage(f"known word {last.content}", id=last.id)
        update = self.engine.archive.commit(
            step.thread_id, state["memory_head"], "archive", [said],
            now=START, checkpoint_id=step.checkpoint_id,
        )  # fmt: skip
        return {"memory_head": update}

    def answer(self, state: State, runtime: Runtime) -> dict:
        seen = self.seen(state["memory_head"])
        return {"messages": [AIMessage("ok")], "knows": [" ".join(seen)]}

    def seen(self, head=None):
        """Return the turns that are remembered, each once if both nodes stored it."""
        found = texts(self.engine.search("known", 100, thread_id="t", head=head))
        words = sorted(text.removeprefix("known ") for text in found)
        turns = sorted({word.split()[-1] for word in words})
        assert words == [f"{kind} {turn}" for kind in ("fact", "word") for turn in turns]
        return turns

    async def say(self, text, config=CONFIG):
        """Run a turn; return what it knew when it answered, and the checkpoint after it."""
        return await self.run({"messages": [("user", text)]}, config)

    async def run(self, given, config=CONFIG):
        if self.is_async:
            await self.graph.ainvoke(given, config)
            state = await self.graph.aget_state(CONFIG)
        else:
            self.graph.invoke(given, config)
            state = self.graph.get_state(CONFIG)
        return (state.values["knows"] or [""])[-1], state

    async def states(self):
        if self.is_async:
            return [state async for state in self.graph.aget_state_history(CONFIG)]
        return list(self.graph.get_state_history(CONFIG))

    async def edit(self, config, values, as_node=None):
        if self.is_async:
            return await self.graph.aupdate_state(config, values, as_node)
        return self.graph.update_state(config, values, as_node)

    def rows(self):
        with self.engine._database.read() as tx:
            return [
                kept.count(tx, table) for table in (chunks, commits, messages, archived_messages)
            ]


class LineageContract:
    async def test_straight_on_everything_is_known(self, chat):
        assert [(await chat.say(text))[0] for text in "ABC"] == ["A", "A B", "A B C"]
        assert chat.seen() == ["A", "B", "C"]
        assert chat.rows() == [6, 6, 3, 3]

    async def test_a_fork_hides_what_the_other_branch_learnt_and_going_back_shows_it_again(
        self, chat
    ):
        _, after_a = await chat.say("A")
        await chat.say("B")
        _, after_c = await chat.say("C")
        assert (await chat.say("D", after_a.config))[0] == "A D"
        assert chat.seen() == ["A", "D"]
        assert (await chat.say("E", after_c.config))[0] == "A B C E"
        assert chat.seen() == ["A", "B", "C", "E"]
        assert chat.seen(after_a.values["memory_head"]) == ["A"]
        assert [m.id for m in chat.engine.restore("t", head=after_a.values["memory_head"])] == [
            after_a.values["messages"][0].id
        ]

    async def test_parallel_commits_are_both_heads(self, chat):
        _, state = await chat.say("A")
        assert len(state.values["memory_head"].split("+")) == 2
        _, state = await chat.say("B")
        assert len(state.values["memory_head"].split("+")) == 2

    async def test_a_replay_adds_no_rows(self, chat):
        for text in "AB":
            await chat.say(text)
        before = chat.rows()
        replayed = [s for s in await chat.states() if s.next and s.next != (BEGIN,)]
        assert len(replayed) == 4  # before the two nodes and before the answer, of two turns
        for state in replayed:  # the newest first: the last replay is of the first turn
            await chat.run(None, state.config)
        assert chat.rows() == before
        assert chat.seen() == ["A"]
        await chat.run(None, replayed[1].config)
        assert chat.rows() == before
        assert chat.seen() == ["A", "B"]

    async def test_a_retry_adds_no_rows(self, chat):
        chat.faults = [ConnectionError("once"), ConnectionError("twice")]
        assert (await chat.say("A"))[0] == "A"
        assert chat.rows() == [2, 2, 1, 1]
        assert chat.faults == []

    async def test_a_crash_and_going_on_adds_no_rows(self, chat):
        await chat.say("A")
        chat.faults = [ValueError("crash")]
        with pytest.raises(ValueError, match="crash"):
            await chat.say("B")
        assert chat.seen() == ["A", "B"]
        assert (await chat.run(None))[0] == "A B"
        assert chat.rows() == [4, 4, 2, 2]

    async def test_an_interrupt_runs_the_node_again_and_adds_no_rows(self, chat):
        await chat.say("A")
        chat.faults = ["ask", "ask"]
        assert (await chat.say("B"))[0] == "A"  # not answered yet
        assert (await chat.run(Command(resume="yes")))[0] == "A B"
        assert chat.rows() == [4, 4, 2, 2]

    async def test_an_edited_message_is_learnt_from_and_archived_on_a_branch_of_its_own(self, chat):
        await chat.say("A")
        _, after_b = await chat.say("B")
        before_b = next(
            s for s in await chat.states() if "learn" in s.next and len(s.values["messages"]) == 3
        )
        edited = HumanMessage("C", id=before_b.values["messages"][-1].id)
        config = await chat.edit(before_b.config, {"messages": [edited]}, as_node=BEGIN)
        assert (await chat.run(None, config))[0] == "A C"
        assert chat.seen() == ["A", "C"]
        assert chat.seen(after_b.values["memory_head"]) == ["A", "B"]

    async def test_state_that_is_updated_keeps_its_memory(self, chat):
        await chat.say("A")
        _, after_b = await chat.say("B")
        note = {"messages": [AIMessage("a person's note")]}
        config = await chat.edit(after_b.config, note)
        assert (await chat.say("C", config))[0] == "A B C"
        old = next(s for s in await chat.states() if not s.next and len(s.values["messages"]) == 2)
        config = await chat.edit(old.config, note)
        assert (await chat.say("D", config))[0] == "A D"
        assert chat.seen() == ["A", "D"]

    async def test_as_of_the_head_of_any_checkpoint(self, chat):
        for text in "ABC":
            await chat.say(text)
        for state in await chat.states():
            head = state.values.get("memory_head")
            if head:
                asked = texts(chat.engine.search("known", 100, thread_id="t", as_of=head))
                inside = texts(chat.engine.search("known", 100, thread_id="t", head=head))
                assert sorted(asked) == sorted(inside)
