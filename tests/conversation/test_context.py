"""Context management without a graph."""

import asyncio

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from langchain_memengine.conversation.compaction import CompactionLimits
from langchain_memengine.conversation.context import (
    acompact_messages,
    compact_messages,
    get_memory_stats,
    needs_compaction,
)
from tests.fakes.chat_models import ScriptedChatModel
from tests.fakes.graphs import ids

# 400 characters and a message cost 103 tokens.
LONG = [HumanMessage("Kilns. ".ljust(400, "x"), id=f"h{n}") for n in range(5)]
LIMITS = CompactionLimits(max_tokens=400)


def test_stats_tell_how_full_the_window_is():
    messages = [SystemMessage("abcd"), HumanMessage("abcd"), AIMessage("a" * 400)]
    stats = get_memory_stats(messages, limits=CompactionLimits(max_tokens=222))
    assert (stats.messages, stats.tokens, stats.share) == (3, 111, 0.5)
    assert stats.by_role == {"System": 4, "Person": 4, "Assistant": 103}
    assert (stats.token_limit, stats.message_limit) == (222, 0)
    counted = get_memory_stats(messages, limits=CompactionLimits(max_tokens=0, max_messages=2))
    assert (counted.share, counted.message_limit) == (1.5, 2)
    assert get_memory_stats([]).share == 0
    assert (
        get_memory_stats(messages, limits=CompactionLimits(max_tokens=0, max_messages=0)).share == 0
    )


def test_compaction_is_needed_beyond_the_limit_or_three_quarters_of_the_models_window():
    assert not needs_compaction(LONG)
    assert needs_compaction(LONG, limits=LIMITS)
    assert not needs_compaction(LONG, limits=CompactionLimits(max_tokens=515))
    small = ScriptedChatModel(profile={"max_input_tokens": 600})
    assert needs_compaction(LONG, small)
    assert not needs_compaction(LONG, small, limits=CompactionLimits(input_tokens=9000))
    assert not needs_compaction(LONG, ScriptedChatModel())


@pytest.mark.parametrize("model", [None, ScriptedChatModel(replies=["Of kilns."])])
def test_compaction_returns_what_stays_what_went_and_the_summary(model):
    result = compact_messages(LONG, model, summary="Before.", limits=LIMITS)
    assert (ids(result.archived), ids(result.messages)) == (["h0", "h1", "h2"], ["h3", "h4"])
    assert result.summary.startswith("Before.\n\n")
    assert ("Of kilns." if model else "Kilns.") in result.summary
    assert (result.tokens_before, result.tokens_after) == (515, 206)
    assert (result.over_limit, result.note) == (False, "")
    assert asyncio.run(acompact_messages(LONG, model, summary="Before.", limits=LIMITS)) == result
    again = compact_messages(result.messages, model, summary=result.summary, limits=LIMITS)
    assert (again.messages, again.summary, again.archived) == (result.messages, result.summary, ())


def test_failing_model_trims_nothing_and_says_so():
    model = ScriptedChatModel(replies=[TimeoutError()])
    result = compact_messages(LONG, model, summary="Before.", limits=LIMITS)
    assert (list(result.messages), result.archived, result.summary) == (LONG, (), "Before.")
    assert result.note == "The chat model failed with TimeoutError. Nothing was trimmed this time."
    assert result.over_limit
    hard = CompactionLimits(max_tokens=400, hard_limit=500)
    result = compact_messages(LONG, model, limits=hard)
    assert len(result.archived) == 3
    assert "beyond the hard limit" in result.note
    assert "Kilns." in result.summary
