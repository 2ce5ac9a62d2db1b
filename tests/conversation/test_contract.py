"""The contract of compaction, checked point by point over histories nobody would write."""

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langgraph.graph.message import REMOVE_ALL_MESSAGES, add_messages

from langchain_memengine.conversation.compaction import (
    CompactionLimits,
    CompactionPlan,
    plan_compaction,
)
from langchain_memengine.conversation.lineage import join_heads
from langchain_memengine.conversation.summaries import SUMMARY_CHARS, with_previous_context
from langchain_memengine.conversation.summarization import Summarizer
from langchain_memengine.conversation.thread import Thread
from langchain_memengine.conversation.transcript import is_human, paragraphs, tokens_of
from langchain_memengine.models.asking import answered
from tests.fakes.archives import MemoryArchive
from tests.fakes.histories import history

EXAMPLES = int(os.environ.get("MEMENGINE_EXAMPLES", "500"))

limits_of_any_kind = st.builds(
    CompactionLimits,
    max_tokens=st.sampled_from([0, 40, 150, 400, 1500]),
    max_messages=st.integers(0, 12),
    keep_share=st.sampled_from([0.3, 0.6, 1.0]),
    flush_tokens=st.sampled_from([0, 0, 300]),
    hard_limit=st.sampled_from([0, 1000]),
    overhead_tokens=st.sampled_from([0, 0, 60]),
    pin_first=st.booleans(),
)


REPLIES = (
    "They spoke.",
    "They spoke.",
    "",
    RuntimeError("429"),
    "long " * 1000,
    "I'm sorry, I can't.",
)


class Model:
    """Answers with a text, or raises."""

    def __init__(self, reply: str | Exception) -> None:
        self.reply = reply

    def invoke(self, prompt: object, config: object = None) -> str:
        if isinstance(self.reply, Exception):
            raise self.reply
        return self.reply


def content(message: BaseMessage) -> tuple[object, ...]:
    """Return all that our messages hold but the id; ``model_dump`` takes fifty times as long."""
    fields = vars(message)  # asking for one that is not there costs more than all the rest
    calls = fields.get("tool_calls"), fields.get("tool_call_id")
    return type(message), message.name, repr((message.content, message.additional_kwargs, calls))


def is_subsequence(part: Sequence[BaseMessage], whole: Sequence[BaseMessage]) -> bool:
    rest = iter(whole)
    return all(any(one is other for other in rest) for one in part)


def groups_and_orphans(messages: Sequence[BaseMessage]) -> tuple[list[set[int]], set[int]]:
    """Return the places of each call with its results, found by looking back from each result."""
    groups: dict[int, set[int]] = {}
    orphans = set()
    for place, message in enumerate(messages):
        if isinstance(message, ToolMessage):
            for caller in reversed(range(place)):
                other = messages[caller]
                calls = getattr(other, "tool_calls", []) if isinstance(other, AIMessage) else []
                if any(call["id"] == message.tool_call_id for call in calls):
                    groups.setdefault(caller, {caller}).add(place)
                    break
            else:
                orphans.add(place)
    return list(groups.values()), orphans


def cuts(messages: Sequence[BaseMessage], groups: list[set[int]]) -> list[int]:
    """Return the human messages before which a cut parts no group."""
    return [
        place
        for place, message in enumerate(messages)
        if is_human(message) and not any(min(group) < place <= max(group) for group in groups)
    ]


def check_point_1(messages: list[BaseMessage], plan: CompactionPlan) -> None:
    ids = [message.id for message in plan.history]
    assert len(set(ids)) == len(ids) == len(messages)
    assert all(ids)
    assert [content(one) for one in plan.history] == [content(one) for one in messages]
    assert is_subsequence(plan.kept, plan.history)
    assert is_subsequence(plan.archived, plan.history)
    assert sorted(str(one.id) for one in (*plan.kept, *plan.archived)) == sorted(map(str, ids))


