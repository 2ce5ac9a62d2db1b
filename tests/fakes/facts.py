"""A chat model that extracts and judges facts as a script says."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain_core.messages import BaseMessage

from tests.fakes.chat_models import ScriptedChatModel

Judge = Callable[[str, list[str]], list[str]]
"""New fact and older ones to a verdict for each older one."""


def fact(quote: str, text: str, relation: str = "likes", **fields: Any) -> dict[str, Any]:
    """Return a fact as a model replies it: personal, about the user, one of several."""
    plain = {"about": "person", "subject": "user", "exclusive": False}
    return {**plain, "quote": quote, "text": text, "relation": relation, **fields}


def unrelated(new: str, older: list[str]) -> list[str]:
    """Judge that everything can be true together."""
    return ["unrelated"] * len(older)


def contradicting(new: str, older: list[str]) -> list[str]:
    """Judge, as a careless model does, that a new fact ends all older ones."""
    return ["contradicts"] * len(older)


def learner(
    facts: Mapping[str, Sequence[dict[str, Any]]], judge: Judge = unrelated
) -> ScriptedChatModel:
    """Return a model that finds these facts wherever a prompt holds their key."""

    def respond(messages: list[BaseMessage]) -> dict[str, Any]:
        asked = str(messages[-1].text)
        if asked.startswith("New fact:"):
            new, _, older = asked.partition("Older facts:")
            numbered = re.findall(r"^\[\d+\] (.*)$", older, re.MULTILINE)
            verdicts = judge(new.splitlines()[2], numbered)
            told = [{"number": n, "verdict": v} for n, v in enumerate(verdicts, start=1)]
            return {"reasoning": "", "verdicts": told}
        found = [one for key, some in facts.items() if key in asked for one in some]
        return {"reasoning": "", "facts": found}

    return ScriptedChatModel(replies=respond)
