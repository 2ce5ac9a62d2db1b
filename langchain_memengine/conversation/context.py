"""Manage a context window without a graph: look at it, ask whether it is full, compact it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from langchain_core.messages import BaseMessage

from langchain_memengine import given
from langchain_memengine.conversation.compaction import (
    CompactionLimits,
    CompactionPlan,
    plan_compaction,
)
from langchain_memengine.conversation.summaries import with_paragraph
from langchain_memengine.conversation.summarization import (
    Summarised,
    piece_tokens_of,
    summarising,
)
from langchain_memengine.conversation.transcript import Role, role_of, tokens_of
from langchain_memengine.models.asking import ChatModel, Steps, aanswered, answered, input_window
from langchain_memengine.shown import Shown

DEFAULT_LIMITS = CompactionLimits()


@dataclass(frozen=True, slots=True)
class MemoryStats(Shown):
    """How full a context window is.

    Attributes:
        messages: How many messages there are.
        tokens: Their estimated tokens, with the overhead of the limits.
        by_role: Tokens by who speaks.
        token_limit: Where compaction begins; 0 when messages are counted.
        message_limit: Where compaction begins, in messages; 0 when tokens are counted.
        share: The part of the limit that is used; above 1 it is time to compact.
    """

    messages: int
    tokens: int
    by_role: Mapping[Role, int]
    token_limit: int
    message_limit: int
    share: float


@dataclass(frozen=True, slots=True)
class CompactionResult(Shown):
    """A history after compaction.

    Attributes:
        messages: What the conversation goes on with; all of them have ids.
        summary: The running summary; show it with ``with_previous_context``.
        archived: What went, oldest first: ``messages`` and these are the input, each once.
        tokens_before: Estimated tokens of the whole history.
        tokens_after: Estimated tokens of ``messages``.
        over_limit: Whether ``messages`` exceed the limit all the same.
        note: What went less well than asked, ``""`` if nothing did.
    """

    messages: tuple[BaseMessage, ...]
    summary: str
    archived: tuple[BaseMessage, ...]
    tokens_before: int
    tokens_after: int
    over_limit: bool
    note: str = ""


def get_memory_stats(
    messages: Sequence[BaseMessage],
    model: ChatModel | None = None,
    *,
    limits: CompactionLimits = DEFAULT_LIMITS,
) -> MemoryStats:
    """Return how full the context window is.

    Args:
        messages: The history.
        model: The model that answers: three quarters of its input window are a limit too, if its
            profile says how large that is.
        limits: When to compact.
    """
    given.messages(messages)
    limits = _for_model(limits, model)
    by_role: Counter[Role] = Counter()
    for message in messages:
        by_role[role_of(message)] += tokens_of(message)
    tokens = sum(by_role.values()) + limits.overhead_tokens
    used = (
        tokens / limits.token_limit if limits.token_limit else 0.0,
        len(messages) / limits.message_limit if limits.message_limit else 0.0,
    )
    return MemoryStats(
        messages=len(messages),
        tokens=tokens,
        by_role=dict(by_role),
        token_limit=limits.token_limit,
        message_limit=limits.message_limit,
        share=max(used),
    )


def needs_compaction(
    messages: Sequence[BaseMessage],
    model: ChatModel | None = None,
    *,
    limits: CompactionLimits = DEFAULT_LIMITS,
) -> bool:
    """Return whether a history exceeds a limit, see :func:`get_memory_stats`."""
    return get_memory_stats(messages, model, limits=limits).share > 1


def compact_messages(
    messages: Sequence[BaseMessage],
    model: ChatModel | None = None,
    *,
    summary: str = "",
    limits: CompactionLimits = DEFAULT_LIMITS,
) -> CompactionResult:
    """Bring a history under its limit and summarise what goes.

    Nothing goes while the history is within the limit, and nothing when the model fails, which
    ``note`` then says, unless the history is beyond the hard limit.

    Args:
        messages: The history. It is not changed.
        model: Writes the summary, and its input window is a limit too, see
            :func:`get_memory_stats`; without one the summary is made of people's own sentences.
        summary: The running summary so far, to which a paragraph is added.
        limits: When to compact, and how far.
    """
    return answered(_compacting(messages, model, summary, limits), model)


async def acompact_messages(
    messages: Sequence[BaseMessage],
    model: ChatModel | None = None,
    *,
    summary: str = "",
    limits: CompactionLimits = DEFAULT_LIMITS,
) -> CompactionResult:
    """Compact a history without blocking, see :func:`compact_messages`."""
    return await aanswered(_compacting(messages, model, summary, limits), model)


def _compacting(
    messages: Sequence[BaseMessage],
    model: ChatModel | None,
    summary: str,
    limits: CompactionLimits,
) -> Steps[CompactionResult]:
    plan = plan_compaction(messages, _for_model(limits, model))
    if not plan.archived:
        return _result(plan, summary, None)
    summarised = yield from summarising(plan, summary, piece_tokens_of(model))
    return _result(plan, summary, summarised)


def _for_model(limits: CompactionLimits, model: ChatModel | None) -> CompactionLimits:
    """Return limits that know the model's input window, unless they name one."""
    if limits.input_tokens or model is None:
        return limits
    return replace(limits, input_tokens=input_window(model))


def _result(plan: CompactionPlan, summary: str, summarised: Summarised | None) -> CompactionResult:
    if summarised is not None and not summarised.paragraph:
        return CompactionResult(
            messages=plan.history,
            summary=summary,
            archived=(),
            tokens_before=plan.tokens_before,
            tokens_after=plan.tokens_before,
            over_limit=True,
            note=summarised.note,
        )
    return CompactionResult(
        messages=plan.kept,
        summary=with_paragraph(summary, summarised.paragraph) if summarised else summary,
        archived=plan.archived,
        tokens_before=plan.tokens_before,
        tokens_after=plan.tokens_after,
        over_limit=plan.over_limit,
        note=(summarised.note if summarised else "") or plan.note,
    )
