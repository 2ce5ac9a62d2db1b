"""Flush an over-long agent loop: keep what it needs to go on, write down what is worth keeping."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from langchain_core.messages import BaseMessage, RemoveMessage

from langchain_memengine import given
from langchain_memengine.conversation.compaction import (
    CountTokens,
    leading_system,
    removable_ids,
    tool_groups,
    with_ids,
)
from langchain_memengine.conversation.condensing import pieces_of
from langchain_memengine.conversation.summarization import piece_tokens_of
from langchain_memengine.conversation.thread import (
    Archive,
    Step,
    Thread,
    lacks_ids,
    messages_of,
)
from langchain_memengine.conversation.transcript import (
    TokenCounter,
    Turn,
    is_human,
    labelled,
    paragraphs,
    tokens_of,
    turns,
)
from langchain_memengine.errors import ChatModelError
from langchain_memengine.models.asking import ChatModel, Steps, aanswered, answered
from langchain_memengine.models.prompts import NOTHING, UNVERIFIED, flush_prompt
from langchain_memengine.shown import Shown

FLUSH_TOKENS = 80_000
"""An agent loop of more is flushed (GoClaw, ``auto_flush_tokens``)."""

KEPT_MESSAGES = 6
"""The newest messages a flush keeps, at least (GoClaw)."""

TOOL_CHARS = 4_000
"""Characters of a tool's result that are written down without a model; its length is told."""

STAGE = "memory flush"
"""Title of a flush in the day's log."""

_BULLET = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")


@dataclass(frozen=True, slots=True)
class FlushResult(Shown):
    """What an agent loop goes on with after a flush.

    Attributes:
        messages: The system prompt, the current user message and the newest messages.
        flushed: What went, oldest first: with ``messages`` the input, each once; empty when the
            loop was short enough.
        text: Markdown of what is worth keeping; ``""`` when nothing is.
        tokens_before: Estimated tokens of the whole loop.
        tokens_after: Estimated tokens of ``messages``.
        removable: Ids of the input that are in ``flushed`` only: what a state may remove.
        note: What went less well than asked, ``""`` if nothing did.
    """

    messages: tuple[BaseMessage, ...]
    flushed: tuple[BaseMessage, ...]
    text: str
    tokens_before: int
    tokens_after: int
    removable: tuple[str, ...] = ()
    note: str = ""


def memory_flush(
    messages: Sequence[BaseMessage],
    model: ChatModel | None = None,
    *,
    flush_tokens: int = FLUSH_TOKENS,
    default_person: str = "",
) -> FlushResult:
    """Shorten an agent loop that exceeds ``flush_tokens`` and write down what is worth keeping.

    What stays: leading system messages, the current user message, and the newest six messages,
    with a call and its results never parted, and behind a human message, as providers want.

    Args:
        messages: The loop's messages. They are not changed.
        model: Says what is worth keeping. Without one, or when it fails, that is what people said
            and what tools returned, and never what the agent said.
        flush_tokens: A loop of more is flushed.
        default_person: Who wrote messages that name nobody.
    """
    plan = plan_flush(messages, flush_tokens)
    return answered(flushing(plan, piece_tokens_of(model), default_person), model)


async def amemory_flush(
    messages: Sequence[BaseMessage],
    model: ChatModel | None = None,
    *,
    flush_tokens: int = FLUSH_TOKENS,
    default_person: str = "",
) -> FlushResult:
    """Flush without blocking, see :func:`memory_flush`."""
    plan = plan_flush(messages, flush_tokens)
    return await aanswered(flushing(plan, piece_tokens_of(model), default_person), model)


def plan_flush(
    messages: Sequence[BaseMessage], flush_tokens: int, count: CountTokens = tokens_of
) -> FlushResult:
    """Return which messages stay and which go; nothing is written down yet."""
    given.messages(messages)
    counts = [count(message) for message in messages]
    named = with_ids(messages)
    total = sum(counts)
    places = range(len(named))
    stay = _kept_places(named) if total > flush_tokens else set(places)
    after = sum(counts[place] for place in stay)
    return FlushResult(
        messages=tuple(named[place] for place in places if place in stay),
        flushed=tuple(named[place] for place in places if place not in stay),
        text="",
        tokens_before=total,
        tokens_after=after,
        removable=removable_ids(messages, [place in stay for place in places]),
        note=f"The newest messages alone have {after} tokens." if after > flush_tokens else "",
    )


def flushing(plan: FlushResult, piece_tokens: int, default_person: str = "") -> Steps[FlushResult]:
    """Ask what of the flushed messages is worth keeping; a model that fails is done without.

    ``piece_tokens`` are those of the transcript in one prompt; 0 asks nobody.
    """
    if not piece_tokens:
        return replace(plan, text=without_model(plan.flushed, default_person))
    kept: list[str] = []
    try:
        for piece in pieces_of(paragraphs(plan.flushed, default_person), piece_tokens):
            reply = yield flush_prompt(piece)
            if reply.strip(" .*`\n").upper() != NOTHING:
                kept.append(reply)
    except ChatModelError as error:
        text = without_model(plan.flushed, default_person)
        return replace(plan, text=text, note=f"{error} What was said was written down instead.")
    return replace(plan, text=_marked("\n".join(kept), turns(plan.flushed, default_person)))


