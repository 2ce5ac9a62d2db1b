"""Planning, asking and storing a summary, without a graph."""

import pytest
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage

from langchain_memengine.conversation.compaction import CompactionLimits, plan_compaction
from langchain_memengine.conversation.summarization import (
    Summarised,
    Summarizer,
    piece_tokens_of,
    summarising,
)
from langchain_memengine.conversation.thread import Thread
from langchain_memengine.errors import ChatModelError
from langchain_memengine.models.asking import answered
from tests.fakes.archives import MemoryArchive
from tests.fakes.chat_models import ScriptedChatModel
from tests.fakes.clock import START

TWO = CompactionLimits(max_tokens=0, max_messages=2)  # of four messages the last turn stays
THREAD = Thread("t", "anna", ("anna",), "", START)
AWAY = ChatModelError("The chat model is away.")


def turn(number):
    return [
        HumanMessage(f"Question {number}.", id=f"h{number}"),
        AIMessage("Yes.", id=f"a{number}"),
    ]


def state(*numbers, **more):
    return {"messages": [one for number in numbers for one in turn(number)], **more}


def scripted(*replies):
    return ScriptedChatModel(replies=list(replies))


def plan(limits=TWO):
    return plan_compaction(state(1, 2)["messages"], limits)


@pytest.fixture
def archive():
    return MemoryArchive()


def stored(archive, of, model=None, *, thread=THREAD, **options):
    """Return the update of a state, and the event, of a step that asks a model if there is one."""
    given = {"piece_tokens": piece_tokens_of(model), "trims": True, **options}
    step = answered(Summarizer(archive, TWO, **given).steps(of, thread), model)
    return step.store(), step.event


# Asking


def test_a_model_summarises_what_is_archived():
    model = scripted("They spoke.")
    assert answered(summarising(plan(), "", 100), model) == Summarised("They spoke.")
    assert "Question 1." in model.prompts()[0]
    assert "Question 2." not in model.prompts()[0]


def test_without_a_model_the_first_request_stands_for_all():
    assert answered(summarising(plan(), "", 0), None) == Summarised("Question 1.")


def test_a_model_that_fails_trims_nothing_before_the_hard_limit():
    found = answered(summarising(plan(CompactionLimits(0, 3)), "", 100), scripted(AWAY))
    assert found.paragraph == ""
    assert "Nothing was trimmed this time." in found.note


def test_beyond_the_hard_limit_the_extract_steps_in():
    beyond = plan(CompactionLimits(0, 2, hard_limit=3))
    found = answered(summarising(beyond, "", 100), scripted(AWAY))
    assert found.paragraph == "Question 1."
    assert "beyond the hard limit: it was summarised without it" in found.note


def test_a_prompt_holds_half_of_what_a_model_reads():
    assert piece_tokens_of(None) == 0
    assert piece_tokens_of(ScriptedChatModel(profile={"max_input_tokens": 1_000})) == 500
    assert piece_tokens_of(ScriptedChatModel()) == 8_000


# Storing


def test_what_goes_is_archived_summarised_and_removed(archive):
    update, event = stored(archive, state(1, 2), scripted("They spoke."))
    assert archive.ids("t") == ["h1", "a1"]
    (head,) = archive.commits
    assert update == {
        "memory_users": ["anna"],
        "summary": "They spoke.",
        "memory_head": f"{head}<",
        "messages": [RemoveMessage(id="h1"), RemoveMessage(id="a1")],
    }
    assert (event["archived"], event["note"]) == (2, "")


def test_a_short_history_stays_and_asks_nobody(archive):
    model = scripted("never asked")
    update, event = stored(archive, state(1, memory_users=["anna"]), model)
    assert (update, event, model.calls, archive.commits) == ({}, None, [], {})


def test_a_failed_model_stores_nothing_and_says_so(archive):
    of = state(1, 2, memory_users=["anna"])
    update, event = stored(archive, of, scripted(AWAY), trims=True)
    assert list(update) == ["memory_note"]
    assert (event["archived"], event["tokens_after"]) == (0, event["tokens_before"])
    assert archive.commits == {}


def test_who_does_not_trim_shows_the_model_what_is_kept_and_notes_what_is_covered(archive):
    of = state(1, 2)
    update, _ = stored(archive, of, scripted("They spoke."), trims=False)
    assert "messages" not in update
    shown = update["llm_input_messages"]
    assert "They spoke." in str(shown[0].content)
    assert [one.id for one in shown[1:]] == ["h2", "a2"]
    assert list(update["summarized"]) == ["h1", "a1"]
    again, event = stored(archive, of | update, scripted("never"), trims=False)
    assert event is None  # what is covered counts no more
    assert [one.id for one in again["llm_input_messages"][1:]] == ["h2", "a2"]


def test_an_edited_message_is_no_longer_covered(archive):
    update, _ = stored(archive, state(1, 2), scripted("They spoke."), trims=False)
    edited = state(1, 2, **{name: update[name] for name in ("summary", "summarized")})
    edited["messages"][0] = HumanMessage("Question 1, edited.", id="h1")
    again, event = stored(archive, edited, scripted("Once more."), trims=False)
    assert event["archived"] == 1
    assert again["summary"] == "They spoke.\n\nOnce more."


@pytest.mark.parametrize(
    ("thread", "summary"),
    [
        (THREAD, "They spoke."),  # anna's own words, for anna
        (Thread("t", "anna", ("anna", "bob"), "", START), "They spoke."),  # the thread's
        (Thread("t", "bob", ("bob",), "", START), "They spoke."),  # who names nobody is the owner
    ],
)
def test_the_summary_of_unnamed_words_is_the_owners_or_the_threads(archive, thread, summary):
    stored(archive, state(1, 2), scripted("They spoke."), thread=thread)
    (commit,) = archive.commits.values()
    assert (commit["summary"], commit["owner"]) == (summary, thread.owner)


def test_people_are_handed_over_with_their_own_lines(archive):
    handed, learnt = [], []
    of = state(1, 2)
    of["messages"][0] = HumanMessage("Mine.", id="h1", name="bob")
    stored(
        archive,
        of,
        scripted("They spoke."),
        on_trimmed=lambda *told: handed.append(told),
        learn=lambda person, own, _thread, _commit: learnt.append((person, [m.id for m in own])),
    )
    (commit,) = archive.commits
    assert handed == [("bob", "Person: Mine.", commit)]
    assert learnt == [("bob", ["h1"])]


def test_a_state_without_ids_is_left_alone_and_gets_them(archive):
    of = {"messages": [HumanMessage("Question."), *state(1, 2)["messages"]]}
    update, event = stored(archive, of, scripted("never asked"))
    assert update["messages"] == []
    assert (event, archive.commits) == (None, {})
