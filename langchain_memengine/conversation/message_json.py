"""Messages as plain JSON and back, exactly; nothing that is read is ever executed."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import (
    BaseMessage,
    BaseMessageChunk,
    message_chunk_to_message,
    message_to_dict,
    messages_from_dict,
)
from pydantic import BaseModel

_SURROGATE = re.compile("[\ud800-\udfff]")
_ID_DIGITS = 24


def to_json(message: BaseMessage) -> str:
    """Return a message as JSON in readable UTF-8; the same message always as the same text.

    Lone surrogates, which no database stores, are escaped. A tool's artifact may be any object:
    models and dataclasses become mappings, what JSON does not know becomes text.
    """
    text = json.dumps(message_to_dict(message), ensure_ascii=False, sort_keys=True, default=_plain)
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def from_json(text: str) -> BaseMessage:
    """Return the message that :func:`to_json` wrote."""
    return messages_from_dict([json.loads(text)])[0]


def whole(message: BaseMessage) -> BaseMessage:
    """Return a message for a chunk that streaming left; any other one as it is."""
    return message_chunk_to_message(message) if isinstance(message, BaseMessageChunk) else message


def identified(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Return whole messages that all have ids; a missing one is made of the content.

    Equal messages without ids are numbered, so the same list always gets the same ids.
    """
    seen: Counter[str] = Counter()
    found = []
    for message in map(whole, messages):
        if message.id is None:
            digest = hashlib.sha256(to_json(message).encode()).hexdigest()[:_ID_DIGITS]
            seen[digest] += 1
            message = message.model_copy(update={"id": f"{digest}-{seen[digest]}"})  # noqa: PLW2901  # the message with its id
        found.append(message)
    return found


def _plain(value: Any) -> Any:
    match value:
        case BaseModel():
            return value.model_dump()
        case set() | frozenset():
            return sorted(value, key=repr)
        case Mapping():
            return dict(value)
        case bytes():
            return value.decode("latin-1")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return str(value)
