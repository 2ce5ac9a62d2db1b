"""The messages of a session in the database: their order, their ids, and whose they are."""

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage

from langchain_memengine.conversation.history import SqlHistory
from langchain_memengine.errors import ConfigurationError
from langchain_memengine.storage.database import Database
from tests.fakes.clock import START, FixedClock


@pytest.fixture
def database():
    database = Database("sqlite://", store_id="s", now=START, busy_timeout_ms=0)
    yield database
    database.close()


def history(database, session="s1", owner="anna"):
    return SqlHistory(database, session, owner=owner, clock=FixedClock())


def test_messages_come_back_in_order_and_others_have_none_of_them(database):
    said = [HumanMessage("Hello.", id="1"), AIMessage("Hi.", id="2")]
    history(database).add(said[:1])
    history(database).add(said[1:])
    assert history(database).read() == said
    assert history(database, owner="bob").read() == []
    assert history(database, session="s2").read() == []


def test_a_message_without_an_id_gets_one_and_is_known_again(database):
    message = HumanMessage("Hello.")
    history(database).add([message])
    history(database).add([message])
    assert message.id
    assert history(database).read() == [message]


def test_a_streamed_chunk_becomes_a_whole_message(database):
    history(database).add([AIMessageChunk("Hi.", id="1")])
    (found,) = history(database).read()
    assert type(found) is AIMessage
    assert found.content == "Hi."


def test_clearing_leaves_the_histories_of_others(database):
    for owner in ("anna", "bob"):
        history(database, owner=owner).add([HumanMessage("Hello.", id="1")])
    history(database).clear()
    assert history(database).read() == []
    assert len(history(database, owner="bob").read()) == 1


@pytest.mark.parametrize("session", ["", "x" * 256])
def test_a_session_that_cannot_be_stored_is_refused(database, session):
    with pytest.raises(ConfigurationError, match="A thread id of"):
        history(database, session)
