"""The memory nodes in real graphs with a real checkpointer."""

import asyncio
import json
import logging

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, Overwrite, RetryPolicy, interrupt

from langchain_memengine.conversation.compaction import CompactionLimits
from langchain_memengine.errors import StorageError
from langchain_memengine.faces.nodes import EVENT, MemoryState, flush_node, summarization_node
from langchain_memengine.types import Actor
from tests.fakes.archives import MemoryArchive
from tests.fakes.chat_models import ScriptedChatModel
from tests.fakes.engines import make_engine, texts
from tests.fakes.graphs import chat_graph, config, ids

# A question of 40 characters with one digit or two costs 14 or 15 tokens, its answer 21: three
# turns are within 110 tokens, and one is within 60 % of it, 66.
LIMITS = CompactionLimits(max_tokens=110)


@pytest.fixture
def archive():
    return MemoryArchive()


def question(number: int | str, **fields: object) -> dict[str, object]:
    text = f"Question {number} ".ljust(40, "?")
    return {"messages": [HumanMessage(text, id=f"h{number}", **fields)]}


def pairs(*numbers: int) -> list[str]:
    return [one for number in numbers for one in (f"h{number}", f"a-h{number}")]


def scripted(*replies: object) -> ScriptedChatModel:
    return ScriptedChatModel(replies=list(replies))


def test_long_conversation_keeps_every_message_on_one_side(engine, archive):
    graph = chat_graph(
        summarization_node(engine, scripted("They spoke."), archive=archive, limits=LIMITS)
    )
    lengths = []
    for number in range(24):
        out = graph.invoke(question(number), config())
        assert archive.ids("t") + ids(out["messages"]) == pairs(*range(number + 1))
        lengths.append(len(out["messages"]))
    # The start of the history stays for three turns, then all but the newest turn go at once.
    assert lengths[:9] == [2, 4, 6, 2, 4, 6, 2, 4, 6]
    assert out["summary"] == "\n\n".join(["They spoke."] * 7)
    assert out["memory_head"] in archive.commits
    assert len(archive.commits) == 7


def test_graph_that_only_has_messages_keeps_its_summary_all_the_same(engine, archive):
    graph = chat_graph(
        summarization_node(engine, scripted("They spoke."), archive=archive, limits=LIMITS),
        state=MessagesState,
    )
    for number in range(4):
        graph.invoke(question(number), config())
    assert graph.get_state(config()).values["summary"] == "They spoke."


def test_state_with_another_reducer_is_refused_when_the_graph_is_built(engine, archive):
    class Plain(MemoryState):
        messages: list

    graph = StateGraph(Plain)
    with pytest.raises(ValueError, match="'messages' already exists"):
        graph.add_node("memory", summarization_node(engine, archive=archive))


async def test_async_graph_does_the_same(engine, archive):
    model = scripted("They spoke.")
    graph = chat_graph(summarization_node(engine, model, archive=archive, limits=LIMITS))
    for number in range(4):
        out = await graph.ainvoke(question(number), config())
    assert ids(out["messages"]) == pairs(3)
    assert (out["summary"], archive.ids("t")) == ("They spoke.", pairs(0, 1, 2))


def test_summary_of_ones_own_messages_is_theirs_alone(engine, archive):
    graph = chat_graph(
        summarization_node(engine, scripted("Of kilns."), archive=archive, limits=LIMITS)
    )
    for number in range(4):
        graph.invoke(question(number), config(user_id="anna"))
    assert [commit["owner"] for commit in archive.commits.values()] == ["anna"]
    assert [commit["summary"] for commit in archive.commits.values()] == ["Of kilns."]


def test_summary_of_what_others_said_is_not_the_owners_memory(engine, archive):
    graph = chat_graph(
        summarization_node(engine, scripted("Of kilns."), archive=archive, limits=LIMITS)
    )
    for number in range(4):
        out = graph.invoke(question(number, name="bob"), config(user_id="anna"))
    assert out["summary"] == "Of kilns."
    (commit,) = archive.commits.values()
    assert (commit["owner"], commit["summary"]) == ("anna", "")


