"""Inputs that break summarizers elsewhere, from public reports, by their number in our list."""

from datetime import UTC, datetime

import pytest
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph.message import add_messages

from langchain_memengine.conversation.compaction import CompactionLimits, plan_compaction
from langchain_memengine.conversation.context import compact_messages
from langchain_memengine.conversation.lineage import join_heads
from langchain_memengine.conversation.summaries import with_previous_context
from langchain_memengine.conversation.summarization import Summarizer
from langchain_memengine.conversation.thread import Thread
from langchain_memengine.conversation.transcript import MESSAGE_TOKENS, tokens_of
from langchain_memengine.faces.nodes import summarization_node
from langchain_memengine.models.asking import answered
from tests.fakes.archives import MemoryArchive
from tests.fakes.chat_models import ScriptedChatModel
from tests.fakes.engines import make_engine
from tests.fakes.graphs import chat_graph, config, ids

THOUSAND = CompactionLimits(max_tokens=1000)


def human(one: str, text: str = "Go on.") -> HumanMessage:
    return HumanMessage(text, id=one)


def calls(one: str, *call_ids: str) -> AIMessage:
    return AIMessage(
        "", id=one, tool_calls=[{"name": "look", "args": {}, "id": c} for c in call_ids]
    )


def result(one: str, call_id: str, chars: int = 8) -> ToolMessage:
    return ToolMessage("r" * chars, id=one, tool_call_id=call_id)


def step(
    messages: list[BaseMessage],
    model: ScriptedChatModel | None,
    limits: CompactionLimits = THOUSAND,
    piece_tokens: int = 8000,
    **state: object,
) -> tuple[dict[str, object], MemoryArchive]:
    archive = MemoryArchive()
    node = Summarizer(
        archive,
        limits,
        piece_tokens=piece_tokens if model else 0,
        trims=True,
        on_trimmed=None,
    )
    now = datetime(2026, 5, 19, tzinfo=UTC)
    thread = Thread("t", "u", ("u", "v"), str(state.get("memory_head", "")), now)
    return answered(node.steps({"messages": messages, **state}, thread), model).store(), archive


PARALLEL = [
    human("h1"),
    calls("a1", "1", "2"),
    result("t1", "1", 5000),
    result("t2", "2", 200),
    AIMessage("Done.", id="a2"),
    human("h2"),
]


def test_1_a_group_of_calls_is_never_cut():
    plan = plan_compaction(PARALLEL, THOUSAND)
    assert ids(plan.kept) == ["h2"]
    assert ids(plan.archived) == ["h1", "a1", "t1", "t2", "a2"]


def test_2_every_message_is_on_one_side_exactly_once():
    messages = [human("h1"), calls("a1", "1", "2"), result("t1", "1", 5000), result("t2", "2")]
    for cut in range(len(messages)):
        history = [*messages[: cut + 1], human("h2"), *messages[cut + 1 :]]
        plan = plan_compaction(history, THOUSAND)
        assert sorted(ids(plan.kept) + ids(plan.archived)) == ["a1", "h1", "h2", "t1", "t2"]
        kept = set(ids(plan.kept))
        if {"a1", "t1", "t2"} & kept and cut > 0:
            assert {"a1", "t1", "t2"} <= kept


def test_3_the_last_user_message_survives_verbatim():
    messages = [human("h1", "refund policy?"), calls("a1", "1"), result("t1", "1", 12_000)]
    plan = plan_compaction(messages, THOUSAND)
    assert list(plan.kept) == messages
    assert plan.over_limit
    update, _ = step(messages, ScriptedChatModel(replies=["never asked"]))
    # 14 characters, 6 of the call, 12,000 of its result: 4 + 2 + 3,000, and 3 a message
    assert update == {
        "memory_note": "What must stay exceeds the limit: 3015 tokens are left.",
        "memory_users": ["u"],
    }


