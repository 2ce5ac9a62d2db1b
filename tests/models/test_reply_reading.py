"""Replies of models as values: what is sound is kept."""

import pytest
from langchain_core.messages import AIMessage
from pydantic import BaseModel

from langchain_memengine.errors import ChatModelError
from langchain_memengine.models.reply_reading import (
    UnreadableReplyError,
    json_in,
    read_reply,
    said_in,
)


class Entry(BaseModel):
    name: str
    size: int


class Listing(BaseModel):
    reasoning: str
    entries: list[Entry]


A, B = Entry(name="a", size=1), Entry(name="b", size=2)
WHOLE = '{"reasoning": "r", "entries": [{"name": "a", "size": 1}, {"name": "b", "size": 2}]}'


def entries(answer):
    return read_reply(answer, Listing).entries


@pytest.mark.parametrize(
    "text",
    [
        WHOLE,
        f"Here you are:\n```json\n{WHOLE}\n```\nAnything else?",
        f"<think>{{not this}} hm</think>{WHOLE}",
        '[{"name": "a", "size": 1}, {"name": "b", "size": 2}]',
        '{"entries": [{"name": "a", "size": 1}, {"name": "b", "size": "2"}]}',
        WHOLE.replace('"r"', '"two\nlines"') + ' {"entries": []}',
        f"From [1], [the second] {{and}} [2, 3]: {WHOLE}",
        f"<think>{{not this}} <think> hm</think>{WHOLE}<think>",
    ],
    ids=[
        *("plain", "in prose", "after thoughts", "only the list", "no reasoning", "line end"),
        *("behind citations", "thoughts without an end"),
    ],
)
def test_reply_is_found_in_what_stands_around_it(text):
    assert entries(text) == entries(AIMessage(text)) == [A, B]
    assert entries({"raw": AIMessage(text), "parsed": None}) == [A, B]


@pytest.mark.parametrize("bad", ['{"name": "b"}', '{"name": "b", "size": "big"}', '"b"', "null"])
def test_an_entry_that_is_wrong_costs_itself_only(bad):
    assert entries(f'{{"entries": [{bad}, {{"name": "a", "size": 1}}]}}') == [A]


@pytest.mark.parametrize("cut", range(60, len(WHOLE) - 1))
def test_reply_that_breaks_off_loses_the_entry_it_broke_off_in(cut):
    # The second entry begins at character 62; whole or not, it is the one that may be cut.
    assert entries(WHOLE[:cut]) in ([A], [])


def test_parsed_value_counts_before_the_text():
    assert entries({"raw": AIMessage("hm"), "parsed": {"entries": [A.model_dump()]}}) == [A]
    assert entries({"raw": AIMessage("hm"), "parsed": Listing(reasoning="", entries=[B])}) == [B]


def test_arguments_of_a_called_tool_are_its_words():
    called = {"name": "Listing", "args": {"entries": [A.model_dump()]}, "id": "1"}
    assert entries(AIMessage("", tool_calls=[called])) == [A]
    broken = {"name": "Listing", "args": WHOLE[:-1], "id": "1", "error": "no JSON"}
    assert said_in(AIMessage("", invalid_tool_calls=[broken])) == WHOLE[:-1]
    assert entries(AIMessage("", invalid_tool_calls=[broken])) == [A]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no JSON object"),
        ("I found nothing.", "no JSON object"),
        ("{", "breaks off"),
        ('{"entries": 5}', "entries: Input should be a valid list"),
        ("{}", "entries: Field required"),
        ('{"entries": [{"name": "a"}, 5]}', "an entry of entries: size: Field required"),
        ("[[1]]", "an entry of entries"),
        ('{"entries" 5}', "no valid JSON"),
    ],
)
def test_reply_of_no_use_says_what_is_wrong(text, problem):
    with pytest.raises(UnreadableReplyError, match=problem):
        read_reply(text, Listing)


def test_a_list_of_texts_is_the_value_where_there_is_no_other():
    assert json_in('so: ["Anna", "knows", "Bert"] and [1]') == ["Anna", "knows", "Bert"]


def test_a_model_that_never_stops_thinking_takes_no_time():
    with pytest.raises(UnreadableReplyError, match="no JSON object"):
        read_reply("<think>" * 200_000, Listing)


def test_a_number_of_thousands_of_digits_is_unreadable():
    with pytest.raises(UnreadableReplyError, match="too long a number"):
        read_reply('{"entries": [{"name": "a", "size": ' + "9" * 5_000 + "}]}", Listing)


def test_problem_does_not_quote_the_reply():
    with pytest.raises(UnreadableReplyError) as caught:
        read_reply('{"entries": [{"name": "a", "size": "s3cret"}]}', Listing)
    assert "s3cret" not in str(caught.value)


def test_refusal_is_no_reply():
    refused = AIMessage("", additional_kwargs={"refusal": "no"})
    with pytest.raises(ChatModelError, match="refused"):
        read_reply({"raw": refused, "parsed": None}, Listing)


@pytest.mark.parametrize(
    ("text", "problem"),
    [("[[1]]", "it is no JSON object"), ("[" * 100_000, "it is nested too deeply")],
)
def test_a_list_of_no_entries_and_a_bottomless_one_are_unreadable(text, problem):
    with pytest.raises(UnreadableReplyError, match=problem):
        read_reply(text, Entry)