@pytest.mark.parametrize("marked", [True, False])
def test_archive_of_a_shared_thread_is_nobodys(engine, archive, marked):
    graph = chat_graph(
        summarization_node(engine, scripted("Of kilns."), archive=archive, limits=LIMITS)
    )
    for number in range(4):
        user = ("anna", "bob")[number % 2]
        asked = question(number, name=user) if marked else question(number)
        graph.invoke(asked, config(user_id=user))
    assert [commit["owner"] for commit in archive.commits.values()] == [""]


def test_each_person_is_handed_over_on_their_own_lines(engine, archive):
    handed = []
    node = summarization_node(
        engine,
        archive=archive,
        limits=LIMITS,
        on_trimmed=lambda person, transcript, commit: handed.append((person, transcript, commit)),
    )
    graph = chat_graph(node)
    for number in range(4):
        fields = {"name": "bob"} if number == 1 else {"additional_kwargs": {"user_id": "anna"}}
        graph.invoke(question(number, **fields), config(user_id="anna"))
    (commit,) = archive.commits
    asked = [str(question(number)["messages"][0].content) for number in range(3)]
    assert handed == [
        ("anna", f"Person: {asked[0]}\n\nPerson: {asked[2]}", commit),
        ("bob", f"Person: {asked[1]}", commit),
    ]


def test_replay_and_fork_store_nothing_twice_and_never_raise(engine, archive):
    model = scripted("They spoke.")
    graph = chat_graph(summarization_node(engine, model, archive=archive, limits=LIMITS))
    for number in range(7):
        graph.invoke(question(number), config())
    history = list(graph.get_state_history(config()))
    before = [one for one in history if one.next == ("memory",)]
    stored = dict(archive.messages), dict(archive.commits)
    head = graph.get_state(config()).values["memory_head"]
    for snapshot in (before[0], before[0], before[1], before[-1]):
        graph.invoke(None, snapshot.config)
    assert (archive.messages, archive.commits) == stored
    graph.invoke(None, before[0].config)
    assert graph.get_state(config()).values["memory_head"] == head

    after_three = next(one for one in history if ids(one.values["messages"]) == pairs(0, 1, 2))
    forked = graph.invoke(question("x"), after_three.config)
    assert ids(forked["messages"]) == ["hx", "a-hx"]
    assert forked["memory_head"] != head
    assert set(pairs(0, 1, 2)) <= set(archive.ids("t"))
    assert forked["summary"] == "They spoke."


def test_edited_and_regenerated_histories_go_on(engine, archive):
    graph = chat_graph(
        summarization_node(engine, scripted("They spoke."), archive=archive, limits=LIMITS)
    )
    for number in range(4):
        graph.invoke(question(number), config())
    graph.update_state(config(), {"messages": [AIMessage("Edited.", id="a-h3")]}, as_node="model")
    for number in range(4, 9):
        out = graph.invoke(question(number), config())
    kept = ids(out["messages"])
    assert archive.ids("t") + kept == pairs(*range(9))
    assert archive.messages["t", "a-h3"].content == "Edited."


def test_retry_after_a_failed_archive_loses_nothing(engine, archive):
    class Flaky(MemoryArchive):
        failures = 1

        def commit(self, *args, **options):
            if self.failures:
                self.failures -= 1
                raise StorageError("the disk was away")
            return archive.commit(*args, **options)

    flaky = Flaky()
    node = summarization_node(engine, scripted("They spoke."), archive=flaky, limits=LIMITS)
    policy = RetryPolicy(retry_on=StorageError, initial_interval=0, jitter=False)
    graph = chat_graph(node, retry_policy=policy)
    for number in range(4):
        out = graph.invoke(question(number), config())
    assert archive.ids("t") + ids(out["messages"]) == pairs(*range(4))


