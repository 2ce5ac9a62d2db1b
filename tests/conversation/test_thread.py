"""Whose a conversation is."""

from datetime import UTC, datetime

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from langchain_memengine.conversation.thread import Thread, join_users, sole_person

MINE, ANNAS, BOBS = HumanMessage("a"), HumanMessage("a", name="anna"), HumanMessage("a", name="bob")
ANSWER, RESULT = AIMessage("b"), ToolMessage("c", tool_call_id="1")


@pytest.mark.parametrize(
    ("gone", "rest", "users", "person"),
    [
        ([MINE, ANSWER], [], ["anna"], "anna"),
        ([ANNAS, MINE], [BOBS], ["anna"], "anna"),
        ([ANNAS, BOBS], [], ["anna"], ""),
        ([BOBS], [], ["anna"], ""),
        ([MINE], [], ["anna", "bob"], ""),
        ([ANNAS], [], ["anna", "bob"], "anna"),
        ([RESULT], [MINE], ["anna"], "anna"),
        ([RESULT], [BOBS], ["anna"], ""),
        ([RESULT], [], ["anna"], "anna"),
        ([RESULT], [], ["anna", "bob"], ""),
    ],
)
def test_what_goes_is_the_users_only_if_nobody_else_speaks_in_it(gone, rest, users, person):
    thread = Thread("t", "anna", tuple(users), "", datetime(2026, 5, 19, tzinfo=UTC))
    assert sole_person(gone, [*gone, *rest], thread) == person


def test_users_are_joined_once_each():
    assert join_users([], ["anna"]) == ["anna"]
    assert join_users(["anna", "bob"], ["bob", "cleo"]) == ["anna", "bob", "cleo"]
