"""Experiences quote what people wanted: they are forgotten with it."""

import pytest
from langchain_core.messages import HumanMessage

from langchain_memengine.storage import experiences
from langchain_memengine.types import Actor
from tests.engine.test_forgetting import WORD, files_with
from tests.fakes.clock import START
from tests.fakes.engines import make_engine

ALICE, BOB, ADMIN = Actor("Alice"), Actor("bob"), Actor("root", is_admin=True)
WANTED = f"Open the {WORD} for me"


@pytest.fixture
def engine(tmp_path):
    with make_engine(tmp_path / "root") as engine:
        yield engine


@pytest.mark.parametrize("actor", [ALICE, ADMIN])
@pytest.mark.parametrize("what", [{"thread": "t"}, {"owner": "Alice"}])
def test_what_was_learnt_in_a_conversation_or_of_a_user_goes(engine, actor, what):
    engine.experiences.record(WANTED, {"steps": [WORD]}, session="t", user="Alice")
    report = engine.forget(actor=actor, **what)
    assert report.removed == {"experiences": 1}
    assert engine.experiences.find_similar(WORD, user="Alice") == []
    assert files_with(engine.root) == []


@pytest.mark.parametrize("learnt", [(WANTED, "pull"), ("open it", {"steps": [{"args": [WANTED]}]})])
def test_what_holds_the_words_of_a_record_goes(engine, learnt):
    record = engine.remember(WANTED, actor=ALICE)
    engine.experiences.record(*learnt, user="Alice")
    report = engine.forget([record.id], actor=ALICE)
    assert report.removed["experiences"] == 1
    assert files_with(engine.root) == []


@pytest.mark.parametrize("what", [{"thread": "t"}, {"source": "message:t/*"}])
def test_what_repeats_a_message_goes(engine, what):
    said = HumanMessage(WANTED, id="h")
    engine.archive.commit("t", "", "archive", [said], owner="Alice", now=START)
    engine.experiences.record(WANTED, "pull", user="Alice")
    engine.forget(actor=ALICE, **what)
    assert files_with(engine.root) == []


def test_those_of_others_stay(engine):
    for user in ("Alice", "bob", ""):
        engine.experiences.record(WANTED, "pull", session="t", user=user)
    record = engine.remember(WANTED, actor=ALICE)
    for what in ({"thread": "t"}, {"ids": [record.id]}, {"owner": "Alice"}):
        engine.forget(actor=ALICE, **what)
    assert {one.user for one in engine.experiences.latest(user="bob")} == {"", "bob"}
    assert [one.user for one in engine.experiences.latest(user="Alice")] == [""]
    engine.experiences.record("brew tea", "boil", user="bob")
    engine.forget(owner="bob", actor=BOB)
    assert {one.user for one in engine.experiences.latest(user="bob")} == {""}


def test_one_without_a_conversation_is_in_none(engine):
    engine.experiences.record("brew tea", "boil", user="Alice")
    engine.forget(thread="t", actor=ALICE)
    assert len(engine.experiences.latest(user="Alice")) == 1


def test_what_cannot_be_concerned_is_not_read(engine, monkeypatch):
    for user in ("Alice", "bob", "carl"):
        for session in "stu":
            engine.experiences.record(f"brew tea in {session}", "boil", session=session, user=user)
    read, experience = [], experiences._experience

    def noted(row):
        read.append(experience(row))
        return read[-1]

    monkeypatch.setattr(experiences, "_experience", noted)

    def read_by(actor, ids=None, **what):
        read.clear()
        engine.forget(ids, actor=actor, **what)
        return sorted((one.user, one.session) for one in read)

    alices = [("Alice", session) for session in "stu"]
    record = engine.remember(WANTED, actor=ALICE)
    assert read_by(ALICE, [record.id]) == alices
    assert read_by(ALICE, thread="s") == [("Alice", "s")]
    assert read_by(ADMIN, thread="t") == [("Alice", "t"), ("bob", "t"), ("carl", "t")]
    assert read_by(ADMIN, owner="bob") == [("bob", "s"), ("bob", "u")]
    engine.remember(WANTED, actor=ALICE)
    left = [("Alice", "u"), ("carl", "s"), ("carl", "u")]
    assert read_by(ADMIN, source="record:*") == left