def check_points_2_and_3(plan: CompactionPlan, limits: CompactionLimits) -> None:
    groups, orphans = groups_and_orphans(plan.history)
    kept_ids = {message.id for message in plan.kept}
    stays = [message.id in kept_ids for message in plan.history]
    for group in groups:
        assert len({stays[place] for place in group}) == 1
    if not plan.archived:
        return
    assert not any(stays[place] for place in orphans)
    humans = [place for place, message in enumerate(plan.history) if is_human(message)]
    if humans:
        assert all(stays[place] or place in orphans for place in range(humans[-1], len(stays)))
    window = [place for place, stay in enumerate(stays) if stay]
    while window and isinstance(plan.history[window[0]], SystemMessage):
        window.pop(0)
    possible = cuts(plan.history, groups)
    if possible and window:
        assert is_human(plan.history[window[0]])
    if limits.pin_first and humans and possible:
        assert stays[humans[0]]


def check_size(plan: CompactionPlan, limits: CompactionLimits) -> None:
    tokens = sum(map(tokens_of, plan.kept)) + limits.overhead_tokens
    assert tokens == plan.tokens_after
    assert plan.over_limit == limits.exceeded(tokens, len(plan.kept))
    if not limits.exceeded(plan.tokens_before, len(plan.history)):
        assert not plan.archived
        return
    groups, _ = groups_and_orphans(plan.history)
    possible = cuts(plan.history, groups)
    if possible and limits.exceeded(tokens, len(plan.kept), limits.keep_share):
        kept_ids = {message.id for message in plan.kept}
        before = [one for one in plan.history[: possible[-1]] if one.id in kept_ids]
        others = [one for one in before if not isinstance(one, SystemMessage)]
        assert len(others) <= 2 * limits.pin_first, "only the pin stays besides the last turn"


def check_provider(plan: CompactionPlan) -> None:
    """Check that no pair of roles stands side by side that did not before, but for pinned ones."""
    window = plan.kept[len(plan.pinned) :]
    places = {message.id: place for place, message in enumerate(plan.history)}
    _, orphans = groups_and_orphans(plan.history)
    for before, after in pairwise(window):
        between = range(places[before.id] + 1, places[after.id])
        assert all(place in orphans for place in between)


def thread(users: tuple[str, ...] = ("anna",), head: str = "") -> Thread:
    return Thread("t", "anna", users, head, datetime(2026, 5, 19, tzinfo=UTC), "c1")


def check_trimming(
    messages: list[BaseMessage],
    limits: CompactionLimits,
    reply: str | Exception,
    plan: CompactionPlan,
) -> None:
    """Check points 4 to 9 on the steps of the node that trims the state."""
    state = {"messages": messages, "summary": "Earlier."}
    archive = MemoryArchive()
    handed: list[tuple[str, str, str]] = []
    node = Summarizer(
        archive,
        limits,
        piece_tokens=50 if reply == "They spoke." else 8000,
        trims=True,
        on_trimmed=lambda *one: handed.append(one),
    )
    step = answered(node.steps(state, thread()), Model(reply))
    assert archive.commits == {}, "nothing is stored before the model was asked"
    update = step.store()
    check_plain({key: value for key, value in update.items() if key != "messages"})
    if any(message.id is None for message in messages):
        assert update["messages"] == []
        assert archive.commits == {}
        return
    removals = update.get("messages", [])
    removed = [one.id for one in removals]
    assert all(isinstance(one, RemoveMessage) for one in removals)
    assert REMOVE_ALL_MESSAGES not in removed
    assert set(removed) <= {message.id for message in messages}
    assert all(("t", one) in archive.messages for one in removed)
    after = add_messages(messages, removals)
    usable = reply == "They spoke." or not paragraphs(plan.archived)
    usable = usable or plan.beyond_hard_limit
    if plan.archived and usable:
        check_stored(plan, update, archive, handed)
        check_again(node, Model(reply), state, update, archive, after, plan)
    else:
        assert after == messages
        assert archive.commits == {}
        assert bool(update.get("memory_note")) == bool(plan.archived or plan.over_limit)
        assert not {"summary", "memory_head"} & update.keys()


