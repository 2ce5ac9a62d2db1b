"""Read a model's reply as a value of a given shape, as much of it as is sound.

Models wrap JSON in prose and code fences, stop in the middle, and get one entry of a list wrong.
What is valid is kept: an entry that is not costs itself, not its neighbours.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from typing import Any, TypeVar, get_args, get_origin

from langchain_core.messages import BaseMessage
from langchain_core.utils.json import parse_partial_json
from pydantic import BaseModel, TypeAdapter, ValidationError

from langchain_memengine.errors import ChatModelError
from langchain_memengine.models.asking import is_refused

logger = logging.getLogger(__name__)

Shape = TypeVar("Shape", bound=BaseModel)

REASONING = "reasoning"
"""The field in which a model thinks before it answers; a reply without it loses nothing."""

_THOUGHTS = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
_THOUGHT_END = re.compile(r"</think(?:ing)?>")
_JSON_START = re.compile(r'\{\s*(?:["}]|\Z)|\[\s*(?:[\[{"\]\d-]|true|false|null|\Z)')
_MAX_PROBLEMS = 5


class UnreadableReplyError(ValueError):
    """A reply is not of the shape that was asked for; says what is wrong, without quoting it."""


def read_reply(answer: object, shape: type[Shape]) -> Shape:
    """Return the value in a model's answer.

    Args:
        answer: A message, a text, or what ``with_structured_output(include_raw=True)`` returns.
        shape: What it should be; the entries of its lists are judged one by one.

    Raises:
        UnreadableReplyError: Nothing in it is of the shape.
        ChatModelError: The model refused.
    """
    value = json_of(answer)
    lists = _list_fields(shape)
    if isinstance(value, list) and len(lists) == 1:
        value = {next(iter(lists)): value}
    if not isinstance(value, dict):
        raise UnreadableReplyError("it is no JSON object")
    return _salvaged(value, shape)


def json_of(answer: object) -> Any:
    """Return the JSON value in a model's answer: an object, or a list of what should be in one.

    Raises:
        UnreadableReplyError: There is none in it.
        ChatModelError: The model refused.
    """
    raw = answer.get("raw") if isinstance(answer, Mapping) else answer
    if isinstance(raw, BaseMessage) and is_refused(raw):
        raise ChatModelError("The chat model refused.")
    parsed = answer.get("parsed") if isinstance(answer, Mapping) else None
    if isinstance(parsed, BaseModel):
        return parsed.model_dump()
    return dict(parsed) if isinstance(parsed, Mapping) else json_in(said_in(answer))


def said_in(answer: object) -> str:
    """Return the words of a model's answer, or the arguments of the tool it called."""
    raw = answer.get("raw") if isinstance(answer, Mapping) else answer
    if not isinstance(raw, BaseMessage):
        return raw if isinstance(raw, str) else ""
    for call in (*getattr(raw, "tool_calls", ()), *getattr(raw, "invalid_tool_calls", ())):
        arguments = call["args"]
        return arguments if isinstance(arguments, str) else json.dumps(arguments)
    return str(raw.text)


def json_in(text: str) -> Any:
    """Return the first JSON object or list in a text, without the entry in which it breaks off.

    A list of numbers or texts counts only where nothing else follows: prose cites ``[1]``.

    Raises:
        UnreadableReplyError: There is none in it.
    """
    text = _without_thoughts(text)
    cited, at = None, 0
    while found := _JSON_START.search(text, at):
        try:
            value, at = json.JSONDecoder(strict=False).raw_decode(text, found.start())
        except json.JSONDecodeError:
            return _broken_off(text[found.start() :])
        except (RecursionError, ValueError):  # Python reads no number of thousands of digits
            raise UnreadableReplyError(
                "it is nested too deeply, or has too long a number"
            ) from None
        if isinstance(value, dict) or any(isinstance(one, dict | list) for one in value):
            return value
        cited = value if cited is None else cited
    if cited is None:
        raise UnreadableReplyError("it holds no JSON object")
    return cited


def _without_thoughts(text: str) -> str:
    # Behind the last end of a thought there is none, though a model may begin many.
    end = max((found.end() for found in _THOUGHT_END.finditer(text)), default=0)
    return _THOUGHTS.sub("", text[:end]) + text[end:]


def _broken_off(text: str) -> Any:
    try:
        value = parse_partial_json(text)
    except json.JSONDecodeError:
        raise UnreadableReplyError("it is no valid JSON") from None
    last = value[next(reversed(value))] if isinstance(value, dict) and value else value
    if isinstance(last, list) and len(last) > 1:
        last.pop()  # it may be a half of what was meant
        return value
    raise UnreadableReplyError("it breaks off before it says anything")


def _salvaged(values: dict[str, Any], shape: type[Shape]) -> Shape:
    if REASONING in shape.model_fields:
        values.setdefault(REASONING, "")
    for name, entry in _list_fields(shape).items():
        if isinstance(values.get(name), list):
            values[name] = _valid(values[name], entry, name)
    try:
        return shape.model_validate(values)
    except ValidationError as error:
        raise UnreadableReplyError(_problems(error)) from None


def _valid(entries: list[Any], entry: Any, name: str) -> list[Any]:
    """Return the valid entries of a list.

    Raises:
        UnreadableReplyError: There are entries, and none is valid.
    """
    adapter: TypeAdapter[Any] = TypeAdapter(entry)
    found, problems = [], []
    for one in entries:
        try:
            found.append(adapter.validate_python(one))
        except ValidationError as error:
            problems.append(f"an entry of {name}: {_problems(error)}")
    if problems and not found:
        raise UnreadableReplyError(problems[0])
    if problems:
        logger.warning("%d of %d entries of a reply were unusable", len(problems), len(entries))
    return found


def _list_fields(shape: type[BaseModel]) -> dict[str, Any]:
    """Return the type of the entries by the names of the fields that are lists."""
    return {
        name: get_args(field.annotation)[0]
        for name, field in shape.model_fields.items()
        if get_origin(field.annotation) is list
    }


def _problems(error: ValidationError) -> str:
    told = error.errors(include_url=False, include_input=False, include_context=False)
    return "; ".join(
        f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in told[:_MAX_PROBLEMS]
    )
