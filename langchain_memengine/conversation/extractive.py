"""Summarise a conversation without a model: what people asked for, and what was decided."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from langchain_memengine.conversation.transcript import Turn, label_of

SENTENCE_CHARS = 160
"""Characters of one quoted sentence, at most."""

_SENTENCE_END = re.compile(r"(?<=[.!?…।؟])\s+|(?<=[。！？])|\n+")
_DECISION = re.compile(
    r"\b(?:decided?|decision|agreed?|let['’]s|we will|we['’]ll|must|never|always|prefer|remember|"
    r"deadline|instead of|my name is|call me|settled|chose|choose|go with)\b"
    r"|(?:решили|решено|договорились|запомни|决定|記住|记住|決定)",
    re.IGNORECASE,
)
_GAP = " … "


def extractive_summary(turns: Sequence[Turn], max_chars: int) -> str:
    """Return what people said first in their turns and what was decided, in order.

    The first request comes before all else, then decisions, the newest first, then the other
    first sentences, the newest first; what fits is shown in the order of the conversation, with an
    ellipsis where something is left out. Without any words of people, the newest turn of a tool or
    the assistant speaks. Never blank, and never longer than ``max_chars``, which is at least 40.
    """
    candidates = _candidates(turns)
    if not candidates:
        return f"{len(turns)} turns without any words."[:max_chars]
    chosen: list[int] = []
    length = 0
    for place in _by_worth(candidates):
        cost = len(candidates[place][1]) + len(_GAP)
        if length + cost <= max_chars + len(_GAP):
            chosen.append(place)
            length += cost
    if not chosen:
        return _shortened(candidates[0][1], max_chars)
    return _joined(candidates, sorted(chosen))


def _candidates(turns: Sequence[Turn]) -> list[tuple[bool, str]]:
    """Return (is a decision, sentence) of what may be quoted, in order."""
    people = {turn.speaker for turn in turns if turn.role == "Person"}
    found: list[tuple[bool, str]] = []
    for turn in turns:
        sentences = _sentences(turn.text)
        who = f"{label_of(turn.speaker)}: " if turn.role == "Person" and len(people) > 1 else ""
        for place, sentence in enumerate(sentences):
            decides = bool(_DECISION.search(sentence))
            first = place == 0 and turn.role == "Person"
            if first or (decides and turn.role in {"Person", "Assistant"}):
                label = who if turn.role == "Person" else "Assistant: "
                found.append((decides, _shortened(label + sentence, SENTENCE_CHARS)))
    return found or [
        (False, _shortened(f"{turn.role}: {' '.join(turn.text.split())}", SENTENCE_CHARS))
        for turn in turns[-1:]
        if turn.text.strip()
    ]


def _by_worth(candidates: Sequence[tuple[bool, str]]) -> list[int]:
    """Return the candidates' places, the one to quote first in front; equal sentences once."""
    places = {text: place for place, (_, text) in reversed(list(enumerate(candidates)))}
    return sorted(places.values(), key=lambda place: (place > 0, not candidates[place][0], -place))


def _joined(candidates: Sequence[tuple[bool, str]], places: Sequence[int]) -> str:
    """Return the sentences at these places; an ellipsis stands for what is left out between."""
    text = candidates[places[0]][1]
    for before, place in pairwise(places):
        text += (" " if place == before + 1 else _GAP) + candidates[place][1]
    return text


def _sentences(text: str) -> list[str]:
    split = (" ".join(part.split()) for part in _SENTENCE_END.split(text))
    return [sentence for sentence in split if sentence]


def _shortened(text: str, max_chars: int) -> str:
    """Return text of at most ``max_chars``, cut between words where there are any."""
    if len(text) <= max_chars:
        return text
    cut = text.rfind(" ", max_chars // 2, max_chars)
    return text[: max_chars - 1 if cut < 0 else cut].rstrip() + "…"
