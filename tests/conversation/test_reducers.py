"""How parallel updates of a graph's state become one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.conversation.reducers import join_heads, join_users


@pytest.mark.parametrize(
    ("current", "update", "joined"),
    [
        ("", "a<", "a"),
        ("a", "b<a", "b"),
        ("a+b", "c<a", "b+c"),
        ("a+b", "c<a+b", "c"),
        ("b", "c<a", "b+c"),  # a sibling of the same step came first
        ("a", "a<", "a"),
        ("a", "a<a", "a"),
        ("a", "b", "a+b"),
        ("a", "b+c", "a+b+c"),
        ("a", "", "a"),
    ],
)
def test_new_head_takes_the_place_of_its_parents(current, update, joined):
    assert join_heads(current, update) == joined


@given(st.permutations(["b<a", "c<a", "d<a"]))
def test_order_of_parallel_commits_does_not_matter(updates):
    head = "a"
    for update in updates:
        head = join_heads(head, update)
    assert sorted(head.split("+")) == ["b", "c", "d"]


@given(st.text(), st.text())
def test_no_text_makes_it_raise(current, update):
    assert isinstance(join_heads(current, update), str)


def test_users_are_joined_once_each():
    assert join_users([], ["anna"]) == ["anna"]
    assert join_users(["anna", "bob"], ["bob", "cleo"]) == ["anna", "bob", "cleo"]
