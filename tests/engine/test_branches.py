"""What a search sees of what conversations learnt: from a branch, from outside, at a time."""

from datetime import timedelta

import pytest

from langchain_memengine.conversation.lineage import join_heads
from langchain_memengine.errors import ConfigurationError, UnknownCommitError
from langchain_memengine.faces.retriever import MemEngineRetriever
from langchain_memengine.retrieval.branches import Branches
from langchain_memengine.retrieval.query import Vantage
from langchain_memengine.types import (
    Actor,
    Filter,
)
from tests.fakes.clock import START, FixedClock
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine, texts, write


@pytest.fixture(params=[None, FakeEmbeddings()], ids=["keyword", "vector"])
def engine(request):
    with make_engine(embeddings=request.param) as engine:
        engine.add_texts(["tea free"])
        yield engine


def learn(engine, head, text, *, thread="t", checkpoint=None, **options):
    update = engine.commit(thread, head, "fact", [text], checkpoint_id=checkpoint, **options)
    return join_heads(head, update)


def seen(engine, **options):
    return sorted(texts(engine.search("tea", 50, **options)))


@pytest.fixture
def forked(engine):
    """Heads of a thread that learnt a, then b, and on another branch after a, c; and of another."""
    a = learn(engine, "", "tea a")
    b = learn(engine, a, "tea b")
    c = learn(engine, a, "tea c")
    other = learn(engine, "", "tea other", thread="u")
    return {"a": a, "b": b, "c": c, "other": other}


def test_outside_a_thread_its_newest_branch_is_visible(engine, forked):
    assert seen(engine) == ["tea a", "tea c", "tea free", "tea other"]
    assert seen(engine, thread_id="t") == seen(engine, thread_id="u") == seen(engine)


@pytest.mark.parametrize(("at", "own"), [("a", ["a"]), ("b", ["a", "b"]), ("c", ["a", "c"])])
def test_inside_a_thread_its_own_branch_is_visible(engine, forked, at, own):
    expected = sorted([*(f"tea {name}" for name in own), "tea free", "tea other"])
    assert seen(engine, thread_id="t", head=forked[at]) == expected
    recalled = engine.recall("tea", 50, thread_id="t", head=forked[at])
    assert sorted(hit.text for hit in recalled.hits) == expected
    retriever = MemEngineRetriever(engine=engine, k=50, head=forked[at])
    config = {"configurable": {"thread_id": "t"}}
    for found in (
        retriever.invoke("tea", config),
        retriever.invoke("tea", thread_id="t"),
        MemEngineRetriever(engine=engine, k=50).invoke("tea", config, head=forked[at]),
    ):
        assert sorted(document.page_content for document in found) == expected


def test_before_its_first_commit_a_thread_has_nothing(engine, forked):
    assert seen(engine, thread_id="t", head="") == ["tea free", "tea other"]
    assert seen(engine, thread_id="new", head="") == seen(engine)


def test_several_heads_see_all_their_branches(engine, forked):
    both = f"{forked['b']}+{forked['c']}"
    assert [t for t in seen(engine, thread_id="t", head=both) if len(t) == 5] == [
        "tea a",
        "tea b",
        "tea c",
    ]


def test_what_an_abandoned_branch_learnt_comes_back_when_it_goes_on(engine, forked):
    learn(engine, forked["b"], "tea d")
    assert seen(engine) == ["tea a", "tea b", "tea d", "tea free", "tea other"]


def test_personal_facts_of_a_branch_are_their_owners_alone(engine):
    ann = Actor("ann")
    head = learn(engine, "", "tea of ann", actor=ann)
    assert seen(engine, thread_id="t", head=head) == ["tea free"]
    assert seen(engine, thread_id="t", head=head, actor=ann) == ["tea free", "tea of ann"]
    assert seen(engine, thread_id="t", head="", actor=ann) == ["tea free"]


