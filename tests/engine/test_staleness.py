"""How old what a search sees may be, when others write to the store."""

from datetime import timedelta

import pytest

from langchain_memengine.storage.transaction import Transaction
from tests.fakes.clock import START
from tests.fakes.engines import make_engine, texts


@pytest.fixture
def writer(tmp_path):
    with make_engine(tmp_path) as engine:
        engine.add_texts(["tea one", "tea two"], ids=["1", "2"])
        yield engine


@pytest.fixture
def replica(writer, tmp_path, clock):
    with make_engine(
        tmp_path, clock=clock, max_staleness_seconds=5, sync_on_search=False
    ) as engine:
        assert len(engine.search("tea").hits) == 2
        yield engine


@pytest.fixture
def asked(monkeypatch):
    """Return the list that each question for the counters adds to."""
    questions = []
    counters = Transaction.counters
    monkeypatch.setattr(Transaction, "counters", lambda tx: questions.append(1) or counters(tx))
    return questions


def test_counters_are_asked_for_at_most_so_often(replica, clock, asked):
    for tenth in range(100):  # ten seconds, a search each tenth
        clock.now = START + timedelta(seconds=tenth / 10)
        replica.search("tea")
    assert len(asked) == 1  # at 5.0; those of 0.0 were asked for when it was opened


def test_each_search_asks_where_nothing_else_is_set(tmp_path, asked):
    with make_engine(tmp_path, sync_on_search=False) as engine:
        engine.search("tea")
        before = len(asked)
        for _ in range(7):
            engine.search("tea")
        assert len(asked) == before + 7


def test_what_others_add_is_found_when_the_time_is_over(replica, writer, clock):
    writer.add_texts(["tea three"])
    clock.now = START + timedelta(seconds=4.9)
    assert set(texts(replica.search("tea"))) == {"tea one", "tea two"}
    clock.now = START + timedelta(seconds=5)
    assert set(texts(replica.search("tea"))) == {"tea one", "tea two", "tea three"}


def test_what_others_delete_is_never_returned(replica, writer):
    writer.delete(["1"])
    assert texts(replica.search("tea")) == ["tea two"]


def test_what_it_writes_itself_is_found_at_once(replica, writer):
    writer.add_texts(["tea three"])
    replica.add_texts(["tea four"])
    found = set(texts(replica.search("tea")))
    assert found == {"tea one", "tea two", "tea three", "tea four"}


def test_clock_that_was_put_back_asks_again(replica, writer, clock):
    writer.add_texts(["tea three"])
    clock.now = START - timedelta(days=1)
    assert len(replica.search("tea").hits) == 3


def test_looking_back_from_a_time_asks_in_any_case(replica, writer):
    writer.add_texts(["tea three"])
    found = replica.search("tea", as_of=START + timedelta(seconds=1))
    assert "tea three" in texts(found)
