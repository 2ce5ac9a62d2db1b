"""Heads as strings, and what they follow."""

import pytest

from langchain_memengine.text.heads import ancestors, joined_heads, split_heads

# a - b - d     c joins nothing; e follows both b and c
GRAPH = {"a": (), "b": ("a",), "c": ("a",), "d": ("b",), "e": ("b", "c")}


@pytest.mark.parametrize(
    ("head", "heads"),
    [
        ("", ()),
        ("a", ("a",)),
        ("b+a", ("b", "a")),
        ("a+b+a", ("a", "b")),
        ("+a+", ("a",)),
        ("a\ud800+\0", ("a\ufffd",)),
    ],
)
def test_heads_are_split_each_once(head, heads):
    assert split_heads(head) == heads
    assert split_heads(joined_heads(heads)) == heads


@pytest.mark.parametrize(
    ("heads", "found"),
    [
        ((), ""),
        (("a",), "a"),
        (("d",), "abd"),
        (("e",), "abce"),
        (("d", "c"), "abcd"),
        (("x",), ""),
    ],
)
def test_ancestors_are_what_heads_follow_and_the_heads(heads, found):
    assert ancestors(GRAPH, heads) == set(found)


def test_a_parent_that_is_unknown_ends_there_and_a_long_line_is_no_problem():
    assert ancestors({"b": ("a",)}, ["b"]) == {"b"}
    line = {str(i): (str(i - 1),) for i in range(1, 20_000)}
    assert len(ancestors(line, ["19999"])) == 19_999
