"""A commit and what it learnt are stored together, once, or not at all."""

from dataclasses import replace
from datetime import timedelta

import pytest

from langchain_memengine.config import MemEngineConfig
from langchain_memengine.conversation.committing import Committer
from langchain_memengine.conversation.learning import learnt_chunks
from langchain_memengine.errors import UnknownCommitError
from langchain_memengine.storage import chunks
from langchain_memengine.types import Commit, Provenance
from tests.fakes.clock import START

FIRST = Commit("a1", "chat", (), "fact", START)
LATER = START + timedelta(hours=1)


class Step:
    """A step that counts how often it was asked what it learnt, and what it did beside it."""

    def __init__(self, committer):
        self._committer = committer
        self.asked = 0
        self.done = 0

    def __call__(self, commit, *, now=START, fails=None):
        def learnt():
            self.asked += 1
            return learnt_chunks(["Tea."], commit, Provenance(), MemEngineConfig())

        def also(_tx):
            self.done += 1
            if fails is not None:
                raise fails

        return self._committer.commit(commit, learnt, checkpoint_id=None, now=now, also=also)


@pytest.fixture
def step(engine):
    return Step(Committer(engine._database, engine._indexer))


def stored(engine):
    with engine._database.read() as tx:
        return chunks.count(tx)


def test_the_same_step_again_learns_nothing_and_answers_with_the_first_commit(engine, step):
    assert step(FIRST) == FIRST
    again = replace(FIRST, created_at=LATER)
    assert step(again, now=LATER) == FIRST
    assert (step.asked, step.done, stored(engine)) == (1, 1, 1)


def test_a_commit_follows_those_of_its_own_thread_only(engine, step):
    step(FIRST)
    assert step(Commit("b2", "chat", ("a1",), "fact", START)).parents == ("a1",)
    with pytest.raises(UnknownCommitError):
        step(Commit("c3", "another chat", ("a1",), "fact", START))
    with pytest.raises(UnknownCommitError):
        step(Commit("d4", "chat", ("nobody",), "fact", START))
    assert (step.asked, stored(engine)) == (2, 2)


def test_what_fails_beside_a_commit_leaves_nothing_of_it(engine, step):
    with pytest.raises(RuntimeError, match="power cut"):
        step(FIRST, fails=RuntimeError("power cut"))
    assert stored(engine) == 0
    assert step(FIRST) == FIRST  # as if for the first time
    assert (step.asked, step.done, stored(engine)) == (2, 2, 1)