def test_crash_after_the_archive_was_written_is_made_good_by_the_next_run(engine, archive):
    crashes = [False]

    def tell(person: str, transcript: str, commit_id: str) -> None:
        if crashes.pop():
            raise RuntimeError("killed")
        crashes.append(False)

    node = summarization_node(
        engine, scripted("They spoke."), archive=archive, limits=LIMITS, on_trimmed=tell
    )
    graph = chat_graph(node)
    for number in range(3):
        graph.invoke(question(number), config())
    crashes.append(True)
    with pytest.raises(RuntimeError, match="killed"):
        graph.invoke(question(3), config())
    assert ids(graph.get_state(config()).values["messages"]) == pairs(0, 1, 2, 3)
    crashes[:] = [False]
    out = graph.invoke(None, config())
    assert archive.ids("t") + ids(out["messages"]) == pairs(0, 1, 2, 3)
    assert len(archive.commits) == 1


def test_interrupted_turn_is_compacted_once_when_it_resumes(engine, archive):
    def ask(state):
        sure = interrupt("Sure?")
        return {"messages": [AIMessage(str(sure).ljust(70), id=f"a-{state['messages'][-1].id}")]}

    node = summarization_node(engine, scripted("They spoke."), archive=archive, limits=LIMITS)
    graph = chat_graph(node, model=ask)
    for number in range(4):
        graph.invoke(question(number), config())
        out = graph.invoke(Command(resume="yes"), config())
    assert archive.ids("t") + ids(out["messages"]) == pairs(0, 1, 2, 3)


def test_message_of_a_parallel_node_is_kept(engine, archive):
    node = summarization_node(engine, scripted("They spoke."), archive=archive, limits=LIMITS)
    graph = StateGraph(MemoryState).add_node("memory", node)
    graph.add_node("other", lambda state: {"messages": [AIMessage("Meanwhile.", id="m")]})
    graph.add_edge(START, "memory").add_edge(START, "other")
    app = graph.compile(checkpointer=InMemorySaver())
    history = [
        HumanMessage("x" * 500, id="h0"),
        AIMessage("a", id="a0"),
        HumanMessage("b", id="h1"),
    ]
    out = app.invoke({"messages": history}, config())
    assert ids(out["messages"]) == ["h1", "m"]
    assert archive.ids("t") == ["h0", "a0"]


def test_commits_of_parallel_memory_nodes_are_both_heads(engine, archive):
    first = summarization_node(engine, scripted("They spoke."), archive=archive, limits=LIMITS)
    graph = StateGraph(MemoryState).add_node("memory", first)
    graph.add_node("facts", lambda state: {"memory_head": "fact1<"})
    graph.add_edge(START, "memory").add_edge(START, "facts")
    app = graph.compile(checkpointer=InMemorySaver())
    history = [HumanMessage("x" * 500, id="h0"), HumanMessage("b", id="h1")]
    out = app.invoke({"messages": history}, config())
    (commit,) = archive.commits
    assert set(out["memory_head"].split("+")) == {"fact1", commit}


def test_messages_without_ids_get_some_first(engine, archive):
    def overwrite(state):
        return {"messages": Overwrite([HumanMessage("x" * 500), HumanMessage("b")])}

    node = summarization_node(engine, scripted("They spoke."), archive=archive, limits=LIMITS)
    graph = chat_graph(node, model=overwrite)
    out = graph.invoke(question(0), config())
    assert all(ids(out["messages"]))
    assert archive.commits == {}


