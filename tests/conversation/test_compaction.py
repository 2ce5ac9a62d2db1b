"""Plans worked out by hand; the contract is checked at large in test_contract."""

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from langchain_memengine.conversation.compaction import (
    CompactionLimits,
    leading_system,
    plan_compaction,
    removable_ids,
    tool_groups,
    with_ids,
)
from langchain_memengine.errors import ConfigurationError
from tests.fakes.graphs import ids


def ten(message: BaseMessage) -> int:
    return 10


def human(one: str) -> HumanMessage:
    return HumanMessage("Go on.", id=one)


def ai(one: str, *calls: str) -> AIMessage:
    return AIMessage("", id=one, tool_calls=[{"name": "f", "args": {}, "id": c} for c in calls])


def tool(one: str, call: str) -> ToolMessage:
    return ToolMessage("r", id=one, tool_call_id=call)


def chat(turns: int) -> list[BaseMessage]:
    return [m for n in range(turns) for m in (human(f"h{n}"), ai(f"a{n}"))]


@pytest.mark.parametrize(
    ("limits", "tokens", "messages"),
    [
        (CompactionLimits(), 40_000, 0),
        (CompactionLimits(max_tokens=0), 0, 40),
        (CompactionLimits(max_tokens=0, flush_tokens=80_000), 40_000, 40),
        (CompactionLimits(flush_tokens=30_000), 15_000, 0),
        (CompactionLimits(input_tokens=8_000), 6_000, 0),
        (CompactionLimits(max_tokens=0, max_messages=0), 0, 0),
        (CompactionLimits(max_tokens=-1, max_messages=-1), 0, 0),
    ],
)
def test_limit_is_the_smallest_one(limits, tokens, messages):
    assert (limits.token_limit, limits.message_limit) == (tokens, messages)


def test_nothing_goes_at_the_limit_and_all_above_sixty_percent_beyond():
    limits = CompactionLimits(max_tokens=100)
    assert plan_compaction(chat(5), limits, ten).archived == ()
    plan = plan_compaction(chat(6), limits, ten)
    assert ids(plan.kept) == ["h3", "a3", "h4", "a4", "h5", "a5"]
    assert (plan.tokens_before, plan.tokens_after, plan.over_limit) == (120, 60, False)
    assert plan.removable == ("h0", "a0", "h1", "a1", "h2", "a2")


def test_forty_messages_are_kept_and_of_forty_two_the_newest_twenty_four():
    limits = CompactionLimits(max_tokens=0)
    assert plan_compaction(chat(20), limits).archived == ()
    plan = plan_compaction(chat(21), limits)
    assert len(plan.kept) == 24
    assert plan.kept[0].id == "h9"


def test_history_is_held_to_half_of_the_flush_as_well():
    limits = CompactionLimits(max_tokens=0, flush_tokens=200)
    plan = plan_compaction(chat(6), limits, ten)
    assert len(plan.kept) == 6  # 60 % of 100 tokens, though 12 messages are below 40


def test_last_turn_stays_however_long():
    messages = [*chat(3), human("h"), *[ai(f"x{n}") for n in range(20)]]
    plan = plan_compaction(messages, CompactionLimits(max_tokens=100), ten)
    assert plan.kept[0].id == "h"
    assert (len(plan.kept), plan.over_limit) == (21, True)
    assert plan.note == "What must stay exceeds the limit: 210 tokens are left."
    assert plan_compaction(plan.kept, CompactionLimits(max_tokens=100), ten).archived == ()


def test_no_human_message_and_nothing_goes():
    messages = [ai(f"a{n}") for n in range(20)]
    plan = plan_compaction(messages, CompactionLimits(max_tokens=100), ten)
    assert (list(plan.kept), plan.over_limit) == (messages, True)


def test_leading_system_messages_stay():
    system = [SystemMessage("a", id="s1"), SystemMessage("b", id="s2")]
    messages = [*system, *chat(3), SystemMessage("late", id="s3"), *chat(6)[6:]]
    plan = plan_compaction(messages, CompactionLimits(max_tokens=100), ten)
    assert ids(plan.kept) == ["s1", "s2", "h4", "a4", "h5", "a5"]
    assert ids(plan.pinned) == ["s1", "s2"]
    assert "s3" in ids(plan.archived)
    assert leading_system(system) == 2