def test_the_best_are_chosen_among_what_is_visible(engine):
    fork = learn(engine, "", "nothing")
    for number in range(30):
        learn(engine, fork, f"tea tea tea hidden{number}")
    learn(engine, fork, "last")
    assert texts(engine.search("tea", 1)) == ["tea free"]
    learn(engine, fork, "tea seen")
    wanted = Filter(source="learnt:*")
    assert texts(engine.search("tea", 1, filter=wanted)) == ["tea seen"]


def test_branches_that_are_joined_are_both_seen_again(engine, forked):
    assert "tea b" not in seen(engine)
    learn(engine, f"{forked['b']}+{forked['c']}", "tea d")
    assert seen(engine) == ["tea a", "tea b", "tea c", "tea d", "tea free", "tea other"]


def test_nothing_hidden_is_no_mask_so_that_any_index_may_answer(engine):
    learn(engine, learn(engine, "", "tea a"), "tea b")
    with engine._database.read() as tx:
        now = tx.counters()
        view = engine._searcher._partitions.view(tx, now, ("shared",), None)
        assert Branches().unseen(tx, view, now, Vantage()) == (frozenset(), None)
        hidden = Branches().unseen(tx, view, now, Vantage("t", ""))
    assert len(hidden.hidden) == 2
    assert hidden.mask.tolist() == [True, False, False]


def test_filters_and_branches_both_hold(engine, forked):
    wanted = Filter(source="learnt:t/*")
    assert seen(engine, filter=wanted) == ["tea a", "tea c"]
    assert seen(engine, filter=wanted, thread_id="t", head=forked["a"]) == ["tea a"]


@pytest.mark.parametrize("head", ["nonsense", "other"])
def test_an_unknown_or_foreign_head_is_named(engine, forked, head):
    with pytest.raises(UnknownCommitError, match=r"no memory commit of the thread 't'"):
        engine.search("tea", thread_id="t", head=forked.get(head, head))
    with pytest.raises(UnknownCommitError):
        engine.commit("t", forked.get(head, head), "fact", ["x"])


def test_a_head_in_a_store_without_commits_is_unknown(engine):
    with pytest.raises(UnknownCommitError):
        engine.search("tea", thread_id="t", head="x")


def test_a_head_needs_its_thread(engine, forked):
    with pytest.raises(ConfigurationError, match="thread_id"):
        engine.search("tea", head=forked["a"])


def test_explain_says_that_another_branch_learnt_it(engine, forked):
    hit = engine.search("tea b", 1, thread_id="t", head=forked["b"]).hits[0]
    answer = engine.explain("tea b", hit.id)
    assert (answer.found, answer.hit) == (False, None)
    assert "another branch of its conversation, or later" in answer.reason
    assert engine.explain("tea b", hit.id, thread_id="t", head=forked["b"]).found
    yesterday = START - timedelta(days=1)
    assert "or later" in engine.explain("tea b", hit.id, as_of=yesterday).reason
    free = engine.search("free", 1).hits[0]
    assert "not stored then" in engine.explain("free", free.id, as_of=yesterday).reason


def test_as_of_a_head_or_a_time_is_what_was_known_then(tmp_path):
    clock = FixedClock()
    write(tmp_path, "a.md", "tea file")
    with make_engine(tmp_path, clock=clock) as engine:
        head, known = "", []
        for number, (thread, text) in enumerate([("t", "1"), ("u", "2"), ("t", "3"), ("t", "4")]):
            parent = known[0][0] if number == 3 else (head if thread == "t" else "")
            made = learn(engine, parent, f"tea {text}", thread=thread)
            head = made if thread == "t" else head
            known.append((made, clock.now))
            engine.add_texts([f"tea added {text}"])
            clock.pass_days(1)
        expected = [  # the text added after the commit has the same time
            ["tea 1", "tea added 1"],
            ["tea 1", "tea 2", "tea added 1", "tea added 2"],
            ["tea 1", "tea 2", "tea 3", "tea added 1", "tea added 2", "tea added 3"],
            ["tea 1", "tea 2", "tea 4", *(f"tea added {n}" for n in "1234")],
        ]
        for (made, at), then in zip(known, expected, strict=True):
            assert seen(engine, as_of=made) == seen(engine, as_of=at) == sorted([*then, "tea file"])
            assert seen(engine, as_of=at.replace(tzinfo=None)) == sorted([*then, "tea file"])
        assert seen(engine, as_of=START - timedelta(days=1)) == ["tea file"]
        assert seen(engine, as_of=clock.now) == seen(engine)
        then = engine.search("tea", 50, as_of=START)
        assert then.degraded == ("as_of: files are as they are now.",)
        assert {hit.receipt.age_days for hit in then.hits} == {0.0}
        assert engine.search("added", as_of=START).degraded == ()
        assert seen(engine, thread_id="t", head=known[2][0], as_of=START) == sorted(
            [*expected[0], "tea file"]
        )


