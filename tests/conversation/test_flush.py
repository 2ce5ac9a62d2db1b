"""The memory flush, with and without a model."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from langchain_memengine.conversation.compaction import tool_groups
from langchain_memengine.conversation.flush import (
    FLUSH_TOKENS,
    TOOL_CHARS,
    amemory_flush,
    memory_flush,
    plan_flush,
)
from langchain_memengine.conversation.transcript import is_human
from langchain_memengine.models.prompts import UNVERIFIED
from tests.fakes.chat_models import ScriptedChatModel
from tests.fakes.graphs import ids
from tests.fakes.histories import history


def call(number: int, text: str = "I guess it is the fuse.") -> AIMessage:
    calls = [{"name": "look", "args": {}, "id": f"c{number}"}]
    return AIMessage(text, id=f"a{number}", tool_calls=calls)


def tool(number: int, text: str) -> ToolMessage:
    return ToolMessage(text, id=f"t{number}", tool_call_id=f"c{number}", name="look")


def loop(steps: int, result: str = "The fuse is intact.") -> list:
    messages = [SystemMessage("Be brief.", id="s"), HumanMessage("Why is it cold?", id="h")]
    for number in range(steps):
        messages += [call(number), tool(number, result)]
    return messages


def test_loop_of_80_000_tokens_is_left_alone_and_a_longer_one_is_not():
    # 4 characters a token and 3 a message: what else is there has 3 + 3 + 4 + 3 + 5 * (10 + 3)
    plain = [*loop(0), *(AIMessage("x" * 40, id=f"x{n}") for n in range(9))]
    assert plan_flush(plain, FLUSH_TOKENS, lambda message: FLUSH_TOKENS // 11).flushed == ()
    over = plan_flush(plain, FLUSH_TOKENS, lambda message: FLUSH_TOKENS // 11 + 1)
    assert ids(over.messages) == ["s", "h", "x3", "x4", "x5", "x6", "x7", "x8"]
    assert ids(over.flushed) == ["x0", "x1", "x2"]


def test_six_newest_messages_stay_with_their_groups_whole():
    messages = loop(8)
    messages.append(AIMessage("Almost.", id="z"))
    result = memory_flush(messages, flush_tokens=10)
    # the sixth from the end is a result, so that its call stays as well
    assert ids(result.messages) == ["s", "h", "a5", "t5", "a6", "t6", "a7", "t7", "z"]
    assert result.removable == tuple(ids(result.flushed))
    assert result.tokens_after < result.tokens_before


def test_tail_from_before_the_current_message_starts_with_a_persons_words():
    chat = [
        m for n in range(6) for m in (HumanMessage("q", id=f"h{n}"), AIMessage("a", id=f"a{n}"))
    ]
    messages = [*chat, HumanMessage("now", id="h6")]
    result = memory_flush(messages, flush_tokens=10)
    assert ids(result.messages) == ["h3", "a3", "h4", "a4", "h5", "a5", "h6"]


def test_without_a_model_people_and_tools_are_written_down_and_never_the_agent():
    messages = loop(8)
    messages[2:2] = [HumanMessage("It hums.", id="h9", name="anna")]
    result = memory_flush(messages, flush_tokens=10, default_person="bob")
    assert result.text.splitlines()[:3] == [
        "Person (bob): Why is it cold?",
        "",
        "Tool (look): The fuse is intact.",
    ]
    assert "guess" not in result.text
    assert ids(result.messages)[:2] == ["s", "h9"]


def test_long_results_are_cut_and_their_length_is_told():
    result = memory_flush(loop(8, "x" * 9000), flush_tokens=10)
    assert f"Tool (look): {'x' * TOOL_CHARS}… (9,000 characters in all)" in result.text


def test_model_is_shown_labelled_turns_and_says_what_is_worth_keeping():
    model = ScriptedChatModel(replies=["- The fuse is intact."])
    result = memory_flush(loop(8), model, flush_tokens=10)
    assert result.text == "- The fuse is intact."
    (prompt,) = model.prompts()
    assert "Assistant: I guess it is the fuse.\n    [calls look]" in prompt
    assert "Tool (look): The fuse is intact." in prompt
    assert "Why is it cold?" not in prompt  # it stays
    assert asyncio.run(amemory_flush(loop(8), model, flush_tokens=10)) == result


@pytest.mark.parametrize("reply", ["NOTHING", "Nothing.", "**nothing**"])
def test_model_may_find_nothing_worth_keeping(reply):
    result = memory_flush(loop(8), ScriptedChatModel(replies=[reply]), flush_tokens=10)
    assert (result.text, len(result.flushed)) == ("", 10)


def test_agents_own_words_are_marked_even_if_the_model_forgets_to():
    reply = (
        f"- I guess it is the fuse.\n- The fuse is intact.\n- {UNVERIFIED} I guess it is the fuse."
    )
    result = memory_flush(loop(8), ScriptedChatModel(replies=[reply]), flush_tokens=10)
    assert result.text.splitlines() == [
        f"- {UNVERIFIED} I guess it is the fuse.",
        "- The fuse is intact.",
        f"- {UNVERIFIED} I guess it is the fuse.",
    ]


@pytest.mark.parametrize("reply", [TimeoutError(), "", "I'm sorry, I can't help with that."])
def test_failing_model_is_done_without(reply):
    model = ScriptedChatModel(replies=[reply])
    result = memory_flush(loop(8), model, flush_tokens=10)
    assert result.text == memory_flush(loop(8), flush_tokens=10).text
    assert "What was said was written down instead." in result.note


def test_long_loop_is_shown_in_pieces_that_fit_the_model():
    model = ScriptedChatModel(replies=["- a", "- b", "- c"], profile={"max_input_tokens": 100})
    result = memory_flush(loop(8), model, flush_tokens=10)
    assert len(model.calls) == 3
    assert result.text == "- a\n- b\n- c"


@given(st.binary(max_size=40), st.integers(0, 500))
def test_flush_loses_nothing_and_parts_no_group(data, flush_tokens):
    messages = history(data)
    result = memory_flush(messages, flush_tokens=flush_tokens)
    assert len(result.messages) + len(result.flushed) == len(messages)
    if not result.flushed:
        return
    kept = list(result.messages)
    _, orphans = tool_groups(kept)
    assert orphans == set()
    humans = [place for place, message in enumerate(messages) if is_human(message)]
    if humans:
        assert messages[humans[-1]].content in [message.content for message in kept]
        first = next(message for message in kept if not isinstance(message, SystemMessage))
        place = next(p for p, message in enumerate(messages) if message.content == first.content)
        assert is_human(first) or place < humans[0]
    again = memory_flush(kept, flush_tokens=flush_tokens)
    assert again.flushed == ()
