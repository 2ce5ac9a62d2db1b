"""Commit ids, and the reducer that keeps a branch's heads."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.conversation.lineage import (
    checked_thread,
    head_update,
    join_heads,
    new_commit,
)
from langchain_memengine.errors import ConfigurationError
from langchain_memengine.text.heads import split_heads
from tests.fakes.clock import START

COMMIT = new_commit("t", "b+a", "fact", ["1", "2"], now=START)


@pytest.mark.parametrize(
    ("current", "update", "joined"),
    [
        ("", "a<", "a"),  # the first commit of a thread
        ("a", "b<a", "b"),  # straight on
        ("b", "c<a", "b+c"),  # the sibling of a parallel node
        ("a+b", "c<a+b", "c"),  # both joined
        ("a+b", "c<b", "a+c"),
        ("b", "b<a", "b"),  # the same again
        ("a", "", "a"),  # nothing was stored
        ("a", "b", "a+b"),  # a bare head, as `update_state` may give
        ("", "", ""),
    ],
)
def test_an_update_takes_the_place_of_its_parents(current, update, joined):
    assert join_heads(current, update) == joined


NAMES = st.lists(st.sampled_from("abcdef"), max_size=3, unique=True).map("+".join)


@given(NAMES, st.lists(st.sampled_from("uvwxyz"), max_size=4, unique=True))
def test_parallel_commits_are_all_kept_in_any_order(head, commits):
    updates = [f"{commit}<{head}" for commit in commits]

    def reduced(some):
        current = head
        for update in some:
            current = join_heads(current, update)
        return set(split_heads(current))

    assert reduced(updates) == reduced(updates[::-1]) == (set(commits) or set(split_heads(head)))
    assert reduced(updates + updates) == reduced(updates)


def test_the_same_step_has_the_same_id_whenever_and_in_whatever_order():
    later = new_commit("t", "a+b", "fact", ["2", "1"], now=START.replace(year=2030))
    assert replace(later, created_at=START) == COMMIT
    assert COMMIT.parents == ("a", "b")
    assert head_update(COMMIT) == f"{COMMIT.id}<a+b"


@pytest.mark.parametrize(
    ("thread", "head", "kind", "keys"),
    [
        ("u", "a+b", "fact", ["1", "2"]),
        ("t", "a", "fact", ["1", "2"]),
        ("t", "a+b", "archive", ["1", "2"]),
        ("t", "a+b", "fact", ["1"]),
        ("t", "a+b", "fact", ["12"]),
        ("t", "a+b", "fact", ["1\n2"]),
    ],
)
def test_any_other_step_has_another_id(thread, head, kind, keys):
    assert new_commit(thread, head, kind, keys, now=START).id != COMMIT.id


@pytest.mark.parametrize("thread", ["", "x" * 256, "\0"])
def test_a_thread_that_cannot_be_stored_is_refused(thread):
    with pytest.raises(ConfigurationError, match="1 to 255"):
        checked_thread(thread)


@pytest.mark.parametrize("kind", ["", "x" * 33])
def test_a_kind_that_cannot_be_stored_is_refused(kind):
    with pytest.raises(ConfigurationError, match="1 to 32 characters"):
        new_commit("t", "", kind, [], now=START)
