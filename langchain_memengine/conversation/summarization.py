"""Summarise and archive what a conversation no longer keeps.

An operation has three parts: a plan (pure), questions to a model (steps that yield prompts), and
what is stored and returned as the update of a graph's state. The archive is committed before
anything is removed, and doing it all again for the same state stores nothing new.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import BaseMessage, RemoveMessage

from langchain_memengine.conversation.compaction import (
    CompactionLimits,
    CompactionPlan,
    CountTokens,
    plan_compaction,
    with_ids,
)
from langchain_memengine.conversation.condensing import PIECE_TOKENS, condensed, pieces_of
from langchain_memengine.conversation.extractive import extractive_summary
from langchain_memengine.conversation.summaries import (
    PARAGRAPH_CHARS,
    with_paragraph,
    with_previous_context,
)
from langchain_memengine.conversation.thread import (
    Archive,
    Step,
    Thread,
    is_the_owners,
    lacks_ids,
    messages_of,
)
from langchain_memengine.conversation.transcript import (
    TokenCounter,
    by_person,
    paragraphs,
    transcript,
    turns,
)
from langchain_memengine.errors import ChatModelError
from langchain_memengine.models.asking import ChatModel, Steps, input_window
from langchain_memengine.text.digests import digest

OnTrimmed = Callable[[str, str, str], None]
"""Called with (person, transcript of their own lines, commit id) for each person in what went.

