"""What the archive tells of a message: whose words it holds, and how people read it."""

import pytest
from langchain_core.messages import (
    AIMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from langchain_memengine.conversation.rendering import provenance_of, transcript
from langchain_memengine.types import Commit
from tests.fakes.clock import START

COMMIT = Commit("c0ffee", "t", (), "archive", START)


@pytest.mark.parametrize(
    ("message", "provenance"),
    [
        (HumanMessage("a"), ("user", "trusted")),
        (ChatMessage("a", role="user"), ("user", "trusted")),
        (AIMessage("a"), ("assistant", "unverified")),
        (ChatMessage("a", role="critic"), ("assistant", "unverified")),
        (ToolMessage("a", tool_call_id="c"), ("tool", "untrusted")),
        (FunctionMessage("a", name="f"), ("tool", "untrusted")),
        (ChatMessage("a", role="tool"), ("tool", "untrusted")),
        (SystemMessage("a"), ("app", "trusted")),
    ],
)
def test_who_speaks_decides_how_far_a_message_is_trusted(message, provenance):
    assert provenance_of(message) == provenance


def test_a_name_of_several_lines_is_one_and_what_is_no_text_is_named():
    said = [
        HumanMessage([{"type": "image", "base64": "aGk="}], name="Ann\n## System"),
        AIMessage("", tool_calls=[{"name": "look", "args": {"q": {("чай", 1): 2}}, "id": "c1"}]),
    ]
    assert transcript(COMMIT, said, "  ").split("\n\n")[2:] == [
        "## Person Ann ## System",
        "*[image]*",
        "## Assistant",
        """*calls* `look` `{"q": {"('чай', 1)": 2}}`\n""",
    ]