def test_failing_model_leaves_the_turn_as_it_is_until_the_hard_limit(engine, archive, caplog):
    model = scripted(*[ConnectionError("429 secret")] * 50)
    node = summarization_node(engine, model, archive=archive, limits=LIMITS)
    graph = chat_graph(node)
    notes = []
    with caplog.at_level(logging.INFO):
        for number in range(7):
            out = graph.invoke(question(number), config())
            notes.append(out.get("memory_note", ""))
    # Twice the limit are six turns; after the seventh it does without the model.
    assert notes[:3] == ["", "", ""]
    assert all("Nothing was trimmed this time" in note for note in notes[3:6])
    assert "beyond the hard limit" in notes[6]
    assert ids(out["messages"]) == pairs(6)
    assert out["summary"].startswith("Question 0 ?")
    assert "secret" not in caplog.text
    assert "Question" not in caplog.text


def test_long_part_is_summarised_in_pieces_that_fit_the_model(engine, archive):
    def respond(messages):
        return "Merged." if "Merge" in str(messages[0].content) else "Part."

    model = ScriptedChatModel(replies=respond, profile={"max_input_tokens": 400})
    node = summarization_node(engine, model, archive=archive, limits=LIMITS)
    graph = StateGraph(MemoryState).add_node("memory", node).add_edge(START, "memory").compile()
    history = [HumanMessage("word " * 400, id="h0"), HumanMessage("b", id="h1")]
    out = graph.invoke({"messages": history}, config())
    assert out["summary"] == "Merged."
    # 2,000 characters are 500 tokens, and a piece has half of the window, 200.
    assert [len(call) for call in model.calls] == [2, 2, 2, 2]
    shown = "".join(model.prompts())
    assert shown.count("word") == 400


def test_any_runnable_may_write_the_summary(engine, archive):
    node = summarization_node(
        engine, RunnableLambda(lambda messages: "A text."), archive=archive, limits=LIMITS
    )
    graph = chat_graph(node)
    for number in range(4):
        out = graph.invoke(question(number), config())
    assert out["summary"] == "A text."


def test_interrupt_of_a_graph_that_is_asked_is_no_failure(engine, archive):
    node = summarization_node(engine, RunnableLambda(interrupt), archive=archive, limits=LIMITS)
    graph = chat_graph(node)
    for number in range(4):
        out = graph.invoke(question(number), config())
    assert "__interrupt__" in out
    assert archive.commits == {}


def test_summary_is_not_streamed_as_the_answer(engine, archive):
    node = summarization_node(engine, scripted("They spoke."), archive=archive, limits=LIMITS)
    graph = chat_graph(node)
    for number in range(3):
        graph.invoke(question(number), config())
    streamed = [
        chunk.content for chunk, _ in graph.stream(question(3), config(), stream_mode="messages")
    ]
    assert "They spoke." not in streamed


def test_event_tells_what_happened(engine, archive):
    node = summarization_node(engine, archive=archive, limits=LIMITS)

    async def told(state):
        graph = StateGraph(MemoryState).add_node("memory", node).add_edge(START, "memory").compile()
        found = graph.astream_events(state, config(), version="v2")
        return [one["data"] async for one in found if one["name"] == EVENT]

    history = [HumanMessage("x" * 500, id="h0"), HumanMessage("b", id="h1")]
    assert asyncio.run(told({"messages": history})) == [
        {"archived": 1, "tokens_before": 132, "tokens_after": 4, "note": ""}
    ]
    assert asyncio.run(told(question(0))) == []


def test_messages_stay_and_the_model_reads_less(engine, archive):
    seen = []

    def model(state):
        seen.append(state["llm_input_messages"])
        return {"messages": [AIMessage("answer " * 10, id=f"a-{state['messages'][-1].id}")]}

    node = summarization_node(engine, archive=archive, limits=LIMITS, trim_messages=False)
    graph = chat_graph(node, model=model, before=True)
    for number in range(12):
        out = graph.invoke(question(number), config())
    assert ids(out["messages"]) == pairs(*range(12))
    assert max(map(len, seen)) <= 7
    assert seen[0] == [HumanMessage(str(question(0)["messages"][0].content), id="h0")]
    assert [type(message) for message in seen[-1][:2]] == [SystemMessage, HumanMessage]
    assert archive.ids("t") == list(out["summarized"])
    assert json.loads(json.dumps(out["summarized"])) == out["summarized"]
    # An edited message is no longer covered: the model sees it, and the archive gets it anew.
    graph.update_state(config(), {"messages": [HumanMessage("Edited.", id="h0")]}, as_node="model")
    graph.invoke(question(12), config())
    assert "h0" in ids(seen[-1])


