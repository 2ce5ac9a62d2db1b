"""What memory made of messages goes with them, whoever worded it, and does not come back."""

from datetime import timedelta

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from langchain_memengine.faces.nodes import flush_node
from langchain_memengine.types import Actor, Filter
from tests.engine.test_forgetting import WORD, files_with
from tests.fakes.chat_models import ScriptedChatModel
from tests.fakes.clock import START, FixedClock
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine, texts
from tests.fakes.facts import fact, learner
from tests.fakes.graphs import config

ALICE, BOB, ADMIN = Actor("alice"), Actor("bob"), Actor("root", is_admin=True)
SAID = "Our password hint is a striped animal"
TOLD = f"They hinted at the {WORD}."
EVERYTHING = [{"thread": "t"}, {"source": "message:t/*"}, {"source": "message:t/h*"}]


@pytest.fixture
def engine(tmp_path):
    with make_engine(tmp_path / "root", embeddings=FakeEmbeddings()) as engine:
        yield engine


def archived(engine, user="alice", thread="t"):
    messages = [HumanMessage(SAID, id="h"), AIMessage("Noted.", id="a")]
    return engine.archive.commit(
        thread, "", "archive", messages, summary=TOLD, owner=user, now=START
    )


def flushed(engine, user="alice", thread="t"):
    """Run a flush of two messages whose model words what they said in its own way."""
    messages = [HumanMessage(SAID, id="h"), AIMessage("Noted.", id="a")]
    for number in range(3):
        messages += [HumanMessage(f"And {number}?", id=f"h{number}"), AIMessage("Yes.")]
    node = flush_node(engine, ScriptedChatModel(replies=[f"- {TOLD}"]), flush_tokens=10)
    for number, message in enumerate(messages):
        message.id = message.id or f"a{number}"
    return node.invoke({"messages": messages}, config(thread, user_id=user))


@pytest.mark.parametrize("left_by", [archived, flushed])
@pytest.mark.parametrize("actor", [ALICE, ADMIN])
@pytest.mark.parametrize("what", EVERYTHING)
def test_a_summary_goes_with_the_messages_it_tells_of(engine, left_by, actor, what):
    left_by(engine)
    assert TOLD in texts(engine.search(WORD, actor=ALICE))[0]
    assert any("/archive/" in name for name in files_with(engine.root))
    assert left_by is archived or any("/daily/" in name for name in files_with(engine.root))

    report = engine.forget(actor=actor, **what)

    assert engine.search(WORD, actor=ALICE).hits == ()
    assert files_with(engine.root) == []
    assert not any(TOLD in line for line in report.out_of_reach)


@pytest.mark.parametrize("left_by", [archived, flushed])
def test_what_other_conversations_and_users_left_stays(engine, left_by):
    left_by(engine)
    left_by(engine, thread="u")
    left_by(engine, "bob")
    engine.forget(thread="t", actor=ALICE)
    found = texts(engine.search(WORD, actor=ALICE))
    assert sum(TOLD in text for text in found) == 1
    names = files_with(engine.root)
    assert any(name.startswith("users/bob/archive/t/") for name in names)
    left = [name for name in names if name.startswith("users/alice/archive/")]
    assert {name.split("/")[3] for name in left} == {"u"}
    logs = ["alice", "bob"] if left_by is flushed else []
    assert [name.split("/")[1] for name in names if "/daily/" in name] == logs


def test_of_a_transcript_only_what_was_forgotten_goes(engine):
    archived(engine)
    engine.forget(source="message:t/h*", actor=ALICE)
    (transcript,) = (engine.root / "users" / "alice" / "archive" / "t").iterdir()
    assert transcript.read_text().split("\n\n", 2)[2] == "## Assistant\n\nNoted.\n"
    assert [message.id for message in engine.restore("t", actor=ALICE)] == ["a"]
    engine.forget(source="message:t/*", actor=ALICE)
    assert not (engine.root / "users" / "alice" / "archive").exists()


@pytest.mark.parametrize("left_by", [archived, flushed])
@pytest.mark.parametrize("what", EVERYTHING)
def test_a_replay_brings_nothing_back(engine, left_by, what):
    left_by(engine)
    engine.forget(actor=ALICE, **what)
    engine._clock.pass_days(1)
    left_by(engine)
    assert files_with(engine.root) == []
    assert (
        engine.search(f"{WORD} {SAID}", actor=ALICE, filter=Filter(source="message:t/h*")).hits
        == ()
    )


