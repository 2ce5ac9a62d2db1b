"""Whose a conversation is."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from langchain_memengine.conversation.thread import (
    Thread,
    is_the_owners,
    join_users,
    unnamed_thread,
)

MINE, ANNAS, BOBS = HumanMessage("a"), HumanMessage("a", name="anna"), HumanMessage("a", name="bob")
ANSWER, RESULT = AIMessage("b"), ToolMessage("c", tool_call_id="1")


@pytest.mark.parametrize(
    ("gone", "rest", "users", "expected"),
    [
        ([MINE, ANSWER], [], ["anna"], True),
        ([ANNAS, MINE], [BOBS], ["anna"], True),
        ([ANNAS, BOBS], [], ["anna"], False),
        ([BOBS], [], ["anna"], False),
        ([MINE], [], ["anna", "bob"], False),
        ([ANNAS], [], ["anna", "bob"], False),
        ([RESULT], [MINE], ["anna"], True),
        ([RESULT], [BOBS], ["anna"], False),
        ([RESULT], [], ["anna"], True),
        ([RESULT], [], ["anna", "bob"], False),
    ],
)
def test_what_goes_is_the_owners_only_if_nobody_else_speaks_in_it(gone, rest, users, expected):
    thread = Thread("t", "anna", tuple(users), "", datetime(2026, 5, 19, tzinfo=UTC))
    assert is_the_owners(gone, [*gone, *rest], thread) is expected


@pytest.mark.parametrize(
    ("users", "owner"), [((), "anna"), (("anna",), "anna"), (("bob",), ""), (("anna", "bob"), "")]
)
def test_a_thread_is_its_users_if_it_ran_for_nobody_else(users, owner):
    assert Thread("t", "anna", users, "", datetime(2026, 5, 19, tzinfo=UTC)).owner == owner


def test_users_are_joined_once_each():
    assert join_users([], ["anna"]) == ["anna"]
    assert join_users(["anna", "bob"], ["bob", "cleo"]) == ["anna", "bob", "cleo"]


def test_a_conversation_without_a_name_is_known_by_whose_it_is_and_how_it_began():
    first, second, third = HumanMessage("Hi"), HumanMessage("Kilns?"), HumanMessage("Glazes?")
    known = unnamed_thread("anna", [first, ANSWER, second])
    assert unnamed_thread("anna", [first, ANSWER, second, ANSWER, third]) == known
    others = [("bob", [first, second]), ("anna", [first, third]), ("anna", [first])]
    assert len({known, *(unnamed_thread(*other) for other in others)}) == 4


def test_a_commit_of_a_conversation_without_a_name_says_where_it_is():
    named = Thread("t", "anna", (), "a", datetime(2026, 5, 19, tzinfo=UTC))
    assert named.committed({"memory_head": "a"}, "b<a") == {"memory_head": "b<a"}
    unnamed = replace(named, head="", is_named=False)
    update = {"memory_head": "b<x", "memory_thread": "t"}
    assert unnamed.committed({"memory_head": "x"}, "b<") == update
