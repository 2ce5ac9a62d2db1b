"""A session sees its sources alone, and tells afterwards what it was shown."""

from pathlib import Path

import pytest
from langchain_core.messages import HumanMessage

from langchain_memengine.conversation.lineage import join_heads
from langchain_memengine.errors import ConfigurationError, NotFoundError
from langchain_memengine.types import (
    Actor,
    Filter,
)
from tests.fakes.clock import START
from tests.fakes.engines import make_engine, texts, write


@pytest.fixture
def engine(tmp_path, clock):
    write(tmp_path / "docs", "guide.md", "tea guide")
    write(tmp_path / "memory", "notes.md", "tea notes")
    write(tmp_path / "memory", "MEMORY.md", "pinned tea")
    folders = {"docs": Path(tmp_path / "docs")}
    with make_engine(tmp_path / "memory", sources=folders, clock=clock) as engine:
        engine.add_texts(["tea text"], ids=["1"])
        yield engine


def found(result):
    return sorted(hit.text for hit in result.hits)


def test_a_session_without_sources_sees_everything(engine):
    sessions = engine.sessions()
    session = sessions.create("t")
    everything = ["pinned tea", "tea guide", "tea notes", "tea text"]
    assert found(sessions.search(session, "tea")) == everything
    recalled = sessions.recall(session, "tea")
    assert (recalled.pinned, found(recalled)) == ("pinned tea", everything[1:])


def test_a_query_that_no_database_stores_is_recorded_without_that(engine):
    sessions = engine.sessions()
    session = sessions.create("t", ["doc:\ud800*", "doc:*"])
    assert session.sources[0] == "doc:\ufffd*"
    assert found(sessions.search(session, "tea \ud800\0")) == ["tea text"]
    (recalled,) = sessions.audit(session)
    assert recalled.query == "tea \ufffd"
    with pytest.raises(NotFoundError, match="no session"):
        sessions.get("\ud800")


@pytest.mark.parametrize(
    ("sources", "seen", "pinned"),
    [
        (["docs"], ["tea guide"], ""),
        (["doc:*"], ["tea text"], ""),
        (["docs", "doc:/1"], ["tea guide", "tea text"], ""),
        (["file:*"], ["tea guide", "tea notes"], "pinned tea"),
        (["nothing:*"], [], ""),
    ],
)
def test_a_session_sees_its_sources_alone(engine, sources, seen, pinned):
    sessions = engine.sessions()
    session = sessions.create("t", sources)
    recalled = sessions.recall(session, "tea")
    assert (recalled.pinned, found(recalled)) == (pinned, seen)
    assert found(sessions.search(session, "tea", filter={"none": 1})) == []


def test_a_session_sees_what_its_own_conversation_left(engine):
    for thread in ("t", "t/u"):
        head = join_heads("", engine.commit(thread, "", "fact", [f"tea learnt by {thread}"]))
        said = [HumanMessage(f"tea said in {thread}", id="1")]
        update = engine.archive.commit(thread, head, "archive", said, now=START)
    sessions = engine.sessions()
    session = sessions.create("t/u", ["docs"])
    expected = ["tea guide", "tea learnt by t/u", "tea said in t/u"]
    assert found(sessions.search(session, "tea")) == expected
    assert found(sessions.search(session, "tea", head=head)) == expected[:2]
    assert found(sessions.search(session, "tea", head=join_heads(head, update))) == expected


def test_a_source_that_is_none_is_refused(engine):
    with pytest.raises(ConfigurationError, match=r"'dosc' is no source.*\(docs\)"):
        engine.sessions().create("t", ["dosc"])
    session = engine.sessions().create("t", ["docs"])
    with pytest.raises(ConfigurationError, match="its own sources"):
        engine.sessions().search(session, "tea", filter=Filter(sources=("doc:*",)))


def test_the_audit_says_what_was_shown_for_which_query(engine, clock):
    sessions = engine.sessions()
    session = sessions.create("t", ["docs"])
    sessions.search(session, "tea")
    clock.pass_days(1)
    sessions.recall(session, "nothing like it", head="")
    first, second = sessions.audit(session)
    (hit,) = first.hits
    assert (first.query, first.head, first.at) == ("tea", None, START)
    assert (hit["path"], hit["start_line"], hit["end_line"]) == ("guide.md", 1, 1)
    assert hit["id"] == engine.search("guide", 1).hits[0].id
    assert "text" not in hit
    assert (second.query, second.head, second.hits, second.at) == (
        "nothing like it",
        "",
        (),
        clock.now,
    )


def test_replay_gives_the_same_hits_whatever_was_learnt_since(engine):
    sessions = engine.sessions()
    session = sessions.create("t")
    then = [sessions.search(session, query, 2).hits for query in ("tea", "guide")]
    engine.add_texts(["tea tea tea", "guide guide"])
    replayed = sessions.replay(session)
    assert [result.hits for result in replayed] == then
    assert [result.degraded for result in replayed] == [(), ()]
    assert len(sessions.audit(session)) == 2  # a replay is no recall


def test_replay_names_what_is_gone(engine):
    sessions = engine.sessions()
    session = sessions.create("t", ["doc:*", "docs"])
    sessions.search(session, "tea")
    engine.delete(["1"])
    (result,) = sessions.replay(session)
    assert texts(result) == ["tea guide"]
    assert result.degraded == ("gone: doc:/1",)


def test_an_archived_session_is_read_only_and_stays(engine, clock):
    sessions = engine.sessions()
    session = sessions.create("t")
    sessions.search(session, "tea")
    ended = sessions.archive(session)
    clock.pass_days(1)
    assert sessions.archive(session) == ended
    assert ended.archived_at == START
    with pytest.raises(ConfigurationError, match="was archived"):
        sessions.search(session, "tea")
    assert len(sessions.replay(ended)) == 1


def test_sessions_are_their_users_alone(engine):
    ann = engine.sessions(Actor("ann"))
    session = ann.create("t")
    engine.add_texts(["tea of ann"], actor=Actor("ann"))
    assert "tea of ann" in found(ann.search(session, "tea"))
    assert ann.get(session.id) == session
    for use in ("get", "audit", "replay"):
        with pytest.raises(NotFoundError, match="no session"):
            getattr(engine.sessions(), use)(session.id if use == "get" else session)
    with pytest.raises(NotFoundError):
        engine.sessions().recall(session, "tea")
    with pytest.raises(NotFoundError):
        engine.sessions().archive(session)
    assert ann.get(session.id).archived_at is None
