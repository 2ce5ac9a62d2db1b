"""Names of what conversations leave in memory: apart from one another, below their thread's."""

from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.conversation.source_uris import (
    learnt_prefix,
    learnt_source,
    message_source,
    summarised_by,
    summary_source,
    thread_source,
)

IDS = st.sampled_from(["a", "a/b", "a#b", "(summary)", "%28summary%29", "*", "ä", "", "a b"])


def test_sources_are_spelt_like_this():
    assert message_source("t 1", "m/2", "c3") == "message:t%201/m%2F2#c3"
    assert summary_source("t", "c3") == "message:t/(summary)#c3"
    assert learnt_source("t", "c3", 4) == "learnt:t/c3-4"
    assert summarised_by("message:t/(summary)#c3") == "c3"


@given(st.tuples(IDS, IDS), st.tuples(IDS, IDS))
def test_only_the_same_message_has_the_same_source(one, other):
    assert (message_source(*one, "c") == message_source(*other, "c")) == (one == other)


@given(IDS, IDS, IDS)
def test_sources_begin_with_their_threads_and_with_no_other_ones(thread, message, other):
    source = message_source(thread, message, "c")
    assert source != summary_source(thread, "c")
    assert summarised_by(source) is None
    assert summarised_by(summary_source(thread, "c")) == "c"
    assert source.startswith(thread_source(other)) == (thread == other)
    assert learnt_source(thread, "c", 1).startswith(learnt_prefix(other)) == (thread == other)
