"""Experiences as a section of a system prompt."""

from __future__ import annotations

import json
from collections.abc import Sequence

from langchain_memengine.retrieval.recall import Remembered, fenced
from langchain_memengine.storage.experience_values import Experience

MAX_INTENT_CHARS = 500
MAX_SOLUTION_CHARS = 2_000


def experience_prompt(learnt: Sequence[Experience], *, nonce: str = "") -> str:
    """Return Markdown for a system prompt, ``""`` for no experiences.

    They are data, inside the fence that remembered text stands in, which they cannot close. An
    intent is shown up to 500 characters, a solution as JSON up to 2,000.

    Args:
        learnt: What the agent should know, best first.
        nonce: Part of the fence; what no text can know.
    """
    pieces = [
        Remembered(f"experience {one.kind}", f"success {one.success_score:.2f}", _told(one))
        for one in learnt
    ]
    return fenced("What worked before", pieces, nonce=nonce) if pieces else ""


def _told(one: Experience) -> str:
    solution = json.dumps(one.solution, ensure_ascii=False)
    return (
        f"Wanted: {_cut(one.intent, MAX_INTENT_CHARS)}\n"
        f"Solution: {_cut(solution, MAX_SOLUTION_CHARS)}"
    )


def _cut(text: str, max_chars: int) -> str:
    return text if len(text) <= max_chars else f"{text[: max_chars - 1]}…"