def test_pin_keeps_the_first_task_with_the_answer_that_closed_it():
    first = [human("h"), ai("a1", "c"), tool("t1", "c"), AIMessage("Done.", id="a2")]
    limits = CompactionLimits(max_tokens=100, pin_first=True)
    plan = plan_compaction([*first, *chat(5)], limits, ten)
    assert ids(plan.kept) == ["h", "a2", "h3", "a3", "h4", "a4"]
    assert ids(plan.pinned) == ["h", "a2"]
    assert plan_compaction(plan.kept, CompactionLimits(max_tokens=50, pin_first=True), ten).kept[
        :2
    ] == (first[0], first[3])


def test_pin_of_a_turn_without_an_answer_is_the_message_alone():
    first = [human("h"), ai("a1", "c"), tool("t1", "c")]
    limits = CompactionLimits(max_tokens=100, pin_first=True)
    plan = plan_compaction([*first, *chat(5)], limits, ten)
    assert ids(plan.kept) == ["h", "h3", "a3", "h4", "a4"]


def test_cut_before_a_late_result_moves_to_an_earlier_turn():
    messages = [*chat(3), human("x"), ai("y", "c"), human("z"), tool("t", "c")]
    plan = plan_compaction(messages, CompactionLimits(max_tokens=45), ten)
    assert ids(plan.kept) == ["x", "y", "z", "t"]
    assert not plan.over_limit


@pytest.mark.parametrize(
    ("messages", "begins", "orphans"),
    [
        ([], [0], set()),
        ([human("h"), ai("a", "1", "2"), tool("t", "2"), tool("u", "1")], [0, 1, 1, 1, 4], set()),
        ([tool("t", "1"), ai("a", "1")], [0, 1, 2], {0}),
        ([ai("a", "1"), ai("b", "2"), tool("t", "1"), tool("u", "2")], [0, 0, 0, 0, 4], set()),
        ([ai("a", "1"), tool("t", "1"), ai("b", "1"), tool("u", "1")], [0, 0, 2, 2, 4], set()),
        ([ai("a", "1"), human("h"), human("i")], [0, 1, 2, 3], set()),
        ([ai("a", "1"), tool("t", "1"), tool("u", "1")], [0, 0, 0, 3], set()),
    ],
)
def test_groups_of_calls_and_results(messages, begins, orphans):
    assert tool_groups(messages) == (begins, orphans)


def test_result_of_an_unreadable_call_is_no_orphan():
    broken = {"name": "f", "args": "{", "id": "c", "error": "no JSON"}
    messages = [AIMessage("", id="a", invalid_tool_calls=[broken]), tool("t", "c")]
    assert tool_groups(messages) == ([0, 0, 2], set())


def test_ids_are_made_from_the_content_and_what_stands_before():
    messages = [HumanMessage("yes"), AIMessage("ok"), HumanMessage("yes"), HumanMessage("yes")]
    named = with_ids(messages)
    assert len(set(ids(named))) == 4
    assert ids(with_ids(messages)) == ids(named)
    assert ids(with_ids([*messages, HumanMessage("more")]))[:4] == ids(named)
    assert ids(messages) == [None] * 4


def test_repeated_ids_become_different_and_known_ones_stay():
    messages = [human("1"), HumanMessage("Edited.", id="1"), human("1")]
    named = ids(with_ids(messages))
    assert named[0] == "1"
    assert len(set(named)) == 3
    assert removable_ids(messages, [False, True, True]) == ()
    assert removable_ids(messages, [False, False, False]) == ("1",)


@pytest.mark.parametrize(
    ("limits", "tokens", "beyond"),
    [
        (CompactionLimits(max_tokens=100), 200, False),
        (CompactionLimits(max_tokens=100), 201, True),
        (CompactionLimits(max_tokens=100, hard_limit=150), 151, True),
        (CompactionLimits(max_tokens=0, max_messages=4), 0, True),
        (CompactionLimits(max_tokens=0, max_messages=4, hard_limit=9), 0, False),
    ],
)
def test_hard_limit_is_twice_the_limit_or_as_set(limits, tokens, beyond):
    assert limits.is_beyond_hard_limit(tokens, 9) is beyond


def test_an_id_that_is_made_meets_no_other():
    named, nameless = HumanMessage("b", id="y"), HumanMessage("c")
    made = with_ids([HumanMessage("a", id="x"), named, nameless])[2].id
    found = ids(with_ids([HumanMessage("a", id=made), named, nameless]))
    assert found[:2] == [made, "y"]
    assert found[2] not in {None, *found[:2]}


@pytest.mark.parametrize("share", [60, -0.1, float("nan"), "0.6"])
def test_a_share_that_is_none_is_refused(share):
    with pytest.raises(ConfigurationError, match="keep_share="):
        CompactionLimits(keep_share=share)