A step that is retried calls it again with the same commit id.
"""

Learn = Callable[[str, Sequence[BaseMessage], Thread, str], None]
"""Called with (person, their own messages, the conversation, commit id), like :data:`OnTrimmed`."""


@dataclass(frozen=True, slots=True)
class Summarised:
    """What became of the request for a summary.

    Attributes:
        paragraph: The summary; ``""`` means that nothing may be trimmed this time.
        note: What went less well than asked, ``""`` if nothing did.
    """

    paragraph: str
    note: str = ""


def summarising(
    plan: CompactionPlan, earlier: str, piece_tokens: int, default_person: str = ""
) -> Steps[Summarised]:
    """Ask for a summary of what is archived.

    When the model fails, nothing is trimmed, except beyond the hard limit: there the extractive
    summary steps in.

    Args:
        plan: What is archived.
        earlier: The running summary so far.
        piece_tokens: Tokens of the transcript in one prompt; 0 asks nobody.
        default_person: Who wrote messages that name nobody.
    """
    said = paragraphs(plan.archived, default_person)
    if not (said and piece_tokens):
        return extracted(plan, default_person)
    try:
        return Summarised((yield from condensed(pieces_of(said, piece_tokens), earlier)))
    except ChatModelError as error:
        if plan.beyond_hard_limit:
            note = f"{error} The history is beyond the hard limit: it was summarised without it."
            return extracted(plan, default_person, note)
        return Summarised("", f"{error} Nothing was trimmed this time.")


_NO_LIMITS = CompactionLimits(max_tokens=0, max_messages=0)


def extracted(plan: CompactionPlan, default_person: str = "", note: str = "") -> Summarised:
    """Return the summary that needs no model."""
    found = turns(plan.archived, default_person)
    return Summarised(extractive_summary(found, PARAGRAPH_CHARS), note)


def piece_tokens_of(model: ChatModel | None) -> int:
    """Return the tokens of a transcript in one prompt: half of the model's window, if known.

    0 without a model.
    """
    if model is None:
        return 0
    return input_window(model) // 2 or PIECE_TOKENS


class Summarizer:
    """What the summarization node does: plan, ask, store, and the update of the state.

    Args:
        archive: Where trimmed messages go.
        limits: When to compact, and how far.
        piece_tokens: Tokens of a transcript in one prompt; 0 without a model.
        trims: Whether the state's messages are removed; else ``llm_input_messages`` is written.
        on_trimmed: Called for each person in what went, with their lines.
        learn: Called for each person in what went, with their messages.
    """

    def __init__(
        self,
        archive: Archive,
        limits: CompactionLimits,
        *,
        piece_tokens: int,
        trims: bool,
        on_trimmed: OnTrimmed | None = None,
        learn: Learn | None = None,
    ) -> None:
        self._archive = archive
        self._limits = limits
        self._piece_tokens = piece_tokens
        self._trims = trims
        self._on_trimmed = on_trimmed
        self._learn = learn
        self._count: CountTokens = TokenCounter()

    def steps(self, state: Mapping[str, Any], thread: Thread) -> Steps[Step]:
        """Yield what to ask, and return what to store."""
        plan = self._plan(state)
        if not plan.archived:
            return Step(lambda: self._unchanged(state, thread, plan.note))
        summarised = yield from summarising(
            plan, state.get("summary") or "", self._piece_tokens, thread.owner
        )
        note = summarised.note or plan.note
        event = {
            "archived": len(plan.archived) if summarised.paragraph else 0,
            "tokens_before": plan.tokens_before,
            "tokens_after": plan.tokens_after if summarised.paragraph else plan.tokens_before,
            "note": note,
        }
        if not summarised.paragraph:
            return Step(lambda: self._unchanged(state, thread, note), event)
        return Step(lambda: self._trimmed(state, thread, plan, summarised.paragraph, note), event)

    def _plan(self, state: Mapping[str, Any]) -> CompactionPlan:
        """Plan what goes from the part of the history that is not summarised yet.

        A state whose messages have no ids, which only ``Overwrite`` can bring about, is left
        alone: nothing could be removed from it before they have.
        """
        limits = _NO_LIMITS if self._trims and lacks_ids(state) else self._limits
        return plan_compaction(_active(state), limits, self._count)

    def _unchanged(self, state: Mapping[str, Any], thread: Thread, note: str) -> dict[str, Any]:
        """Return the update when nothing goes; it is empty once the state says so."""
        update = thread.seen(state, note)
        if not self._trims:
            update["llm_input_messages"] = with_previous_context(
                _active(state), state.get("summary") or ""
            )
        elif lacks_ids(state):
            update["messages"] = []  # lets the reducer give ids to all
        return update

    def _trimmed(
        self,
        state: Mapping[str, Any],
        thread: Thread,
        plan: CompactionPlan,
        paragraph: str,
        note: str,
    ) -> dict[str, Any]:
        """Store what goes and return the update that removes it."""
        head = thread.commit(
            self._archive, "archive", plan.archived, _remembered(plan, thread, paragraph)
        )
        self._hand_over(plan, thread, head.partition("<")[0])
        summary = with_paragraph(state.get("summary") or "", paragraph)
        update = thread.seen(state, note) | thread.committed(state, head) | {"summary": summary}
        if self._trims:
            update["messages"] = [RemoveMessage(id=one) for one in plan.removable]
        else:
            update["llm_input_messages"] = with_previous_context(plan.kept, summary)
            update["summarized"] = _covered_with(state, plan.archived)
        return update

    def _hand_over(self, plan: CompactionPlan, thread: Thread, commit_id: str) -> None:
        for person, own in by_person(plan.archived, thread.owner).items():
            if person and self._learn is not None:
                self._learn(person, own, thread, commit_id)
            if person and self._on_trimmed is not None:
                self._on_trimmed(person, transcript(own), commit_id)


def _remembered(plan: CompactionPlan, thread: Thread, paragraph: str) -> str:
    """Return the summary, or ``""`` where it would be an owner's memory of what others said."""
    gone = (*plan.pinned, *plan.archived)
    return paragraph if not thread.owner or is_the_owners(gone, plan.history, thread) else ""


def _covered(state: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the ids of messages that the summary covers, each with a mark of its content."""
    return state.get("summarized") or {}


def _covered_with(state: Mapping[str, Any], archived: Sequence[BaseMessage]) -> dict[str, str]:
    present = {message.id for message in with_ids(messages_of(state))}
    before = {one: mark for one, mark in _covered(state).items() if one in present}
    return before | {str(message.id): _mark(message) for message in archived}


def _active(state: Mapping[str, Any]) -> Sequence[BaseMessage]:
    """Return the messages that no summary covers; one that was edited is no longer covered."""
    covered = _covered(state)
    if not covered:
        return messages_of(state)
    return [message for message in with_ids(messages_of(state)) if not _is_in(covered, message)]


def _is_in(covered: Mapping[str, str], message: BaseMessage) -> bool:
    mark = covered.get(str(message.id))
    return mark is not None and mark == _mark(message)


def _mark(message: BaseMessage) -> str:
    said = f"{message.content}{getattr(message, 'tool_calls', '')}"
    return digest(said)[:8]
