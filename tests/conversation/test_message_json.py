"""Messages come back from JSON exactly as they went in."""

import dataclasses
import json
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    ChatMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)

from langchain_memengine.conversation.message_json import from_json, to_json, whole

CALL = {"name": "look_up", "args": {"q": "чай", "n": 1.5}, "id": "c1", "type": "tool_call"}
MESSAGES = [
    SystemMessage("Be kind.", id="s"),
    HumanMessage("Привет\n\0 \ud800 🫖", id="h", name="Анна", additional_kwargs={"user_id": "u"}),
    HumanMessage([{"type": "text", "text": "see"}, {"type": "image", "base64": "aGk="}], id="i"),
    AIMessage(
        "",
        id="a",
        tool_calls=[CALL],
        usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
        response_metadata={"model": "m"},
    ),
    ToolMessage("found", tool_call_id="c1", id="t", artifact={"rows": [1, 2]}, status="error"),
    ChatMessage("hm", role="critic", id="c"),
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.type)
def test_every_kind_of_message_comes_back_equal(message):
    text = to_json(message)
    assert from_json(text) == message
    assert to_json(from_json(text)) == text
    text.encode()  # any database stores it


@given(st.text(st.characters()))
def test_any_text_comes_back_equal(text):
    written = to_json(HumanMessage(text, id="1"))
    assert from_json(written).content == text
    written.encode()


def test_letters_are_written_as_themselves():
    assert '"Привет"' in to_json(HumanMessage("Привет", id="1"))


@dataclasses.dataclass
class Table:
    rows: int


@pytest.mark.parametrize(
    ("artifact", "stored"),
    [
        ([Document("x")], [{"id": None, "metadata": {}, "page_content": "x", "type": "Document"}]),
        ({"b", "a"}, ["a", "b"]),
        (Table(2), {"rows": 2}),
        (b"hi", "hi"),
        (1j, "1j"),
        (float("inf"), float("inf")),
        ({("a", 1): 2, 3: [4], "b": None}, {"('a', 1)": 2, "3": [4], "b": None}),
    ],
)
def test_an_artifact_that_json_does_not_know_becomes_plain_values(artifact, stored):
    text = to_json(ToolMessage("x", tool_call_id="c", id="1", artifact=artifact))
    assert json.loads(text)["data"]["artifact"] == stored


def test_an_artifact_that_holds_itself_ends_in_an_ellipsis():
    rows: list[object] = ["first"]
    rows.append(rows)
    stored = json.loads(to_json(ToolMessage("x", tool_call_id="c", artifact=rows)))["data"]
    depth, inner = 0, stored["artifact"]
    while inner != "…":
        assert inner[0] == "first"
        depth, inner = depth + 1, inner[1]
    assert depth == 99  # below "data" and "artifact"


def test_a_chunk_of_a_stream_becomes_the_message_it_is_of():
    message = whole(AIMessageChunk("hi", id="1", chunk_position="last"))
    assert type(message) is AIMessage
    assert (message.content, message.id) == ("hi", "1")


class Alert(HumanMessage):
    type: Literal["alert"] = "alert"


@pytest.mark.parametrize("message", [Alert("Fire!", id="1", name="ann"), RemoveMessage(id="1")])
def test_a_message_of_a_class_that_nobody_reads_back_keeps_its_words_as_a_chat_message(message):
    back = from_json(to_json(message))
    assert (type(back), back.role) == (ChatMessage, message.type)
    assert (back.content, back.id, back.name) == (message.content, "1", message.name)
    assert to_json(back) == to_json(message)