def check_leaving(
    messages: list[BaseMessage], limits: CompactionLimits, plan: CompactionPlan
) -> None:
    """Check that what the model is shown and what is covered are the whole state."""
    archive = MemoryArchive()
    node = Summarizer(archive, limits, piece_tokens=0, trims=False)
    state: dict[str, object] = {"messages": messages}
    update = answered(node.steps(state, thread()), None).store()
    assert "messages" not in update
    shown = with_previous_context(plan.kept, str(update.get("summary", "")))
    assert [content(one) for one in update["llm_input_messages"]] == [content(o) for o in shown]
    assert [one.id for one in plan.archived] == list(update.get("summarized", {}))
    assert all(("t", one.id) in archive.messages for one in plan.archived)
    head = join_heads("", str(update.get("memory_head", "")))
    stored = dict(archive.messages), dict(archive.commits)
    again = answered(node.steps({**state, **update}, thread(head=head)), None).store()
    assert [content(one) for one in again["llm_input_messages"]] == [
        content(one) for one in update["llm_input_messages"]
    ]
    assert (archive.messages, archive.commits) == stored


def check_stored(
    plan: CompactionPlan,
    update: dict[str, object],
    archive: MemoryArchive,
    handed: list[tuple[str, str, str]],
) -> None:
    restored = [archive.messages["t", str(message.id)] for message in plan.archived]
    assert restored == list(plan.archived)
    assert update["summary"].startswith("Earlier.\n\n")
    paragraph = update["summary"].removeprefix("Earlier.\n\n")
    assert 0 < len(paragraph) <= 500
    assert len(update["summary"]) <= SUMMARY_CHARS
    (commit_id,) = archive.commits
    assert join_heads("", update["memory_head"]) == commit_id
    people = {_author(one) for one in (*plan.pinned, *plan.archived) if is_human(one)}
    (commit,) = archive.commits.values()
    assert commit["owner"] == "anna"
    if people:
        assert commit["summary"] == (paragraph if people == {"anna"} else "")
    own = {_author(one) for one in plan.archived if is_human(one)}
    assert {person for person, _, _ in handed} <= own
    assert all(one == commit_id for _, _, one in handed)


def _author(message: BaseMessage) -> str:
    return str(message.additional_kwargs.get("user_id") or message.name or "anna")


def check_again(
    node: Summarizer,
    model: Model,
    state: dict[str, object],
    update: dict[str, object],
    archive: MemoryArchive,
    after: list[BaseMessage],
    plan: CompactionPlan,
) -> None:
    """Check that the same step, and a step on what it left, store nothing new."""
    stored = dict(archive.messages), dict(archive.commits)
    assert answered(node.steps(state, thread()), model).store() == update
    assert (archive.messages, archive.commits) == stored
    if after != list(plan.kept):
        return  # a repeated id stays where one of its messages stays
    left = {**state, **update, "messages": after, "memory_users": ["anna"]}
    head = join_heads("", str(update["memory_head"]))
    again = answered(node.steps(left, thread(head=head)), model).store()
    assert again.keys() <= {"memory_note"}
    assert (archive.messages, archive.commits) == stored


def check_plain(value: object) -> None:
    if isinstance(value, dict):
        for key, inner in value.items():
            assert type(key) is str
            check_plain(inner)
    elif isinstance(value, list):
        for inner in value:
            check_plain(inner)
    else:
        assert type(value) is str


@settings(
    max_examples=EXAMPLES,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(st.binary(min_size=4, max_size=28), limits_of_any_kind, st.sampled_from(REPLIES))
def test_compaction_loses_nothing_whatever_the_history(data, limits, reply):
    messages = history(data)
    before = [(message.id, content(message)) for message in messages]
    plan = plan_compaction(messages, limits)
    check_point_1(messages, plan)
    check_points_2_and_3(plan, limits)
    check_size(plan, limits)
    check_provider(plan)
    check_trimming(messages, limits, reply, plan)
    check_leaving(messages, limits, plan)
    assert not plan_compaction(plan.kept, limits).archived
    assert [(message.id, content(message)) for message in messages] == before


@pytest.mark.parametrize("size", [10_000])
def test_planning_is_linear_and_counts_each_message_once(size):
    counted = []
    messages = history(bytes(i % 251 for i in range(size)))[:size]

    def count(message: BaseMessage) -> int:
        counted.append(message.id)
        return 10

    plan = plan_compaction(messages, CompactionLimits(max_tokens=1000), count)
    assert len(counted) == len(messages) == size
    assert plan.tokens_after <= 600