def without_model(messages: Sequence[BaseMessage], default_person: str = "") -> str:
    """Return what people said and what tools returned, as labelled paragraphs."""
    facts = [turn for turn in turns(messages, default_person) if turn.role in {"Person", "Tool"}]
    return "\n\n".join(labelled(_bounded(turn), with_name=True) for turn in facts)


def _kept_places(messages: Sequence[BaseMessage]) -> set[int]:
    """Return the places that stay: system prompt, the tail, and the human message before it."""
    begins, orphans = tool_groups(messages)
    systems = leading_system(messages)
    start = max(len(messages) - KEPT_MESSAGES, systems)
    start = max(begins[start], systems) if start < len(messages) else start
    opener = next((p for p in range(start, -1, -1) if _is_human_at(messages, p)), None)
    kept = {*range(systems), *range(start, len(messages))} - orphans
    return kept if opener is None else kept | {opener}


def _is_human_at(messages: Sequence[BaseMessage], place: int) -> bool:
    return place < len(messages) and is_human(messages[place])


def _bounded(turn: Turn) -> Turn:
    if turn.role != "Tool" or len(turn.text) <= TOOL_CHARS:
        return turn
    head = turn.text[:TOOL_CHARS].rstrip()
    return replace(turn, text=f"{head}… ({len(turn.text):,} characters in all)")


def _marked(text: str, said: Sequence[Turn]) -> str:
    """Return the model's bullets; one that only repeats the agent's own words is marked so.

    The model is asked to do this itself. What it copies word for word is not left to it.
    """
    agent = _folded("\n".join(turn.text for turn in said if turn.role == "Assistant"))
    others = _folded("\n".join(turn.text for turn in said if turn.role in {"Person", "Tool"}))
    return "\n".join(_marked_line(line, agent, others) for line in text.splitlines())


def _marked_line(line: str, agent: str, others: str) -> str:
    bullet = _BULLET.match(line)
    fact = line[bullet.end() :] if bullet else line
    words = _folded(fact)
    if not words or UNVERIFIED in fact or words not in agent or words in others:
        return line
    return f"{line[: bullet.end()] if bullet else ''}{UNVERIFIED} {fact}"


def _folded(text: str) -> str:
    """Return the words of a text in lower case, each between spaces."""
    words = re.findall(r"\w+", text.casefold())
    return f" {' '.join(words)} " if words else ""


class KeepsLog(Protocol):
    """Where the days' logs are kept."""

    def append_daily(self, stage: str, body: str, *, owner: str = "", record: str = "") -> str:
        """Add an entry to the day's log of an owner; that of a record is added once."""
        ...


class Flusher:
    """The parts of a flush, joined.

    Args:
        archive: Where the full text of flushed messages goes.
        log: Where what is worth keeping of an owner's thread is written for people to read.
        flush_tokens: A loop of more is flushed.
        piece_tokens: Tokens of a transcript in one prompt; 0 without a model.
    """

    def __init__(
        self, archive: Archive, log: KeepsLog, *, flush_tokens: int, piece_tokens: int
    ) -> None:
        self._archive = archive
        self._log = log
        self._flush_tokens = flush_tokens
        self._piece_tokens = piece_tokens
        self._count: CountTokens = TokenCounter()

    def steps(self, state: Mapping[str, Any], thread: Thread) -> Steps[Step]:
        """Yield what to ask, and return what to store."""
        plan = plan_flush(messages_of(state), self._flush_tokens, self._count)
        if lacks_ids(state):
            return Step(lambda: {**thread.seen(state, ""), "messages": []})
        if not plan.flushed:
            return Step(lambda: thread.seen(state, plan.note))
        result = yield from flushing(plan, self._piece_tokens, thread.owner)
        event = {
            "flushed": len(result.flushed),
            "tokens_before": result.tokens_before,
            "tokens_after": result.tokens_after,
            "note": result.note,
        }
        return Step(lambda: self._flushed(state, thread, result), event)

    def _flushed(
        self, state: Mapping[str, Any], thread: Thread, result: FlushResult
    ) -> dict[str, Any]:
        head = thread.commit(self._archive, "flush", result.flushed, result.text)
        record = head.partition("<")[0]
        # What a thread shares is in no user's files, and what was forgotten is in none again.
        if thread.owner and result.text.strip() and self._archive.keeps(record):
            self._log.append_daily(STAGE, result.text, owner=thread.owner, record=record)
        removed = [RemoveMessage(id=one) for one in result.removable]
        return (
            thread.seen(state, result.note) | thread.committed(state, head) | {"messages": removed}
        )