def test_as_of_a_head_holds_while_time_goes_on():
    class Running(FixedClock):
        def __call__(self):
            self.now += timedelta(milliseconds=7)
            return self.now

    with make_engine(clock=Running()) as engine:
        a = learn(engine, "", "tea a")
        other = learn(engine, "", "tea other", thread="u")
        b = learn(engine, a, "tea b")
        assert seen(engine, as_of=a) == ["tea a"]
        assert seen(engine, as_of=other) == ["tea a", "tea other"]
        found = MemEngineRetriever(engine=engine, as_of=a).invoke("tea")
        assert [document.page_content for document in found] == ["tea a"]
        assert seen(engine, as_of=b) == ["tea a", "tea b", "tea other"]


def test_as_of_nothing_or_beside_a_head_is_refused(engine, forked):
    for options in ({"as_of": ""}, {"as_of": forked["a"], "thread_id": "t", "head": forked["b"]}):
        with pytest.raises(ConfigurationError, match="must be a time or a head"):
            engine.search("tea", **options)
    for options in ({"as_of": "nonsense"}, {"as_of": forked["a"], "thread_id": "u"}):
        with pytest.raises(UnknownCommitError):
            engine.search("tea", **options)


def statements(engine, query):
    """Return the SQL that a search sends once everything is in memory."""
    engine.search(query)
    sent = []
    (reader,) = engine._database._readers
    driver = reader.connection.dbapi_connection
    driver.set_trace_callback(sent.append)
    engine.search(query)
    driver.set_trace_callback(None)
    return [statement.split()[0] for statement in sent], " ".join(sent)


def test_a_store_without_commits_pays_nothing(tmp_path):
    with make_engine(tmp_path, sync_on_search=False) as engine:
        engine.add_texts(["tea"])
        kinds, sent = statements(engine, "tea")
        assert kinds == ["BEGIN", "SELECT", "SELECT", "COMMIT"]  # counters, and the rows of hits
        assert "commits" not in sent
        assert "thread_heads" not in sent


def test_what_is_hidden_is_read_once_for_each_change(tmp_path):
    with make_engine(tmp_path, sync_on_search=False) as engine:
        fork = learn(engine, "", "tea a")
        learn(engine, fork, "tea hidden")
        learn(engine, fork, "tea c")
        kinds, _ = statements(engine, "tea")
        assert kinds == ["BEGIN", "SELECT", "SELECT", "COMMIT"]
        assert seen(engine) == ["tea a", "tea c"]


def test_another_process_sees_the_moved_heads(tmp_path):
    with make_engine(tmp_path) as one, make_engine(tmp_path) as two:
        a = learn(one, "", "tea a")
        b = learn(one, a, "tea b")
        assert seen(two) == ["tea a", "tea b"]
        learn(two, a, "tea c")
        assert seen(one) == ["tea a", "tea c"]
        learn(one, b, "tea d")
        assert seen(two) == ["tea a", "tea b", "tea d"]
    with make_engine(tmp_path, read_only=True) as again:
        assert seen(again) == ["tea a", "tea b", "tea d"]
        assert seen(again, as_of=a) == ["tea a"]
