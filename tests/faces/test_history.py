"""The chat history keeps every message once, in order, for its user alone."""

import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.runnables.history import RunnableWithMessageHistory

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.faces.history import MemEngineChatMessageHistory
from tests.fakes.engines import make_engine


@pytest.fixture
def engine(tmp_path):
    with make_engine(tmp_path) as engine:
        yield engine


def contents(history):
    return [message.content for message in history.messages]


def test_messages_come_back_equal_and_in_order(engine):
    history = MemEngineChatMessageHistory(engine, "s")
    given = [HumanMessage("Привет", id="1"), AIMessage("hi", id="2", tool_calls=[])]
    history.add_messages(given)
    history.add_user_message("more")
    assert history.messages[:2] == given
    assert contents(MemEngineChatMessageHistory(engine, "s")) == ["Привет", "hi", "more"]


def test_missing_ids_are_assigned_and_known_ids_are_not_added_again(engine):
    history = MemEngineChatMessageHistory(engine, "s")
    yes = HumanMessage("yes")
    history.add_messages([yes, HumanMessage("yes")])
    history.add_messages([yes, HumanMessage("edited", id=yes.id)])
    assert contents(history) == ["yes", "yes"]
    first, second = history.messages
    assert first.id == yes.id
    assert first.id != second.id


def test_chunks_of_a_stream_become_messages(engine):
    history = MemEngineChatMessageHistory(engine, "s")
    history.add_messages([AIMessageChunk("hi", id="1")])
    (message,) = history.messages
    assert type(message) is AIMessage


def test_sessions_and_users_are_apart(engine):
    for user, session, text in ((None, "s", "mine"), ("ann", "s", "ann's"), ("ann", "t", "other")):
        MemEngineChatMessageHistory(engine, session, user_id=user).add_user_message(text)
    ann = MemEngineChatMessageHistory(engine, "s", user_id="ann")
    assert contents(ann) == ["ann's"]
    ann.clear()
    assert contents(ann) == []
    assert contents(MemEngineChatMessageHistory(engine, "s")) == ["mine"]
    assert contents(MemEngineChatMessageHistory(engine, "t", user_id="ann")) == ["other"]


def test_a_session_needs_an_id(engine):
    with pytest.raises(ConfigurationError):
        MemEngineChatMessageHistory(engine, "")


def test_a_long_history_is_read_whole(engine):
    history = MemEngineChatMessageHistory(engine, "s")
    history.add_messages([HumanMessage("long " * 2000, id=str(number)) for number in range(300)])
    assert len(history.messages) == len(history.messages) == 300


def test_threads_that_write_at_once_lose_nothing_and_keep_their_own_order(engine):
    def write(writer):
        history = MemEngineChatMessageHistory(engine, "s")
        for number in range(10):
            history.add_messages([HumanMessage(f"{writer} {number} {part}") for part in "ab"])

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(write, "xyz"))
    found = contents(MemEngineChatMessageHistory(engine, "s"))
    assert len(found) == 60
    for writer in "xyz":
        mine = [text for text in found if text.startswith(writer)]
        assert mine == [f"{writer} {number} {part}" for number in range(10) for part in "ab"]
    pairs = list(zip(found[::2], found[1::2], strict=True))
    assert all(one[:-1] == two[:-1] for one, two in pairs)  # what was added together stays so


@pytest.fixture
def chat(engine):
    def answer(messages):
        if messages[-1].content == "fail":
            raise ValueError("no answer")
        return AIMessage(f"answer {len(messages)}")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # LangChain says that it is deprecated
        return RunnableWithMessageHistory(
            RunnableLambda(answer), lambda session: MemEngineChatMessageHistory(engine, session)
        )


CONFIG = {"configurable": {"session_id": "s"}}


def test_turns_of_a_runnable_are_saved_once(engine, chat):
    for text in ("one", "two"):
        chat.invoke([HumanMessage(text)], CONFIG)
    history = MemEngineChatMessageHistory(engine, "s")
    assert contents(history) == ["one", "answer 1", "two", "answer 3"]
    with pytest.raises(ValueError, match="no answer"):
        chat.invoke([HumanMessage("fail")], CONFIG)
    assert len(history.messages) == 4


async def test_turns_of_an_async_runnable_are_saved_once(engine, chat):
    await chat.ainvoke([HumanMessage("one")], CONFIG)
    async for _ in chat.astream([HumanMessage("two")], CONFIG):
        pass
    history = MemEngineChatMessageHistory(engine, "s")
    assert [message.content for message in await history.aget_messages()] == [
        "one",
        "answer 1",
        "two",
        "answer 3",
    ]
    assert {type(message) for message in history.messages} == {HumanMessage, AIMessage}


def test_making_one_warns_of_nothing_and_says_what_to_use_instead(engine):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MemEngineChatMessageHistory(engine, "s")
    assert "2.0" in MemEngineChatMessageHistory.__doc__
    assert "checkpointer" in MemEngineChatMessageHistory.__doc__
