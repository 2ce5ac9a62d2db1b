"""No text of one user is in any answer to another."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.runnables import RunnableConfig

from langchain_memengine.errors import NotFoundError, ScopeError
from langchain_memengine.faces.retriever import MemEngineRetriever
from langchain_memengine.types import Actor, Filter
from langchain_memengine.workspace.layout import slug
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine, texts, write

# Names that a careless folder name would make equal, or that would reach into another folder.
NAMES = st.sampled_from(
    [
        *("bob", "Bob", "BOB", "bob ", " bob", "bob.", "b/ob", "b-ob", "../bob", "bob\0"),
        *("alice", "Alice", "bob/../alice", "алиса", "con", "", "shared", "*"),
        *(slug("Bob"), slug(slug("Bob"))),
    ]
)
USERS = st.lists(NAMES | st.text(max_size=8), min_size=2, max_size=2, unique=True)


def mark(user):
    """Return a word that stands for a user and is part of no other user's."""
    return f"<{user.encode('utf-8', 'surrogatepass').hex()}>"


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    root = tmp_path_factory.mktemp("memory")
    with make_engine(root, embeddings=FakeEmbeddings()) as engine:
        yield engine


@settings(max_examples=25)
@given(users=USERS, query=st.sampled_from(["tea", "tea pinned daily added", "unrelated words"]))
def test_nothing_of_another_user_is_in_any_answer(engine, users, query):
    mine, theirs = (Actor(user) for user in users)
    for user in users:
        if user:  # the empty owner means everyone's files
            write(engine.root, f"users/{slug(user)}/MEMORY.md", f"tea pinned by {mark(user)}")
            engine.append_daily("note", f"tea daily of {mark(user)}", owner=user)
        engine.add_texts([f"tea added by {mark(user)}"], ids=["same"], actor=Actor(user))
    own = engine.search("tea", 50, actor=mine)
    assert any(f"added by {mark(mine.user_id)}" in text for text in texts(own))
    foreign = engine.search("tea", 50, actor=theirs).hits
    answers = [
        *engine.search(query, 50, actor=mine).hits,
        *engine.search(query, 50, actor=mine, filter=Filter(scope="personal")).hits,
        *engine.search(query, 50, actor=mine, filter=Filter(path="users/**")).hits,
        *engine.search(query, 50, actor=mine, filter=Filter(source="*")).hits,
        *engine.search(query, 50, actor=mine, ranking="profclaw").hits,
    ]
    assert {hit.owner for hit in answers} <= {"", slug(mine.user_id)}
    for hit in foreign:
        if hit.owner == slug(theirs.user_id):
            assert hit.id not in {answer.id for answer in answers}
            with pytest.raises(NotFoundError):
                engine.explain(query, hit.id, actor=mine)
    recalled = engine.recall(query, 50, actor=mine)
    assert {hit.owner for hit in recalled.hits} <= {"", slug(mine.user_id)}
    assert mark(theirs.user_id) not in recalled.pinned
    retriever = MemEngineRetriever(engine=engine, k=50)
    expected = [hit.id for hit in engine.search(query, 50, actor=mine).hits]
    assert [one.id for one in retriever.invoke(query, user_id=mine.user_id)] == expected
    of_run: RunnableConfig = {"configurable": {"user_id": mine.user_id}}
    if mine.user_id:
        assert [one.id for one in retriever.invoke(query, of_run)] == expected
    else:
        with pytest.raises(ScopeError, match="is empty"):
            retriever.invoke(query, of_run)


def test_users_do_not_influence_each_others_scores():
    with (
        make_engine(embeddings=FakeEmbeddings()) as alone,
        make_engine(embeddings=FakeEmbeddings()) as crowded,
    ):
        for engine in (alone, crowded):
            engine.add_texts(["tea with milk", "tea", "milk"], ids=list("abc"), actor=Actor("a"))
        crowded.add_texts([f"tea {i}" for i in range(50)], actor=Actor("b"))
        found = [
            [(hit.id, hit.score) for hit in engine.search("tea milk", actor=Actor("a")).hits]
            for engine in (alone, crowded)
        ]
        assert found[0] == found[1]


def test_folder_a_person_named_after_a_user_is_that_users_alone(tmp_path):
    write(tmp_path, "users/Bob/a.md", "tea")
    with make_engine(tmp_path) as engine:
        engine.sync()
        assert texts(engine.search("tea", actor=Actor("Bob"))) == ["tea"]
        for user in ("bob", "BOB", "local", slug("Bob")):
            assert engine.search("tea", actor=Actor(user)).hits == ()