def test_a_replay_after_midnight_is_no_second_entry(tmp_path):
    clock = FixedClock(START.replace(hour=23, minute=59))
    with make_engine(tmp_path, clock=clock) as engine:
        flushed(engine)
        before = {path: path.read_text() for path in tmp_path.glob("users/*/daily/*")}
        assert [path.name for path in before] == ["2026-05-19.md"]
        clock.now += timedelta(minutes=2)
        flushed(engine)
        assert {path: path.read_text() for path in tmp_path.glob("users/*/daily/*")} == before


def test_a_transcript_that_a_crash_prevented_is_written_by_the_next_try(engine, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(type(engine._notes), "update", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            archived(engine)
    assert not (engine.root / "users").exists()
    archived(engine)
    (transcript,) = (engine.root / "users" / "alice" / "archive" / "t").iterdir()
    assert TOLD in transcript.read_text()


@pytest.mark.parametrize("text", [f'They said "{WORD}" to me', f"a\\{WORD} path", f"a\n\n{WORD} b"])
def test_words_that_a_tool_was_called_with_go(engine, text):
    call = {"name": "memory_save", "args": {"text": text}, "id": "c", "type": "tool_call"}
    messages = [HumanMessage("Keep it", id="h"), AIMessage("", id="a", tool_calls=[call])]
    engine.archive.commit("t", "", "archive", messages, owner="alice", now=START)
    record = engine.remember(text, actor=ALICE)
    engine.forget([record.id], actor=ALICE)
    assert files_with(engine.root) == []
    (transcript,) = (engine.root / "users" / "alice" / "archive" / "t").iterdir()
    assert "Keep it" in transcript.read_text()


def test_facts_go_with_the_message_they_were_learnt_from(tmp_path):
    said = HumanMessage(f"I live in {WORD}. It rains.", id="h")
    told = [fact(f"I live in {WORD}", f"User lives in {WORD}", "lives in")]
    model = learner({WORD: told})
    root = tmp_path / "root"
    with make_engine(root, embeddings=FakeEmbeddings(), chat_model=model) as engine:
        engine.archive.commit("t", "", "archive", [said], owner="alice", now=START)
        engine.learn([said], thread_id="t", actor=ALICE)
        engine.run_jobs()
        assert len(engine.facts(actor=ALICE)) == 1
        hits = engine.search("rains", actor=ALICE, filter=Filter(source="message:*")).hits
        engine.forget(source=hits[0].source, actor=ALICE)
        assert engine.facts(actor=ALICE) == []
        assert files_with(root) == []


@pytest.mark.parametrize("what", [{"thread": "t"}, {"source": "message:t/h#*"}])
def test_a_waiting_job_that_carries_a_part_of_a_message_learns_nothing(tmp_path, what):
    said = HumanMessage(f"I live in {WORD}.\n\n> So they say.\n\nIt rains.", id="h")
    other = HumanMessage("I like tea.", id="g")
    told = {
        WORD: [fact(f"I live in {WORD}", f"User lives in {WORD}", "lives in")],
        "tea": [fact("I like tea", "User likes tea")],
    }
    root = tmp_path / "root"
    with make_engine(root, embeddings=FakeEmbeddings(), chat_model=learner(told)) as engine:
        engine.archive.commit("t", "", "archive", [said], owner="alice", now=START)
        engine.learn([said], thread_id="t", actor=ALICE)
        engine.learn([other], thread_id="u", actor=ALICE)
        report = engine.forget(actor=ALICE, **what)
        assert report.removed["jobs"] == 1
        engine.run_jobs()
        assert [one.text for one in engine.facts(actor=ALICE)] == ["User likes tea"]
        assert files_with(root) == []


@pytest.mark.parametrize("what", [{"thread": "t"}, {"source": "message:t/(summary)*"}])
def test_what_a_flush_wrote_goes_with_its_summary_alone(engine, what):
    flushed(engine)
    engine._clock.pass_days(2)
    engine.vacuum(archive_older_than=timedelta(days=1))
    assert any("/daily/" in name for name in files_with(engine.root))
    engine.forget(actor=ALICE, **what)
    assert files_with(engine.root) == []


def test_a_long_text_of_a_flush_goes_whole(engine):
    lines = "\n".join(f"- {WORD} {number}: " + "tea and milk " * 20 for number in range(40))
    said = [HumanMessage(SAID, id="h")]
    engine.archive.commit("t", "", "flush", said, summary=lines, owner="alice", now=START)
    engine.forget(source="message:t/(summary)*", actor=ALICE)
    assert files_with(engine.root) == []
    (transcript,) = (engine.root / "users" / "alice" / "archive" / "t").iterdir()
    assert SAID in transcript.read_text()
    assert engine.restore("t", actor=ALICE) == said