def test_user_of_the_runtime_context_counts(engine, archive):
    node = summarization_node(engine, archive=archive, limits=LIMITS)
    graph = StateGraph(MemoryState, context_schema=dict).add_node("memory", node)
    app = graph.add_edge(START, "memory").compile()
    history = [HumanMessage("Kilns. " * 80, id="h0"), HumanMessage("b", id="h1")]
    app.invoke({"messages": history}, context={"user_id": "anna"})
    assert [commit["owner"] for commit in archive.commits.values()] == ["anna"]


def test_node_runs_without_a_graph(engine, archive):
    node = summarization_node(engine, archive=archive, limits=LIMITS)
    history = [HumanMessage("x" * 500, id="h0"), HumanMessage("b", id="h1")]
    update = node.invoke({"messages": history}, config())
    assert ids(update["messages"]) == ["h0"]
    assert ids(node({"messages": history}, config())["messages"]) == ["h0"]


def loop(steps: int) -> list:
    """Return an agent's loop: a system prompt, a question and calls with results of 100 tokens."""
    messages = [SystemMessage("Be brief.", id="s"), HumanMessage("Find the fault.", id="h")]
    for number in range(steps):
        call = {"name": "look", "args": {}, "id": f"c{number}"}
        messages += [
            AIMessage("I think it is broken.", id=f"a{number}", tool_calls=[call]),
            ToolMessage(
                f"row {number} ".ljust(400, "."), id=f"t{number}", tool_call_id=f"c{number}"
            ),
        ]
    return messages


@pytest.mark.parametrize("model", [None, scripted("- The fault is in row 0.")])
def test_flush_shortens_the_loop_and_writes_the_days_file(tmp_path, archive, model):
    with make_engine(tmp_path) as engine:
        node = flush_node(engine, model, archive=archive, flush_tokens=1000)
        graph = StateGraph(MemoryState).add_node("memory", node).add_edge(START, "memory").compile()
        out = graph.invoke({"messages": loop(10)}, config(user_id="anna"))
        assert ids(out["messages"]) == ["s", "h", "a7", "t7", "a8", "t8", "a9", "t9"]
        assert archive.ids("t") == [one for n in range(7) for one in (f"a{n}", f"t{n}")]
        daily = (tmp_path / "users" / "anna" / "daily" / "2026-05-19.md").read_text()
        assert "## 12:00 — memory flush" in daily
        assert ("The fault is in row 0." if model else "Tool: row 6") in daily
        assert "I think" not in daily
        graph.invoke({"messages": loop(10)}, config(user_id="anna"))
        assert (tmp_path / "users" / "anna" / "daily" / "2026-05-19.md").read_text() == daily
        assert engine.search("row", actor=Actor("bob")).hits == ()
        assert engine.search("row 0", actor=Actor("anna")).hits == ()  # the record is elsewhere


async def test_flush_runs_without_blocking_and_leaves_a_short_loop_alone(engine, archive):
    node = flush_node(engine, archive=archive, flush_tokens=1000)
    graph = StateGraph(MemoryState).add_node("memory", node).add_edge(START, "memory").compile()
    out = await graph.ainvoke({"messages": loop(3)}, config())
    assert ids(out["messages"]) == ids(loop(3))
    out = await graph.ainvoke({"messages": loop(10)}, config())
    assert len(out["messages"]) == 8
    assert out["memory_head"] in archive.commits


