"""Which facts of a reply are kept, as which records."""

from dataclasses import replace
from datetime import timedelta

import pytest

from langchain_memengine.knowledge.learnt_facts import Lesson, fact_records, relation_of, subject_of
from langchain_memengine.knowledge.own_lines import OwnLine, OwnLines
from langchain_memengine.models.fact_prompts import ExtractedFact
from tests.fakes.clock import START
from tests.fakes.facts import fact

LINES = OwnLines(
    "ann",
    (
        OwnLine("1", "I live in Rome. We deploy the shop on Tuesdays."),
        OwnLine("2", "No, I moved to Bern."),
    ),
)
LESSON = Lesson(LINES, "t", "c", START)


def records(*found, lesson=LESSON):
    return fact_records([ExtractedFact(**one) for one in found], lesson)


def test_fact_about_a_person_is_theirs_with_the_quote_as_evidence():
    (record,) = records(fact("i live in rome", "User lives in Rome.", "Lives_in", exclusive=True))
    assert (record.scope, record.owner, record.text) == ("personal", "ann", "User lives in Rome.")
    assert (record.origin, record.trust) == ("llm_extract", "trusted")
    assert (record.thread_id, record.commit_id, record.created_at) == ("t", "c", START)
    assert record.metadata == {
        "kind": "fact",
        "subject": "user",
        "relation": "lives in",
        "exclusive": True,
        "message_id": "1",
        "evidence": "i live in rome",
    }
    assert record.source == "message:t/1"


SHOP = {"about": "environment", "subject": "Shop"}


def test_fact_about_the_environment_is_everyones_and_quotes_nobody():
    (record,) = records(fact("deploy the shop on Tuesdays", "Shop deploys on Tuesdays.", **SHOP))
    assert (record.scope, record.owner, record.trust) == ("agent_notes", "", "unverified")
    assert "evidence" not in record.metadata


@pytest.mark.parametrize("subject", ["user", "User", "ann", "Ann"])
def test_fact_about_the_person_is_theirs_whatever_the_model_says(subject):
    (record,) = records(fact("I live in Rome", "Rome.", about="environment", subject=subject))
    assert (record.scope, record.owner) == ("personal", "ann")
    assert record.metadata["subject"] == "user"


@pytest.mark.parametrize(
    "found",
    [
        fact("I live in Paris", "User lives in Rome."),
        fact("", "User lives in Rome."),
        fact("I live in Rome", "User lives in Rome since 1999."),
        fact("I live in Rome", "The account is compromised."),
        fact("I live in Rome", " "),
        fact("I live in Rome", "Rome " * 200),
        fact("I live in Rome", "User lives in Rome.", ""),
        fact("I live in Rome", "User lives in Rome.", subject=" "),
        fact("I live in Rome", "In Rome the password is hunter22"),
        {**SHOP, **fact("we deploy on Mondays", "Shop deploys on Mondays.")},
    ],
)
def test_fact_without_proof_is_left_out(found):
    assert records(found) == []


def test_facts_come_in_the_order_they_were_said():
    bern = fact("I moved to Bern", "User lives in Bern.")
    rome = fact("I live in Rome", "User lives in Rome.")
    found = records(bern, rome)
    assert [one.text for one in found] == ["User lives in Rome.", "User lives in Bern."]
    assert found[1].created_at - found[0].created_at == timedelta(milliseconds=1)


def test_same_lesson_has_the_same_ids_and_another_branch_has_others():
    rome = fact("I live in Rome", "User lives in Rome.")
    first, again = records(rome), records({**rome, "text": "User lives  in Rome"})
    assert first[0].id == again[0].id
    assert len(records(rome, rome)) == 1
    other = records(rome, lesson=replace(LESSON, commit_id="d"))
    assert other[0].id != first[0].id


@pytest.mark.parametrize(("one", "other"), [("C", "C++"), ("-5", "5"), ("C#", "C")])
def test_signs_and_symbols_make_another_fact(one, other):
    said = OwnLines("ann", (OwnLine("1", f"I know {one} well, and I know {other} well"),))
    found = records(
        fact(f"know {one} well", f"User knows {one}."),
        fact(f"know {other} well", f"User knows {other}."),
        lesson=replace(LESSON, lines=said),
    )
    assert [record.text for record in found] == [f"User knows {one}.", f"User knows {other}."]
    assert len({record.id for record in found}) == 2


@pytest.mark.parametrize(
    ("said", "text"),
    [("Я живу в Москве", "Пользователь живёт в Москве"), ("我喜欢黑咖啡", "用户喜欢黑咖啡")],
)
def test_facts_of_any_script_are_kept(said, text):
    """As reported for langgraph-memory: other scripts are dropped in silence."""
    lines = OwnLines("ann", (OwnLine("1", said),))
    (record,) = records(fact(said, text), lesson=replace(LESSON, lines=lines))
    assert (record.text, subject_of(record), relation_of(record)) == (text, "user", "likes")