def test_5_an_edited_history_is_read_anew():
    history = [human("h1", "x" * 4000), AIMessage("old", id="a1"), human("h2")]
    update, _ = step(history, None)
    assert ids(update["messages"]) == ["h1", "a1"]
    replaced = [human("h1", "x" * 4000), AIMessage("regenerated", id="a9"), human("h2")]
    head = join_heads("", update["memory_head"])
    again, _ = step(replaced, None, summary=update["summary"], memory_head=head)
    assert ids(again["messages"]) == ["h1", "a9"]


def test_6_messages_without_ids_get_some():
    messages = [HumanMessage("x" * 4000), AIMessage("a"), HumanMessage("b")]
    found = compact_messages(messages, limits=THOUSAND)
    assert [message.content for message in found.archived] == ["x" * 4000, "a"]
    every = ids([*found.archived, *found.messages])
    assert all(every)
    assert len(set(every)) == 3
    assert ids(messages) == [None, None, None]
    assert compact_messages(messages, limits=THOUSAND) == found


def test_8_a_long_agent_turn_is_summarised_whole_in_pieces_once_it_is_over():
    turn: list[BaseMessage] = [human("h1", "Find the fault.")]
    for number in range(12):
        text = f"[row {number}] " + "word " * 560  # 2.8 kB
        turn += [
            calls(f"a{number}", f"c{number}"),
            ToolMessage(text, id=f"t{number}", tool_call_id=f"c{number}"),
        ]
    limits = CompactionLimits(max_tokens=0, max_messages=10)
    model = ScriptedChatModel(replies=["The fault was found."])
    assert plan_compaction(turn, limits).archived == ()
    update, archive = step([*turn, human("h2")], model, limits, piece_tokens=2000)
    assert len(update["messages"]) == 25
    asked = "\n".join(model.prompts())
    assert all(f"[row {number}]" in asked for number in range(12))
    assert len(model.calls) > 2
    assert update["summary"] == "The fault was found."
    assert len(archive.messages) == 25


@pytest.mark.parametrize("reply", [ConnectionError("429 Too Many Requests"), "", " \n\t"])
def test_9_and_10_a_failing_model_changes_nothing_and_is_asked_again(reply):
    history = [human("h1", "x" * 4000), AIMessage("a", id="a1"), human("h2")]
    update, archive = step(history, ScriptedChatModel(replies=[reply]))
    assert update.keys() == {"memory_note", "memory_users"}
    assert "Nothing was trimmed this time" in update["memory_note"]
    assert "Too Many" not in update["memory_note"]
    assert archive.commits == {}
    update, archive = step(history, ScriptedChatModel(replies=["A short talk."]))
    assert update["summary"] == "A short talk."
    assert update.get("memory_note", "") == ""


def test_9_the_turn_is_still_answered():
    model = ScriptedChatModel(replies=[ConnectionError("429")])
    with make_engine() as engine:
        node = summarization_node(
            engine, model, archive=MemoryArchive(), limits=CompactionLimits(max_tokens=60)
        )
        graph = chat_graph(node)
        for number in range(3):
            out = graph.invoke({"messages": [human(f"h{number}")]}, config())
    assert ids(out["messages"]) == ["h0", "a-h0", "h1", "a-h1", "h2", "a-h2"]
    assert out["memory_note"] == (
        "The chat model failed with ConnectionError. Nothing was trimmed this time."
    )


def test_11_an_orphan_goes_with_the_archive():
    history = [
        result("t0", "gone"),
        human("h1", "x" * 4000),
        AIMessage("a", id="a1"),
        human("h2"),
        result("t9", "gone too"),
    ]
    plan = plan_compaction(history, THOUSAND)
    assert ids(plan.kept) == ["h2"]
    assert ids(plan.archived) == ["t0", "h1", "a1", "t9"]


