"""Read what an agent did with its tools out of the messages of its run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from langchain_memengine.text.redaction import redacted, redacted_text

MAX_STEPS = 50
"""Of a longer run the last steps are kept: they are the ones that ended it."""

MAX_INTENT_CHARS = 500
MAX_ERROR_CHARS = 300

_TELLING_CHARS = 3
"""A text this short says little about what a call is for."""


@dataclass(frozen=True, slots=True)
class Step:
    """One call of a tool.

    Attributes:
        name: The tool.
        args: What it was given, without secrets, bounded.
        ok: Whether it answered, and not with an error.
        error: What it answered when it failed, without secrets; ``""`` when it did not.
    """

    name: str
    args: Any
    ok: bool
    error: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the step as a part of a solution."""
        told = {"name": self.name, "args": self.args, "ok": self.ok}
        return {**told, "error": self.error} if self.error else told


@dataclass(frozen=True, slots=True)
class Recovery:
    """A call that failed, and a later, different one of the same purpose that did not."""

    failed: Step
    worked: Step


@dataclass(frozen=True, slots=True)
class ToolRun:
    """What an agent did for one request.

    Attributes:
        request: What the human wanted, without secrets.
        steps: The calls, in order.
        success_score: 1 if the run ended with an answer and its last call succeeded; a half if only
            one of both is so; else 0.
    """

    request: str
    steps: tuple[Step, ...]
    success_score: float

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of the tools, each once, in the order of their first call."""
        return tuple(dict.fromkeys(step.name for step in self.steps))

    def recoveries(self) -> tuple[Recovery, ...]:
        """Return how failed calls were made up for, each kind of failure once."""
        found: dict[str, Recovery] = {}
        for at, step in enumerate(self.steps):
            worked = None if step.ok else _made_up_for(step, self.steps[at + 1 :])
            if worked is not None:
                found.setdefault(f"{step.name}\0{step.error}", Recovery(step, worked))
        return tuple(found.values())


def read_run(messages: Sequence[BaseMessage]) -> ToolRun | None:
    """Return the last run in a conversation: what followed the last thing a human said.

    ``None`` when it called no tool, or when no words of a human say what it was for.
    """
    start = max((at for at, m in enumerate(messages) if isinstance(m, HumanMessage)), default=None)
    if start is None:
        return None
    request = redacted_text(messages[start].text.strip(), MAX_INTENT_CHARS)
    steps = tuple(_steps(messages[start + 1 :]))
    if not request or not steps:
        return None
    last = messages[-1]
    answered = isinstance(last, AIMessage) and not last.tool_calls and bool(last.text.strip())
    return ToolRun(request, steps[-MAX_STEPS:], (answered + steps[-1].ok) / 2)


def _steps(messages: Sequence[BaseMessage]) -> list[Step]:
    """Return the calls with their answers; some models number the calls of each message anew."""
    steps: list[Step] = []
    unanswered: dict[str, int] = {}
    for message in messages:
        if isinstance(message, AIMessage):
            for call in message.tool_calls:
                unanswered[call["id"] or ""] = len(steps)
                args = redacted(call["args"])
                steps.append(Step(call["name"], args, ok=False, error="It never answered."))
        elif isinstance(message, ToolMessage) and message.tool_call_id in unanswered:
            place = unanswered.pop(message.tool_call_id)
            steps[place] = _answered(steps[place], message)
    return steps


def _answered(step: Step, answer: ToolMessage) -> Step:
    if answer.status != "error":
        return replace(step, ok=True, error="")
    error = redacted_text(answer.text.strip(), MAX_ERROR_CHARS)
    return replace(step, error=error or "It gave no reason.")


def _made_up_for(failed: Step, later: Sequence[Step]) -> Step | None:
    """Return the next success that differs from a failure and had its purpose.

    The same tool has the same purpose. Another tool has it when it was given one of the same texts.
    """
    for step in later:
        if step.ok and (step.name, step.args) != (failed.name, failed.args):
            if step.name == failed.name or _texts(step.args) & _texts(failed.args):
                return step
        elif step.ok:
            return None  # trying once more was enough: nothing was learnt
    return None


def _texts(args: Any) -> set[str]:
    """Return the texts among arguments that are long enough to tell a purpose."""
    match args:
        case str():
            return {args} if len(args) > _TELLING_CHARS else set()
        case dict():
            return set().union(*map(_texts, args.values()))
        case list():
            return set().union(*map(_texts, args))
        case _:
            return set()