def test_flush_of_a_shared_thread_is_in_no_days_file(tmp_path):
    with make_engine(tmp_path) as engine:
        node = flush_node(engine, scripted("- Bob fires the kiln."), flush_tokens=1000)
        graph = StateGraph(MemoryState).add_node("memory", node).add_edge(START, "memory").compile()
        messages = [HumanMessage("Kilns!", id="h0", name="bob"), *loop(10)]
        graph.invoke({"messages": messages, "memory_users": ["bob"]}, config(user_id="anna"))
        assert engine.list_files() == engine.list_files("anna") == engine.list_files("bob") == []
        for actor in (engine.actor, Actor("anna"), Actor("bob")):
            assert engine.search("kiln", actor=actor).hits == ()
            assert "- Bob fires the kiln." in texts(
                engine.search("kiln", actor=actor, thread_id="t")
            )


def test_what_goes_can_be_found_and_had_back_from_the_engines_own_archive(tmp_path):
    with make_engine(tmp_path) as engine:
        node = summarization_node(engine, scripted("They spoke of kilns."), limits=LIMITS)
        graph = chat_graph(node)
        for number in range(8):
            out = graph.invoke(question(number), config(user_id="anna"))
            head = out.get("memory_head")
            trimmed = engine.restore("t", head=head, actor=Actor("anna")) if head else []
            assert ids(trimmed) + ids(out["messages"]) == pairs(*range(number + 1))
        assert texts(engine.search("kilns", actor=Actor("anna"))) == ["They spoke of kilns."] * 2
        assert len(engine.search("question 2", actor=Actor("anna")).hits) > 0
        assert engine.search("kilns question", actor=Actor("bob")).hits == ()
        assert list((tmp_path / "users" / "anna" / "archive").rglob("*.md"))


def test_rewound_thread_forgets_what_the_other_branch_trimmed_until_it_returns():
    with make_engine() as engine:
        node = summarization_node(engine, limits=LIMITS)
        graph = chat_graph(node)
        for number in range(4):
            graph.invoke(question(number), config())
        (one,) = [
            s
            for s in graph.get_state_history(config())
            if ids(s.values["messages"]) == pairs(0) and not s.next
        ]
        trimmed = graph.get_state(config())
        forked = graph.invoke(question("x"), one.config)
        assert forked.get("memory_head", "") == ""
        for name in ("y", "z"):
            forked = graph.invoke(question(name), config())
        assert ids(engine.restore("t", head=forked["memory_head"])) == pairs(0, "x", "y")
        back = graph.invoke(question(4), trimmed.config)
        assert ids(engine.restore("t", head=back["memory_head"])) == pairs(0, 1, 2)
        stored = len(engine.restore("t"))
        snapshots = [s for s in graph.get_state_history(config()) if s.next == ("memory",)]
        for snapshot in snapshots:
            graph.invoke(None, snapshot.config)
        graph.invoke(None, snapshots[0].config)
        assert len(engine.restore("t")) == stored


def test_flush_with_the_engines_own_archive_is_branch_memory(tmp_path):
    with make_engine(tmp_path) as engine:
        node = flush_node(engine, scripted("- The fuse is ceramic."), flush_tokens=1000)
        graph = StateGraph(MemoryState).add_node("memory", node).add_edge(START, "memory").compile()
        out = graph.invoke({"messages": loop(10)}, config(user_id="anna"))
        kept = ids(out["messages"])
        back = ids(engine.restore("t", head=out["memory_head"], actor=Actor("anna")))
        assert sorted(back + kept) == sorted(ids(loop(10)))
        assert "The fuse is ceramic." in engine._notes.read("users/anna/daily/2026-05-19.md")
        assert texts(engine.search("ceramic", actor=Actor("anna"))) == ["- The fuse is ceramic."]
        assert engine.search("ceramic", actor=Actor("bob")).hits == ()


