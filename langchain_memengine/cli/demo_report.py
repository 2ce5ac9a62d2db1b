"""What the demo shows: its steps, the hits of each question, and how each one went."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from langchain_memengine.answers import (
    Hit,
    IndexReport,
)
from langchain_memengine.cli.demo_memory import Question
from langchain_memengine.cli.hits import hit_as_json, print_hits
from langchain_memengine.cli.opening import warn
from langchain_memengine.text.counting import counted
from langchain_memengine.text.printable import clean, clean_line

_LINES = 2
_FRAGMENT_LINES = 14


@dataclasses.dataclass(frozen=True, slots=True)
class Answer:
    """What a question of the demo found.

    Attributes:
        question: What was asked, and what for.
        hits: Best first.
        passed: Whether the expected file is on top; ``None`` when there is nothing to check.
        degraded: What made the answer poorer than asked.
    """

    question: Question
    hits: tuple[Hit, ...]
    passed: bool | None
    degraded: tuple[str, ...] = ()


def show_answers(
    console: Console,
    answers: Sequence[Answer],
    fragment: str,
    language: str,
) -> None:
    """Print each question with its hits and verdict, then the fragment of a recall."""
    show_step(
        console,
        3,
        f"Asked {counted(len(answers), 'question')}. Each hit has a receipt: why it is there.",
    )
    for answer in answers:
        question = answer.question
        console.print()
        console.rule(Text(clean_line(question.text), "bold"), align="left", style="dim")
        print_hits(console, answer.hits, question.text, language, lines=_LINES)
        console.print(_verdict(answer))
    console.print()
    show_step(
        console, 4, "What an agent gets for its prompt: pinned facts and hits, fenced as data."
    )
    lines = clean(fragment).splitlines()
    for line in lines[:_FRAGMENT_LINES]:
        console.print(Text("    " + line, "dim"), no_wrap=True, overflow="ellipsis")
    if len(lines) > _FRAGMENT_LINES:
        console.print(Text(f"    … {len(lines) - _FRAGMENT_LINES} more lines", "dim italic"))
    checked = [answer.passed for answer in answers if answer.passed is not None]
    if checked:
        console.print()
        found = f"{sum(checked)} of {len(checked)}"
        show_step(console, 5, f"{found} questions found the expected file.")
    warn(tuple(problem for answer in answers for problem in answer.degraded))


def _verdict(answer: Answer) -> Text:
    question = answer.question
    if answer.passed:
        return Text(f"    ✓ {question.shows}: as expected, {question.expected}", "green")
    if answer.passed is not None:
        top = answer.hits[0].path if answer.hits else "nothing"
        return Text(f"    ✗ {question.shows}: expected {question.expected}, found {top}", "red")
    if question.needs_embedder:
        return Text(f"    · {question.shows}: needs an embedder; here is none", "yellow")
    return Text(f"    · {question.shows}" + ("" if answer.hits else ": nothing found"), "dim")


def falls_short(answers: Sequence[Answer], report: IndexReport) -> bool:
    """Return whether something is missing: files, embeddings, or an expected answer."""
    return not report.complete or any(a.passed is False or a.degraded for a in answers)


def answers_as_json(
    answers: Sequence[Answer], fragment: str, report: IndexReport
) -> dict[str, Any]:
    """Return the results of a demo as plain JSON types."""
    return {
        "questions": [
            {
                "question": answer.question.text,
                "shows": answer.question.shows,
                "expected": answer.question.expected,
                "passed": answer.passed,
                "hits": [hit_as_json(hit) for hit in answer.hits],
                "degraded": list(answer.degraded),
            }
            for answer in answers
        ],
        "fragment": fragment,
        "files": report.indexed,
        "chunks": report.chunks,
        "complete": not falls_short(answers, report),
    }


def show_step(console: Console, number: int, text: str) -> None:
    """Print one numbered step."""
    console.print(Text.assemble((f"{number} ", "bold cyan"), clean_line(text)))


def show_next(console: Console, commands: Sequence[str]) -> None:
    """Print what to try next."""
    console.print()
    console.print("Next:", style="bold")
    for command in commands:
        console.print("  " + clean(command), soft_wrap=True)
