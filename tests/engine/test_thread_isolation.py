"""What a conversation leaves in memory reaches those it ran for, and who names it; no one else."""

import re
from collections import defaultdict

from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage

from langchain_memengine.conversation.compaction import CompactionLimits
from langchain_memengine.errors import NotFoundError
from langchain_memengine.faces.nodes import flush_node, summarization_node
from langchain_memengine.faces.retriever import MemEngineRetriever
from langchain_memengine.types import Actor
from tests.fakes.engines import make_engine
from tests.fakes.graphs import chat_graph, config

USERS = ("anna", "Bob", "cleo", "local", "thread:dora")  # "local" is the engine's own, an admin
THREADS = ("t0", "t1", "t2")
TURNS = st.lists(
    st.tuples(st.sampled_from(THREADS), st.sampled_from(USERS), st.sampled_from((None, *USERS))),
    min_size=8,
    max_size=16,
)
_MARK = re.compile(r"mark\d+")


def answer(state):
    """Repeat what was asked, so that both sides of a turn carry its mark."""
    return {"messages": [AIMessage(f"tea, yes: {state['messages'][-1].content}")]}


def marks(texts):
    """Return the marks in all texts."""
    return {mark for text in texts for mark in _MARK.findall(text)}


def graph_of(engine, thread):
    """Return a graph that compacts after two turns; that of the last thread flushes instead."""
    if thread == THREADS[-1]:
        return chat_graph(flush_node(engine, flush_tokens=1), model=answer)
    limits = CompactionLimits(max_tokens=0, max_messages=4)
    return chat_graph(summarization_node(engine, limits=limits), model=answer)


# Shrinking runs hundreds of conversations more: a failure shows the turns that led to it as it is.
@settings(max_examples=8, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(TURNS)
def test_nothing_of_a_thread_is_in_a_foreign_answer(turns):
    with make_engine() as engine:
        graphs = {thread: graph_of(engine, thread) for thread in THREADS}
        ran_for = defaultdict(set)
        archived = defaultdict(set)  # marks by the user, or the thread, whose archive has them
        for number, (thread, user, name) in enumerate(turns):
            ran_for[thread].add(user)
            asked = HumanMessage(f"tea of mark{number} please", name=name)
            before = graphs[thread].get_state(config(thread)).values.get("messages", [])
            after = graphs[thread].invoke({"messages": [asked]}, config(thread, user_id=user))
            kept = {message.id for message in after["messages"]}
            gone = marks(str(m.content) for m in before if m.id not in kept)
            owner = user if ran_for[thread] == {user} else thread
            archived[owner] |= gone
        for user in USERS:
            check_answers(engine, Actor(user, is_admin=user == "local"), archived)


def check_answers(engine, actor, archived):
    own = archived[actor.user_id]
    assert answers(engine, actor, None) == own
    for thread in THREADS:
        assert answers(engine, actor, thread) == own | archived[thread]
        check_restored(engine, actor, thread, own | archived[thread])
    others = [user for user in USERS if user != actor.user_id]
    files = [engine._notes.read(name) for name in engine.list_files(actor.user_id)]
    assert marks(files) <= own
    assert engine.list_files() == []
    assert not marks(engine.read_memory(user) for user in others)


def answers(engine, actor, thread):
    """Return the marks in what an actor is told, however they ask."""
    by_search = engine.search("tea", 500, actor=actor, thread_id=thread).hits
    by_recall = engine.recall("tea", 500, actor=actor, thread_id=thread).prompt_fragment()
    asked = {"user_id": actor.user_id, "thread_id": thread}
    documents = MemEngineRetriever(engine=engine, k=500).invoke("tea", {"configurable": asked})
    found = marks(hit.text for hit in by_search)
    assert marks([by_recall]) == found
    assert marks(document.page_content for document in documents) == found
    return found


def check_restored(engine, actor, thread, readable):
    messages = engine.restore(thread, actor=actor)
    assert marks(str(message.content) for message in messages) <= readable
    for user in USERS:
        for message in engine.restore(thread, actor=Actor(user)):
            if not marks([str(message.content)]) <= readable:
                try:
                    engine.restore(thread, [message.id], actor=actor)
                except NotFoundError:
                    continue
                raise AssertionError(f"{actor.user_id} was given {message.content!r}")
