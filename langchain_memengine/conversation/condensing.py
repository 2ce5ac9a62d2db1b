"""Make one paragraph of a long part of a conversation, in pieces that fit the model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from langchain_memengine.conversation.summaries import PARAGRAPH_CHARS, as_paragraph
from langchain_memengine.conversation.transcript import WITHIN_TURN
from langchain_memengine.errors import ChatModelError
from langchain_memengine.models.asking import Steps
from langchain_memengine.models.prompts import merge_prompt, summary_prompt
from langchain_memengine.text.tokens import QUARTERS, quarter_tokens

PIECE_TOKENS = 8_000
"""Tokens of a transcript in one prompt, when nothing is known about the model."""

MERGED = 8
"""Paragraphs that are merged into one at a time."""

_GAP = "\n\n"


def condensed(pieces: Iterable[str], earlier: str) -> Steps[str]:
    """Ask for a summary of each piece, then for one of the summaries, until one is left.

    Args:
        pieces: Successive parts of a transcript, at least one.
        earlier: The running summary so far.

    Raises:
        ChatModelError: A reply is not usable; nothing is made of the others then.
    """
    paragraphs = []
    for piece in pieces:
        reply = yield summary_prompt(piece, earlier, PARAGRAPH_CHARS)
        paragraphs.append(_checked(reply))
    while len(paragraphs) > 1:
        merged = []
        for start in range(0, len(paragraphs), MERGED):
            group = paragraphs[start : start + MERGED]
            if len(group) > 1:
                reply = yield merge_prompt(group, PARAGRAPH_CHARS)
                merged.append(_checked(reply))
            else:
                merged += group
        paragraphs = merged
    return paragraphs[0]


def pieces_of(turns: Iterable[str], max_tokens: int) -> list[str]:
    """Return rendered turns joined into pieces of at most ``max_tokens``.

    A turn that is longer than a piece is cut; nothing is left out. The rest of it is indented like
    all lines of a turn but its first, for one token more, so that it cannot look like another one.
    """
    room = max(max_tokens, 1) * QUARTERS
    pieces: list[str] = []
    weight = room + 1
    for separator, text in _parts(turns, max(max_tokens, 1)):
        cost = quarter_tokens(separator + text)
        if weight + cost <= room:
            pieces[-1] += separator + text
            weight += cost
        else:
            pieces.append(text if separator else WITHIN_TURN + text)
            weight = quarter_tokens(text)
    return pieces


def _parts(turns: Iterable[str], max_chars: int) -> Iterator[tuple[str, str]]:
    """Yield (what stands before it, text); no text has more characters than a piece has tokens.

    That fits whatever the script: no character is more than a token. Words stay whole.
    """
    for turn in turns:
        start = 0
        while start < len(turn):
            end = start + max_chars
            if end < len(turn):
                end = turn.rfind(" ", start + max_chars // 2, end) + 1 or end
            yield ("" if start else _GAP), turn[start:end]
            start = end


def _checked(reply: str) -> str:
    paragraph = as_paragraph(reply)
    if paragraph is None:
        raise ChatModelError(
            f"The chat model's summary has {len(reply)} characters instead of {PARAGRAPH_CHARS}."
        )
    return paragraph
