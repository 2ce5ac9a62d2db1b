"""What the graph was told, or read by itself, is forgotten with whose it is."""

import pytest
from langchain_core.messages import HumanMessage

from langchain_memengine.errors import NotFoundError, StorageFullError
from langchain_memengine.faces.graph_nodes import graph_extraction
from langchain_memengine.text.uris import message_uri
from langchain_memengine.types import Actor
from tests.engine.test_forgetting import WORD, files_with
from tests.fakes.chat_models import ScriptedChatModel
from tests.fakes.clock import START
from tests.fakes.engines import make_engine
from tests.fakes.graphs import config

ALICE, BOB, ADMIN = Actor("alice"), Actor("bob"), Actor("root", is_admin=True)


@pytest.fixture
def engine(tmp_path):
    with make_engine(tmp_path / "root") as engine:
        yield engine


def read(engine, *messages, thread="t", user="alice"):
    """Let the graph read what was said, as a subgraph of an agent does."""
    told = {"source": "Ann", "type": "has", "target": WORD}
    model = ScriptedChatModel(replies=lambda _: {"relations": [told]})
    return graph_extraction(engine, model).invoke(
        {"messages": list(messages)}, config(thread, user_id=user)
    )


def known(engine):
    return {who.user_id: engine.graph.counts(actor=who).relations for who in (ALICE, BOB)}


@pytest.mark.parametrize("actor", [ALICE, ADMIN])
def test_what_a_user_told_it_goes_with_the_user(engine, actor):
    for who, thing in ((ALICE, WORD), (BOB, "tea"), (ADMIN, "milk")):
        engine.graph.add_triples([("Ann", "has", thing)], actor=who)
    report = engine.forget(owner="alice", actor=actor)
    assert report.removed == {"graph evidence": 1}
    assert known(engine) == {"alice": 1, "bob": 2}  # one of them is everyone's
    assert files_with(engine.root) == []


@pytest.mark.parametrize("actor", [ALICE, ADMIN])
@pytest.mark.parametrize("what", [{"thread": "chat 1"}, {"source": "message:chat%201/*"}])
def test_what_it_read_of_a_conversation_goes_with_that(engine, actor, what):
    said = HumanMessage(f"Ann has the {WORD}.", id="h/1")
    read(engine, said, thread="chat 1")
    read(engine, HumanMessage("Ann has tea.", id="h/1"), thread="chat 1", user="bob")
    read(engine, HumanMessage(f"Ann has a {WORD}.", id="h/1"), thread="chat 10")
    engine.forget(actor=actor, **what)
    left = {"alice": 1, "bob": 1 if actor is ALICE else 0}
    assert known(engine) == left


# Quoted, 30 Chinese letters are 270 characters: more than the graph keeps, and than a key may have.
@pytest.mark.parametrize("thread", ["谈" * 30, "a" * 200, "a" * 300, "a b" * 100])
def test_what_it_read_of_a_conversation_with_a_long_id_goes_with_that(engine, thread):
    said = HumanMessage(f"Ann has the {WORD}.", id="b7d2f0a4-0000-4000-8000-00000000000" + "1" * 30)
    read(engine, said, thread=thread)
    read(engine, HumanMessage("Ann has tea.", id="h"), thread=f"{thread}2")
    assert engine.graph.counts(actor=ALICE).evidence == 2
    report = engine.forget(thread=thread, actor=ALICE)
    assert report.removed == {"graph evidence": 1}
    assert engine.graph.counts(actor=ALICE).evidence == 1


def test_what_it_read_of_a_message_with_a_long_id_goes_with_that(engine):
    said = HumanMessage(f"Ann has the {WORD}.", id="谈" * 30)
    read(engine, said, thread="谈" * 30)
    engine.archive.commit("谈" * 30, "", "archive", [said], owner="alice", now=START)
    engine.forget(source=message_uri("谈" * 30, said.id) + "*", actor=ALICE)
    assert engine.graph.counts(actor=ALICE).evidence == 0


def test_what_it_read_of_a_message_goes_with_that_in_all_its_pieces(engine):
    long = HumanMessage("\n\n".join(f"Ann has the {WORD} {n}. " * 40 for n in range(9)), id="h")
    result = read(engine, long, HumanMessage("Ann has a dog.", id="g"))
    assert len(result["graph_evidence_ids"]) > 2
    engine.archive.commit("t", "", "archive", [long], owner="alice", now=START)
    engine.forget(source="message:t/h#*", actor=ALICE)
    counts = engine.graph.counts(actor=ALICE)
    assert (counts.evidence, counts.relations) == (1, 1)


def test_nobody_forgets_what_others_told_it(engine):
    engine.graph.add_triples([("Ann", "has", "tea")], actor=ALICE)
    engine.graph.add_triples([("Ann", "has", "milk")], actor=ADMIN)
    for what in ({"thread": "t"}, {"source": "app"}, {"source": "*"}, {"owner": "bob"}):
        engine.forget(actor=BOB, **what)
    assert known(engine) == {"alice": 2, "bob": 1}


def test_a_graph_that_cannot_follow_costs_no_change_and_follows_with_the_next_question(
    engine, monkeypatch, caplog
):
    (told,) = engine.add_texts(["Ann has a secret"])
    engine.graph.add_triples([("Ann", "has", WORD)], evidence=told)

    def full():
        raise StorageFullError("The disk of the graph is full.")

    with monkeypatch.context() as broken:
        broken.setattr(engine.graph, "sync", full)
        assert engine.delete([told]) == 1
    assert "the graph was not brought up to date: The disk of the graph is full." in caplog.text
    with pytest.raises(NotFoundError):
        engine.graph.neighbours("Ann")
