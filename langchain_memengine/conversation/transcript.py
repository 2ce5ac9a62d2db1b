"""Messages as turns of a Person, the Assistant or a Tool, and what they cost.

Whatever a message holds, it becomes bounded text: an image is a placeholder, however long its
base64, and a block of a shape nobody has seen costs what an image costs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from langchain_memengine.text.tokens import QUARTERS, quarter_tokens

Role = Literal["Person", "Assistant", "Tool", "System"]
"""Who speaks. GoClaw labels turns Person, Assistant and Tool."""

MESSAGE_TOKENS = 3
"""What a message costs besides its content: role and separators, as LangChain counts."""

BLOCK_TOKENS = 1_000
"""What a content block without text costs, an image for example, whatever its size."""

WITHIN_TURN = "    "
"""What the lines of a turn begin with, except its first."""

CACHED_COUNTS = 100_000
"""Messages whose counts are remembered, at most."""

_CALL_BLOCKS = frozenset({"tool_use", "tool_call", "function_call", "input_json_delta"})
_TEXT_KEYS = ("text", "thinking", "reasoning", "refusal")
_PLACEHOLDER_CHARS = 40
_ENDS_LABEL = re.compile("[():：]")
_MAX_DEPTH = 3  # tool results hold blocks, and no provider nests them deeper


@dataclass(frozen=True, slots=True)
class Turn:
    """What one message said.

    Attributes:
        role: Who speaks.
        speaker: The person's id or name, the tool's name; ``""`` if not known.
        text: The message's text; other content as placeholders like ``[image]``.
    """

    role: Role
    speaker: str
    text: str


def role_of(message: BaseMessage) -> Role:
    """Return who speaks in a message; a type nobody knows counts as the assistant's."""
    if isinstance(message, ChatMessage):
        return _CHAT_ROLES.get(message.role.lower(), "Assistant")
    for kind, role in _ROLES:
        if isinstance(message, kind):
            return role
    return "Assistant"


_ROLES: tuple[tuple[type[BaseMessage], Role], ...] = (
    (HumanMessage, "Person"),
    (AIMessage, "Assistant"),
    (ToolMessage, "Tool"),
    (SystemMessage, "System"),
    (FunctionMessage, "Tool"),
)
_CHAT_ROLES: dict[str, Role] = {
    "user": "Person",
    "human": "Person",
    "system": "System",
    "developer": "System",
    "tool": "Tool",
    "function": "Tool",
}


def is_human(message: BaseMessage) -> bool:
    """Return whether a person speaks in a message."""
    return isinstance(message, HumanMessage) or (
        isinstance(message, ChatMessage) and role_of(message) == "Person"
    )


def newest_human(messages: Sequence[BaseMessage]) -> BaseMessage | None:
    """Return the last message in which a person speaks, if one does."""
    return next((message for message in reversed(messages) if is_human(message)), None)


def speaker_of(message: BaseMessage, default: str = "") -> str:
    """Return the person who wrote a message: ``additional_kwargs["user_id"]``, else its ``name``.

    An id is preferred because a name is for showing. ``default`` stands in where neither is set.
    """
    return str(message.additional_kwargs.get("user_id") or message.name or default)


def turns(messages: Iterable[BaseMessage], default_person: str = "") -> list[Turn]:
    """Return what was said, in order; messages without content or calls are left out."""
    found = []
    for message in messages:
        text = said(message)
        if text:
            found.append(Turn(role_of(message), _speaker(message, default_person), text))
    return found


def paragraphs(messages: Iterable[BaseMessage], default_person: str = "") -> list[str]:
    """Return the turns as labelled paragraphs; people's names are shown if there are several."""
    found = turns(messages, default_person)
    people = {turn.speaker for turn in found if turn.role == "Person"}
    return [labelled(turn, with_name=len(people) > 1) for turn in found]


def labelled(turn: Turn, *, with_name: bool) -> str:
    """Return a turn as a paragraph like ``Person (anna): …``, with a tool's name always.

    Lines after the first are indented by four, so that no text can look like another turn, nor
    like a heading where the paragraph is kept as Markdown. A name cannot end its label either.
    """
    name = label_of(turn.speaker)
    shown = turn.role == "Tool" or (turn.role == "Person" and with_name)
    label = f"{turn.role} ({name})" if shown and name else turn.role
    return f"{label}: " + f"\n{WITHIN_TURN}".join(turn.text.splitlines())


def label_of(name: str) -> str:
    """Return a name on one line, without what would end a label: it cannot forge another one."""
    return " ".join(_ENDS_LABEL.sub(" ", name).split())


def transcript(messages: Iterable[BaseMessage], default_person: str = "") -> str:
    """Return the turns as one text, see :func:`paragraphs`."""
    return "\n\n".join(paragraphs(messages, default_person))


