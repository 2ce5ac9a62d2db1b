"""Ask any chat model for a value of a given shape: prompt | model | shape.

Providers differ in how they can be made to answer in a shape, so the ways are tried in order: a
JSON schema, a function to call, JSON of any kind, and at last plain words. A reply that cannot be
read is sent back once, with what is wrong with it.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Generator
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar, overload

from langchain_core.exceptions import OutputParserException
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.utils.json_schema import dereference_refs
from pydantic import BaseModel, ValidationError

from langchain_memengine.errors import ChatModelError, ExtractionError
from langchain_memengine.models.asking import ChatModel, Prompt, adriven, driven, failure_of
from langchain_memengine.models.failures import status_of
from langchain_memengine.models.reply_reading import (
    Shape,
    UnreadableReplyError,
    read_reply,
    said_in,
)
from langchain_memengine.models.retrying import Retries

METHODS = ("json_schema", "function_calling", "json_mode")
"""How LangChain makes a provider answer in a shape, the most reliable one first."""

_CANNOT = frozenset({400, 422, 501})
"""What providers answer to a way of asking that a model of theirs does not know."""

_TRIES = 2

_AS_JSON = (
    "Reply with one JSON object and nothing else. It must be valid by this JSON schema:\n{schema}"
)
_AGAIN = (
    "That reply cannot be used: {problem}. Reply again with the whole JSON object and nothing else."
)

Value = TypeVar("Value")

_Call = tuple[Runnable[Any, Any], Prompt]


@dataclass(frozen=True, slots=True)
class _Way:
    """A way of asking.

    Attributes:
        model: Is asked.
        told: What it must be told about the shape; ``""`` if the provider tells it.
    """

    model: Runnable[Any, Any]
    told: str = ""


class _UnsupportedError(Exception):
    """A model cannot be asked in this way."""

    def __init__(self, cause: Exception) -> None:
        self.cause = cause
        super().__init__()


class Extractor(Generic[Value]):
    """A chat model that answers in a shape. Safe to use from several threads.

    Args:
        model: Any chat model, or any Runnable that takes messages and returns a message or a text.
        shape: What is asked for.
        read: What a reply becomes; it raises ``UnreadableReplyError`` for one that says nothing.
            By default a value of the shape.
        retries: How often a call is made again that fails in a way that may pass.
        sleep: Waits between tries.
    """

    @overload
    def __init__(
        self: Extractor[Shape],
        model: ChatModel,
        shape: type[Shape],
        *,
        retries: Retries = ...,
        sleep: Callable[[float], None] = ...,
    ) -> None: ...

    @overload
    def __init__(
        self,
        model: ChatModel,
        shape: type[BaseModel],
        *,
        read: Callable[[object], Value],
        retries: Retries = ...,
        sleep: Callable[[float], None] = ...,
    ) -> None: ...

    def __init__(
        self,
        model: ChatModel,
        shape: type[BaseModel],
        *,
        read: Callable[[object], Any] | None = None,
        retries: Retries = Retries(),  # noqa: B008  # frozen
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._shape = shape
        self._read: Callable[[object], Any] = read or partial(read_reply, shape=shape)
        self._ways = _ways(model, shape)
        self._retries = retries
        self._sleep = sleep

    def ask(self, prompt: Prompt, config: RunnableConfig | None = None) -> Value:
        """Return what the model answers.

        Raises:
            ExtractionError: Its reply is not of the shape, and neither is the second one.
            ChatModelError: It failed or refused.
        """
        return driven(self._asking(prompt), lambda call: self._called(*call, config))

    async def aask(self, prompt: Prompt, config: RunnableConfig | None = None) -> Value:
        """Return what the model answers without blocking, see :meth:`ask`."""
        return await adriven(self._asking(prompt), lambda call: self._acalled(*call, config))

    def _asking(self, prompt: Prompt) -> Generator[_Call, object, Value]:
        """Yield calls to make, be sent answers or thrown failures, and return the value."""
        failed: Exception = NotImplementedError()
        for number, way in enumerate(ways := self._ways):
            try:
                value = yield from self._repaired(way, prompt)
            except _UnsupportedError as error:
                failed = error.cause
            else:
                self._ways = ways[number:]  # what it does not know need not be tried again
                return value
        raise failure_of(failed) from failed

    def _repaired(self, way: _Way, prompt: Prompt) -> Generator[_Call, object, Value]:
        question = [*prompt, HumanMessage(way.told)] if way.told else prompt
        problem = ""
        for _ in range(_TRIES):
            said = ""
            try:
                answer = yield way.model, question
                said = said_in(answer)
                return self._read(answer)  # type: ignore[no-any-return]  # `read`'s own type
            except UnreadableReplyError as error:
                problem = str(error)
            except (ValidationError, OutputParserException) as error:
                problem = f"it raised {type(error).__name__}"  # a client that reads replies itself
            except ChatModelError:
                raise
            except Exception as error:
                if _cannot(error):
                    raise _UnsupportedError(error) from error
                raise failure_of(error) from error
            answered = [AIMessage(said)] if said.strip() else []
            question = [*question, *answered, HumanMessage(_AGAIN.format(problem=problem))]
        raise ExtractionError(
            f"The chat model did not answer as a {self._shape.__name__}, even when told what was "
            f"wrong: {problem}. Try again, or use a model that follows JSON schemas."
        )

    def _called(
        self, model: Runnable[Any, Any], question: Prompt, config: RunnableConfig | None
    ) -> object:
        started = time.monotonic()
        for attempt in range(1, self._retries.attempts + 1):
            try:
                return model.invoke(question, config)
            except Exception as error:
                wait = self._retries.wait_seconds(error, attempt, time.monotonic() - started)
                if wait is None:
                    raise
            self._sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    async def _acalled(
        self, model: Runnable[Any, Any], question: Prompt, config: RunnableConfig | None
    ) -> object:
        started = time.monotonic()
        for attempt in range(1, self._retries.attempts + 1):
            try:
                return await model.ainvoke(question, config)
            except Exception as error:
                wait = self._retries.wait_seconds(error, attempt, time.monotonic() - started)
                if wait is None:
                    raise
            await asyncio.to_thread(self._sleep, wait)
        raise AssertionError("the last attempt returns or raises")


def _ways(model: ChatModel, shape: type[BaseModel]) -> list[_Way]:
    """Return the ways to ask a model, the most reliable one first; plain words always work."""
    schema = _schema(shape)
    told = _AS_JSON.format(schema=json.dumps(schema))
    found = []
    for method in METHODS:
        structured = _structured(model, schema, method)
        if structured is not None:
            found.append(_Way(structured, told if method == "json_mode" else ""))
    return [*found, _Way(model, told)]


def _structured(model: ChatModel, schema: dict[str, Any], method: str) -> Runnable[Any, Any] | None:
    """Return a model that answers by a schema, ``None`` if it cannot.

    The schema is a mapping, not a class: clients that make instances of a class raise away the
    reply that is not quite one. Each gets a copy, because some write into it.
    """
    build = getattr(model, "with_structured_output", None)
    strict = {} if method == "json_mode" else {"strict": True}
    for options in ({"method": method, **strict}, {"method": method}):
        try:
            return build(deepcopy(schema), include_raw=True, **options) if build else None
        except (NotImplementedError, TypeError, ValueError, AttributeError):
            continue  # not this way, or not with this option
    return None


def _schema(shape: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of a shape without references, which some providers do not follow."""
    schema = dereference_refs(shape.model_json_schema())
    return {name: value for name, value in schema.items() if name != "$defs"}


def _cannot(error: Exception) -> bool:
    return isinstance(error, NotImplementedError) or status_of(error) in _CANNOT