def test_12_the_first_task_can_be_pinned_and_the_summary_is_no_users_turn():
    limits = CompactionLimits(max_tokens=0, max_messages=4, pin_first=True)
    messages: list[BaseMessage] = []
    summary = ""
    for turn in range(6):
        messages += [human(f"h{turn}", f"Task {turn}."), AIMessage("Done.", id=f"a{turn}")]
        result = compact_messages(messages, summary=summary, limits=limits)
        messages, summary = list(result.messages), result.summary
    assert ids(messages) == ["h0", "a0", "h5", "a5"]
    shown = with_previous_context(messages, summary)
    assert [message.type for message in shown] == ["system", "human", "ai", "human", "ai"]
    assert "Task 1." in str(shown[0].content)


def test_13_what_the_model_sees_need_not_be_what_is_stored():
    with make_engine() as engine:
        node = summarization_node(
            engine,
            archive=MemoryArchive(),
            limits=CompactionLimits(max_tokens=60),
            trim_messages=False,
        )
        graph = chat_graph(node, before=True)
        for number in range(6):
            out = graph.invoke({"messages": [human(f"h{number}")]}, config())
    assert len(out["messages"]) == 12
    seen = ids(out["llm_input_messages"])
    assert seen[0] == "memengine-previous-context"
    assert seen[-1] == "h5"
    assert set(ids(out["messages"])[:-1]) == set(out["summarized"]) | set(seen[1:])


def test_14_system_prompt_and_tools_can_be_counted():
    history = [human("h1"), AIMessage("a", id="a1"), human("h2")]
    assert not plan_compaction(history, THOUSAND).archived
    counted = CompactionLimits(max_tokens=1000, overhead_tokens=6000)
    plan = plan_compaction(history, counted)
    assert ids(plan.kept) == ["h2"]
    assert plan.over_limit
    leading = [SystemMessage("s" * 24_000, id="s"), *history]
    assert ids(plan_compaction(leading, THOUSAND).kept) == ["s", "h2"]


@pytest.mark.parametrize(
    ("text", "length", "tokens"),
    [
        ("Мария переехала в Вологду, купила дом, сад и баню. Теперь ждёт, о", 65, 54),
        ("我昨天在北京买了书，今天，开始读了它吧。！", 21, 18),
        ("2024051912345 678901234 5678901 23", 34, 32),
    ],
)
def test_16_letters_of_other_scripts_and_digits_are_tokens(text, length, tokens):
    letters = sum(char.isalpha() or char.isdigit() for char in text)
    assert letters + -(-(length - letters) // 4) == tokens
    assert len(text) == length
    assert tokens_of(HumanMessage(text)) == tokens + MESSAGE_TOKENS


def test_18_only_ids_that_are_there_are_removed():
    history = [human("h1", "x" * 4000), AIMessage("a", id="a1"), human("h2")]
    update, _ = step(history, None)
    after = add_messages(history, update["messages"])
    assert ids(after) == ["h2"]
    head = join_heads("", update["memory_head"])
    again, _ = step(after, None, summary=update["summary"], memory_head=head, memory_users=["u"])
    assert again == {}


def test_20_state_survives_strict_serialization():
    # What LANGGRAPH_STRICT_MSGPACK=true sets: types that LangGraph does not know are not revived.
    saver = InMemorySaver(serde=JsonPlusSerializer(allowed_msgpack_modules=None))
    with make_engine() as engine:
        node = summarization_node(
            engine, archive=MemoryArchive(), limits=CompactionLimits(max_tokens=60)
        )
        graph = chat_graph(node, checkpointer=saver)
        for number in range(6):
            graph.invoke({"messages": [human(f"h{number}")]}, config())
        values = graph.get_state(config()).values
    assert type(values["summary"]) is type(values["memory_head"]) is str
    assert values["memory_users"] == ["local"]
    assert all(isinstance(message, BaseMessage) for message in values["messages"])


def test_21_what_is_kept_starts_with_the_user():
    history = [
        human("h1"),
        calls("a1", "1"),
        result("t1", "1", 4000),
        AIMessage("x" * 40, id="a2"),
        human("h2"),
        calls("a3", "2"),
        result("t2", "2"),
        AIMessage("Done.", id="a4"),
    ]
    plan = plan_compaction(history, THOUSAND)
    assert ids(plan.kept) == ["h2", "a3", "t2", "a4"]
