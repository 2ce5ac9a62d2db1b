"""What the demo says of each of its questions, and when it fell short."""

import io

import pytest
from rich.console import Console

from langchain_memengine.answers import FileProblem, IndexReport
from langchain_memengine.cli.demo_memory import Question
from langchain_memengine.cli.demo_report import (
    Answer,
    answers_as_json,
    falls_short,
    show_answers,
    show_next,
    show_step,
)

PINNED = Question("Which database?", "a pinned fact", "MEMORY.md")
MEANING = Question("A puppy?", "the same meaning", "tasks/animals.md", needs_embedder=True)
OWN = Question("What about tea?", "a question of yours")


@pytest.fixture
def console():
    return Console(file=io.StringIO(), width=100, color_system=None)


def printed(console):
    return console.file.getvalue()


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        (Answer(PINNED, (), passed=True), "✓ a pinned fact: as expected, MEMORY.md"),
        (Answer(PINNED, (), passed=False), "✗ a pinned fact: expected MEMORY.md, found nothing"),
        (Answer(MEANING, (), passed=None), "· the same meaning: needs an embedder; here is none"),
        (Answer(OWN, (), passed=None), "· a question of yours: nothing found"),
    ],
)
def test_each_question_has_a_verdict(console, answer, verdict):
    show_answers(console, [answer], "", "english")
    assert verdict in printed(console)


def test_only_questions_with_an_answer_to_check_are_counted(console):
    answers = [Answer(PINNED, (), passed=True), Answer(MEANING, (), passed=False)]
    show_answers(console, [*answers, Answer(OWN, (), passed=None)], "", "english")
    assert "5 1 of 2 questions found the expected file." in printed(console)


def test_without_anything_to_check_nothing_is_counted(console):
    show_answers(console, [Answer(OWN, (), passed=None)], "", "english")
    assert "expected file" not in printed(console)


def test_a_long_fragment_is_cut_and_says_how_much_is_left(console):
    fragment = "\n".join(f"line {number}" for number in range(1, 17))
    show_answers(console, [], fragment, "english")
    assert "line 14\n" in printed(console)
    assert "line 15" not in printed(console)
    assert "… 2 more lines" in printed(console)


@pytest.mark.parametrize(
    ("answer", "report", "short"),
    [
        (Answer(PINNED, (), passed=True), IndexReport(), False),
        (Answer(OWN, (), passed=None), IndexReport(), False),
        (Answer(PINNED, (), passed=False), IndexReport(), True),
        (Answer(OWN, (), passed=None, degraded=("vector: away",)), IndexReport(), True),
        (Answer(PINNED, (), passed=True), IndexReport(pending=1), True),
        (Answer(PINNED, (), passed=True), IndexReport(failed=(FileProblem("a", "b"),)), True),
    ],
)
def test_what_makes_a_demo_fall_short(answer, report, short):
    assert falls_short([answer], report) is short


def test_answers_are_plain_json():
    answers = [Answer(PINNED, (), passed=False, degraded=("vector: away",))]
    assert answers_as_json(answers, "told", IndexReport(indexed=2, chunks=3)) == {
        "questions": [
            {
                "question": "Which database?",
                "shows": "a pinned fact",
                "expected": "MEMORY.md",
                "passed": False,
                "hits": [],
                "degraded": ["vector: away"],
            }
        ],
        "fragment": "told",
        "files": 2,
        "chunks": 3,
        "complete": False,
    }


def test_steps_and_commands_do_not_steer_the_terminal(console):
    show_step(console, 1, "Wrote\x1b[31m it")
    show_next(console, ["memengine init \x1b[31mDIR"])
    assert "\x1b" not in printed(console)
    assert printed(console).splitlines()[0].startswith("1 Wrote")
    assert "Next:" in printed(console)
