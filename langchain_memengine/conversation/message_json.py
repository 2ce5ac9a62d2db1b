"""Messages as plain JSON and back, exactly; nothing that is read is ever executed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from langchain_core.messages import (
    BaseMessage,
    BaseMessageChunk,
    message_chunk_to_message,
    message_to_dict,
    messages_from_dict,
)

_SURROGATE = re.compile("[\ud800-\udfff]")
_MAX_DEPTH = 100
# A RemoveMessage is an order to a state's reducer: LangChain refuses what it writes of one.
_READABLE = frozenset({"ai", "chat", "function", "human", "system", "tool"})


def to_json(message: BaseMessage) -> str:
    """Return a message as JSON in readable UTF-8; the same message always as the same text.

    Lone surrogates, which no database stores, are escaped. A tool's artifact may be any object:
    models and dataclasses become mappings, keys and what JSON does not know become text, and what
    is nested more than 100 levels deep, or holds itself, an ellipsis. A message of a class that
    LangChain cannot read back becomes a ``ChatMessage`` whose role is its type.
    """
    told = message_to_dict(message)
    if message.type not in _READABLE:
        told = {"type": "chat", "data": {**told["data"], "type": "chat", "role": message.type}}
    text = json.dumps(plain(told), ensure_ascii=False, sort_keys=True)
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def from_json(text: str) -> BaseMessage:
    """Return the message that :func:`to_json` wrote."""
    return messages_from_dict([json.loads(text)])[0]


def whole(message: BaseMessage) -> BaseMessage:
    """Return a message for a chunk that streaming left; any other one as it is."""
    return message_chunk_to_message(message) if isinstance(message, BaseMessageChunk) else message


def plain(value: Any, depth: int = 0) -> Any:
    """Return a value as JSON knows it, whatever it is; ``depth`` is how deep it stands already."""
    if value is None or isinstance(value, int | float | str):
        return value
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if depth > _MAX_DEPTH:
        return "…"
    if isinstance(value, Mapping):
        return {str(key): plain(inner, depth + 1) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        inside = value if isinstance(value, list | tuple) else sorted(value, key=repr)
        return [plain(inner, depth + 1) for inner in inside]
    return str(value)