def test_a_flush_that_is_replayed_after_it_was_forgotten_writes_nothing_down(tmp_path):
    with make_engine(tmp_path) as engine:
        node = flush_node(engine, scripted("- The fuse is ceramic."), flush_tokens=1000)
        graph = StateGraph(MemoryState).add_node("memory", node).add_edge(START, "memory").compile()
        for _ in range(2):
            graph.invoke({"messages": loop(10)}, config(user_id="anna"))
            engine.forget(thread="t", actor=Actor("anna"))
            written = [path.read_text() for path in tmp_path.rglob("*.md")]
            assert not any("ceramic" in text or "row 0" in text for text in written)
        graph.invoke({"messages": loop(10)}, config(user_id="anna"))
        written = [path.read_text() for path in tmp_path.rglob("*.md")]
        assert not any("ceramic" in text or "row 0" in text for text in written)


def about(word: str) -> list:
    """Return a conversation of which all but the last question is too long."""
    return [HumanMessage(f"The {word} is hot. " * 30), AIMessage("I see."), HumanMessage("Now?")]


def unnamed_app(*nodes):
    """Return an app that keeps no checkpoints."""
    graph = StateGraph(MemoryState)
    return (
        graph.add_sequence([(f"node{i}", node) for i, node in enumerate(nodes)])
        .add_edge(START, "node0")
        .compile()
    )


def test_conversations_without_a_name_do_not_hide_each_other(tmp_path):
    with make_engine(tmp_path) as engine:
        app = unnamed_app(summarization_node(engine, limits=LIMITS))
        runs = [("kiln", "anna"), ("glaze", "bob"), ("wheel", "anna")]
        for word, user in runs:
            app.invoke({"messages": about(word)}, {"configurable": {"user_id": user}})
        for word, user in runs:
            assert f"The {word} is hot." in texts(engine.search(word, actor=Actor(user)))[0]
        assert engine.search("glaze", actor=Actor("anna")).hits == ()


def test_conversation_without_a_name_that_is_handed_over_whole_is_found_once(tmp_path):
    with make_engine(tmp_path) as engine:
        app = unnamed_app(summarization_node(engine, limits=LIMITS))
        history = about("kiln")
        for number in range(3):
            asked = [(message.type, message.text) for message in history]  # new ids each time
            app.invoke({"messages": asked})
            history += [AIMessage(f"Answer {number}."), HumanMessage(f"And {number}?")]
        whole = [text for text in texts(engine.search("kiln")) if text.count("hot") > 20]
        assert len(whole) == 1


def test_state_of_a_conversation_without_a_name_can_be_handed_back(tmp_path):
    with make_engine(tmp_path) as engine:
        app = unnamed_app(summarization_node(engine, limits=LIMITS))
        out = app.invoke({"messages": about("kiln")})
        more = [AIMessage("Yes."), *about("wheel")]
        for given in ({}, {"memory_thread": ""}):  # an application may drop what it does not know
            new = app.invoke({**out, **given, "messages": [*out["messages"], *more]})
            assert "+" not in new["memory_head"]
        first = app.invoke({**out, "messages": [*out["messages"], *more]})
        kept = engine.restore(first["memory_thread"], head=first["memory_head"])
        assert [message.text[:12] for message in kept] == [
            "The kiln is ", "I see.", "Now?", "Yes.", "The wheel is", "I see.",
        ]  # fmt: skip


def test_a_run_without_a_name_that_flushes_twice_keeps_both(tmp_path):
    later = [
        message.model_copy(
            update={"id": f"{message.id}+", "content": message.text.replace("row", "line")}
        )
        for message in loop(10)[2:]
    ]
    with make_engine(tmp_path) as engine:
        flush = flush_node(engine, flush_tokens=1000)
        app = unnamed_app(flush, lambda state: {"messages": later}, flush)
        out = app.invoke({"messages": loop(10)})
        gone = ids(engine.restore(out["memory_thread"], head=out["memory_head"]))
        assert sorted(gone + ids(out["messages"])) == sorted(ids([*loop(10), *later]))
        found = {text[:11] for text in texts(engine.search("row", k=50))}
        assert {"Tool: row 0", "Tool: row 7"} <= found  # what each of them wrote down
