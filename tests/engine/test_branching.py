"""What a step of a conversation learns, it learns once."""

import pytest
from langchain_core.messages import HumanMessage

from langchain_memengine.conversation.lineage import join_heads
from langchain_memengine.errors import ConfigurationError, StorageError
from langchain_memengine.types import Actor
from tests.fakes.clock import START, FixedClock
from tests.fakes.engines import make_engine, texts


def test_a_retry_that_words_its_texts_otherwise_adds_nothing(engine):
    update = engine.commit("t", "", "fact", ["Ann likes tea."], learnt_from=["m1"])
    again = engine.commit("t", "", "fact", ["Ann is fond of tea."], learnt_from=["m1"])
    assert again == update
    assert texts(engine.search("tea")) == ["Ann likes tea."]


def test_an_edited_message_is_learnt_from_anew(engine):
    one, edited = HumanMessage("I like tea", id="1"), HumanMessage("I like milk", id="1")
    update = engine.commit("t", "", "fact", ["likes tea"], learnt_from=[one])
    again = engine.commit("t", "", "fact", ["x"], learnt_from=[one.model_copy(deep=True)])
    assert again == update
    assert engine.commit("t", "", "fact", ["likes milk"], learnt_from=[edited]) != update


def test_without_messages_the_texts_tell_commits_apart(engine):
    one = engine.commit("t", "", "fact", ["tea"])
    assert engine.commit("t", "", "fact", ["tea"]) == one
    assert engine.commit("t", "", "fact", ["milk"]) != one
    assert engine.commit("t", "", "fact", ["tea"], actor=Actor("ann")) != one


def test_blank_texts_are_no_commit(engine):
    assert engine.commit("t", "", "fact", []) == engine.commit("t", "", "fact", [" ", "\0"]) == ""
    assert join_heads("a", engine.commit("t", "", "fact", [])) == "a"
    assert engine.stats().change_counter == 0


def test_a_single_text_is_no_list(engine):
    with pytest.raises(ConfigurationError, match="single text"):
        engine.commit("t", "", "fact", "tea")


def test_what_was_learnt_says_when_and_where(engine):
    update = engine.commit("a/b", "", "fact", ["tea", "tea with milk"])
    hits = engine.search("tea").hits
    head = join_heads("", update)
    assert {hit.source for hit in hits} == {f"learnt:a%2Fb/{head}-1", f"learnt:a%2Fb/{head}-2"}
    assert {hit.event_at for hit in hits} == {START}


def test_a_reader_stores_nothing(tmp_path):
    make_engine(tmp_path).close()
    with (
        make_engine(tmp_path, read_only=True) as reader,
        pytest.raises(StorageError, match="read_only"),
    ):
        reader.commit("t", "", "fact", ["tea"])


def test_a_commit_keeps_the_time_it_was_first_made():
    clock = FixedClock()
    with make_engine(clock=clock) as engine:
        update = engine.commit("t", "", "fact", ["tea"])
        clock.pass_days(2)
        assert engine.commit("t", "", "fact", ["tea"]) == update
        assert texts(engine.search("tea", as_of=START)) == ["tea"]