def by_person(
    messages: Iterable[BaseMessage], default_person: str = ""
) -> dict[str, list[BaseMessage]]:
    """Return each person's own messages, in order of first appearance."""
    found: dict[str, list[BaseMessage]] = {}
    for message in messages:
        if is_human(message):
            found.setdefault(speaker_of(message, default_person), []).append(message)
    return found


def said(message: BaseMessage) -> str:
    """Return a message's text, its other content as placeholders, and the tools it calls."""
    shown = [*_shown(message.content), *(f"[calls {name}]" for name in _called_tools(message))]
    return "\n".join(part for part in (piece.strip() for piece in shown) if part)


def tokens_of(message: BaseMessage) -> int:
    """Estimate what a message costs: its text, its tool calls with their arguments, its blocks."""
    texts, blocks = _weighed(message)
    quarters = sum(map(quarter_tokens, texts))
    return MESSAGE_TOKENS + BLOCK_TOKENS * blocks - (-quarters // QUARTERS)


class TokenCounter:
    """Counts a message once and remembers the count under its id until its content changes."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, int]] = {}

    def __call__(self, message: BaseMessage) -> int:
        """Return the estimated tokens of a message."""
        if message.id is None:
            return tokens_of(message)
        identity = _identity(message)
        known = self._known.get(message.id)
        if known is not None and known[0] == identity:
            return known[1]
        if len(self._known) >= CACHED_COUNTS:
            self._known.clear()
        tokens = tokens_of(message)
        self._known[message.id] = (identity, tokens)
        return tokens


def _identity(message: BaseMessage) -> int:
    """Return a hash of all that :func:`tokens_of` looks at."""
    if type(message.content) is str and not (
        isinstance(message, AIMessage) and (message.tool_calls or message.invalid_tool_calls)
    ):
        return hash(message.content)
    texts, blocks = _weighed(message)
    return hash((*texts, blocks))


def _weighed(message: BaseMessage) -> tuple[list[str], int]:
    """Return the texts a message is charged for, and how many blocks have none."""
    texts: list[str] = []
    blocks = 0
    calls = isinstance(message, AIMessage) and message.tool_calls
    for text in _texts(message.content, _CALL_BLOCKS if calls else frozenset(), 0):
        if text is None:
            blocks += 1
        else:
            texts.append(text)
    if isinstance(message, AIMessage):
        for call in (*message.tool_calls, *message.invalid_tool_calls):
            texts += (str(call["name"]), str(call["args"]))
    return texts, blocks


def _texts(content: Any, skipped: frozenset[str], depth: int) -> Iterator[str | None]:
    """Yield the texts in a message's content, and ``None`` for each block without one."""
    if isinstance(content, str):
        yield content
        return
    for block in content:
        if isinstance(block, str):
            yield block
        elif _kind(block) in skipped:
            continue  # a call, and those are counted where they are parsed
        elif (text := _block_text(block)) is not None:
            yield text
        elif depth < _MAX_DEPTH and isinstance(inner := block.get("content"), str | list):
            yield from _texts(_blocks(inner), skipped, depth + 1)
        else:
            yield None


def _blocks(content: str | list[Any]) -> str | list[Any]:
    """Return content without what is neither text nor a block."""
    if isinstance(content, str):
        return content
    return [block for block in content if isinstance(block, str | dict)]


def _block_text(block: dict[str, Any]) -> str | None:
    return next((block[key] for key in _TEXT_KEYS if isinstance(block.get(key), str)), None)


def _shown(content: str | Sequence[Any]) -> Iterator[str]:
    """Yield what people see of a message: no reasoning, and a placeholder for what is no text."""
    if isinstance(content, str):
        yield content
        return
    for block in content:
        if isinstance(block, str):
            yield block
        elif isinstance(block.get("text"), str):
            yield block["text"]
        elif _kind(block) == "tool_result" and isinstance(
            inner := block.get("content"), str | list
        ):
            yield from _shown(inner if isinstance(inner, str) else _flat(inner))
        elif _kind(block) not in _CALL_BLOCKS | {"thinking", "reasoning"}:
            yield _placeholder(block)


def _flat(blocks: list[Any]) -> list[Any]:
    """Return the blocks that do not hold blocks in turn."""
    return [block for block in _blocks(blocks) if isinstance(block, str) or "content" not in block]


def _kind(block: dict[str, Any]) -> str:
    return str(block.get("type") or "content")


def _placeholder(block: dict[str, Any]) -> str:
    kind = _kind(block).removesuffix("_url")
    name = block.get("filename") or block.get("name") or ""
    return f"[{' '.join(f'{kind} {name}'.split())[:_PLACEHOLDER_CHARS]}]"


def _called_tools(message: BaseMessage) -> list[str]:
    return [call["name"] for call in message.tool_calls] if isinstance(message, AIMessage) else []


def _speaker(message: BaseMessage, default_person: str) -> str:
    if is_human(message):
        return speaker_of(message, default_person)
    return message.name or ""
