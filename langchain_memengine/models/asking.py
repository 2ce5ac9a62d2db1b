"""Ask a chat model, one question after the other, with or without blocking.

What needs several answers is written once, as a generator that yields prompts and is sent replies;
:func:`answered` and :func:`aanswered` run it. A failed call is thrown into the generator, which
decides what follows.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Generator, Mapping
from typing import Any, TypeVar

from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig

from langchain_memengine.errors import ChatModelError
from langchain_memengine.models.failures import is_transient, status_of

T = TypeVar("T")
Question = TypeVar("Question")
Answer = TypeVar("Answer")

Prompt = list[BaseMessage]
ChatModel = Runnable[Any, Any]
"""A chat model, or any Runnable that takes messages and returns a message or a text."""

Steps = Generator[Prompt, str, T]
"""Yields prompts, is sent the replies, and returns what it made of them."""

_REFUSED = frozenset({"content_filter", "refusal", "safety", "prohibited_content", "blocklist"})
_REFUSAL = re.compile(
    r"(?:i['’]m|i am) (?:very |so )?sorry\b"
    r"|sorry, (?:but )?i\b"
    r"|i (?:can['’]t|cannot|can not|won['’]t|will not|am unable|am not able)\b"
    r"|i['’]m (?:unable|not able)\b"
    r"|as an ai\b",
    re.IGNORECASE,
)


def answered(steps: Steps[T], model: ChatModel | None, config: RunnableConfig | None = None) -> T:
    """Run steps to their end, asking the model for each prompt they yield.

    Without a model every prompt fails; steps that can do without yield none.
    """
    return driven(steps, lambda prompt: _reply_text(_invoke(model, prompt, config)))


async def aanswered(
    steps: Steps[T], model: ChatModel | None, config: RunnableConfig | None = None
) -> T:
    """Run steps to their end without blocking, see :func:`answered`."""

    async def reply_to(prompt: Prompt) -> str:
        return _reply_text(await _ainvoke(model, prompt, config))

    return await adriven(steps, reply_to)


def driven(steps: Generator[Question, Answer, T], ask: Callable[[Question], Answer]) -> T:
    """Run steps to their end; what asking raises is thrown into them, unless a graph pauses."""
    try:
        question = next(steps)
        while True:
            try:
                answer = ask(question)
            except Exception as error:  # the steps decide: what they do not catch they raise again
                if is_interrupt(error):
                    raise
                question = steps.throw(error)
            else:
                question = steps.send(answer)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]  # the generator's own type


async def adriven(
    steps: Generator[Question, Answer, T], ask: Callable[[Question], Awaitable[Answer]]
) -> T:
    """Run steps to their end without blocking, see :func:`driven`."""
    try:
        question = next(steps)
        while True:
            try:
                answer = await ask(question)
            except Exception as error:  # the steps decide: what they do not catch they raise again
                if is_interrupt(error):
                    raise
                question = steps.throw(error)
            else:
                question = steps.send(answer)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]  # the generator's own type


def input_window(model: object) -> int:
    """Return how many tokens a model reads, from its profile; 0 if it does not say."""
    while (inner := getattr(model, "bound", None) or getattr(model, "runnable", None)) is not None:
        model = inner  # a model with tools, retries or fallbacks
    profile = getattr(model, "profile", None)
    window = profile.get("max_input_tokens") if isinstance(profile, Mapping) else None
    return window if isinstance(window, int) and window > 0 else 0


def _invoke(model: ChatModel | None, prompt: Prompt, config: RunnableConfig | None) -> object:
    if model is None:
        raise ChatModelError("There is no chat model to ask.")
    try:
        return model.invoke(prompt, config)
    except Exception as error:
        if is_interrupt(error):
            raise
        raise failure_of(error) from error


async def _ainvoke(
    model: ChatModel | None, prompt: Prompt, config: RunnableConfig | None
) -> object:
    if model is None:
        raise ChatModelError("There is no chat model to ask.")
    try:
        return await model.ainvoke(prompt, config)
    except Exception as error:
        if is_interrupt(error):
            raise
        raise failure_of(error) from error


def is_interrupt(error: Exception) -> bool:
    """Return whether a graph that is asked as a model pauses, which is no failure."""
    return any(cls.__name__ == "GraphBubbleUp" for cls in type(error).__mro__)


def failure_of(error: Exception) -> ChatModelError:
    """Return the error that says how a chat model failed; its own message may quote a key."""
    status = status_of(error)
    return ChatModelError(
        f"The chat model failed with {type(error).__name__}{f' ({status})' if status else ''}.",
        retryable=is_transient(error),
    )


def _reply_text(reply: object) -> str:
    """Return the text of a reply.

    Raises:
        ChatModelError: It is blank, a refusal, or no text at all.
    """
    if isinstance(reply, BaseMessage):
        if is_refused(reply):
            raise ChatModelError("The chat model refused.")
        text = str(reply.text)
    elif isinstance(reply, str):
        text = reply
    else:
        raise ChatModelError(f"The chat model returned a {type(reply).__name__}, not a text.")
    if not text.strip():
        raise ChatModelError("The chat model returned an empty reply.")
    if _REFUSAL.match(text.strip()):
        raise ChatModelError("The chat model refused.")
    return text.strip()


def is_refused(reply: BaseMessage) -> bool:
    """Return whether a provider marked a reply as a refusal."""
    reasons = (reply.response_metadata.get(key) for key in ("finish_reason", "stop_reason"))
    return bool(reply.additional_kwargs.get("refusal")) or any(
        str(reason).lower() in _REFUSED for reason in reasons
    )
