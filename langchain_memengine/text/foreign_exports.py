"""Read what other memories export: mem0 and ChatGPT. What cannot be read is counted, by reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from langchain_memengine.text.digests import digest

Role = Literal["memory", "user", "assistant"]

_TEXT_KEYS = ("memory", "content", "text", "data")
_LIST_KEYS = ("memories", "results", "items", "data")
_OWNER_KEYS = ("user_id", "agent_id", "run_id", "categories")


@dataclass(frozen=True, slots=True)
class ForeignText:
    """One memory or message of another system.

    Attributes:
        id: Its id there, or a hash of its words.
        text: Its words.
        role: A memory, or whose message it is.
        at: When it was made, if that is told (aware UTC).
        user_id: Whose it is, if that is told.
        thread_id: Conversation it is from, if any.
        metadata: What else is told.
    """

    id: str
    text: str
    role: Role
    at: datetime | None = None
    user_id: str | None = None
    thread_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ForeignExport:
    """What was read.

    Attributes:
        system: ``mem0`` or ``chatgpt``.
        texts: In the order of the export.
        skipped: How many were left out, by reason.
    """

    system: str
    texts: tuple[ForeignText, ...]
    skipped: Mapping[str, int]


def read_export(value: Any) -> ForeignExport | None:
    """Return what a parsed JSON export holds; ``None`` if it is none that is known.

    Known are mem0's lists of memories (plain, or under ``memories`` or ``results``), ChatGPT's
    ``conversations.json`` and lists of ChatGPT memories.
    """
    skipped: Counter[str] = Counter()
    found = value
    if isinstance(value, Mapping):
        if isinstance(value.get("mapping"), Mapping):
            found = [value]
        else:
            lists = (value[key] for key in _LIST_KEYS if isinstance(value.get(key), list))
            found = next(lists, None)
    if not isinstance(found, list):
        return None
    if any(isinstance(one, Mapping) and "mapping" in one for one in found):
        texts = [text for one in found for text in _conversation(one, skipped)]
        return ForeignExport("chatgpt", tuple(texts), dict(skipped))
    known = any(isinstance(one, str) or _text_of(one) is not None for one in found)
    if found and not known:
        return None
    texts = [text for one in found for text in _memory(one, skipped)]
    return ForeignExport("mem0", tuple(texts), dict(skipped))


def _memory(value: Any, skipped: Counter[str]) -> Iterator[ForeignText]:
    text = value if isinstance(value, str) else _text_of(value)
    if text is None:
        skipped["no memory"] += 1
        return
    if not text.strip():
        skipped["blank"] += 1
        return
    told: Mapping[str, Any] = value if isinstance(value, Mapping) else {}
    extra = told.get("metadata")
    metadata = dict(extra) if isinstance(extra, Mapping) else {}
    metadata |= {key: told[key] for key in _OWNER_KEYS if told.get(key)}
    user = told.get("user_id")
    yield ForeignText(
        id=str(told.get("id") or digest(text)[:24]),
        text=text,
        role="memory",
        at=_moment(told.get("created_at") or told.get("create_time")),
        user_id=str(user) if user else None,
        metadata=metadata,
    )


def _text_of(value: Any) -> str | None:
    if not isinstance(value, Mapping):
        return None
    texts = (value[key] for key in _TEXT_KEYS if isinstance(value.get(key), str))
    return next(texts, None)


def _conversation(value: Any, skipped: Counter[str]) -> Iterator[ForeignText]:
    mapping = value.get("mapping") if isinstance(value, Mapping) else None
    if not isinstance(mapping, Mapping):
        skipped["no conversation"] += 1
        return
    path = _path(mapping, value.get("current_node"))
    if not path:
        path = list(mapping)
    others = mapping.keys() - path
    skipped["another branch"] += sum(_said(mapping[node]) is not None for node in others)
    thread = str(
        value.get("conversation_id") or value.get("id") or digest(str(sorted(mapping)))[:24]
    )
    title = value.get("title")
    for node in path:
        message = _said(mapping[node])
        if message is None:
            continue
        role, text, told = message
        if role not in {"user", "assistant"}:
            skipped[f"said by {role or 'nobody'}"] += 1
        elif not text.strip():
            skipped["blank"] += 1
        else:
            yield ForeignText(
                id=f"{thread}/{told.get('id') or node}",
                text=text,
                role="user" if role == "user" else "assistant",
                at=_moment(told.get("create_time") or value.get("create_time")),
                thread_id=thread,
                metadata={"title": title} if isinstance(title, str) and title else {},
            )


def _path(mapping: Mapping[str, Any], node: Any) -> list[str]:
    """Return the nodes from the root to one, which is the branch a conversation ended on."""
    path: dict[str, None] = {}
    while isinstance(node, str) and node in mapping and node not in path:
        path[node] = None
        node = _get(mapping[node], "parent")
    return list(path)[::-1]


def _said(node: Any) -> tuple[str, str, Mapping[str, Any]] | None:
    """Return (role, text, message) of a node; ``None`` if nobody said anything in it."""
    message = node.get("message") if isinstance(node, Mapping) else None
    if not isinstance(message, Mapping):
        return None
    author, content = message.get("author"), message.get("content")
    role = str(author.get("role") or "") if isinstance(author, Mapping) else ""
    if _get(message.get("metadata"), "is_visually_hidden_from_conversation"):
        role = "hidden"
    parts = _get(content, "parts")
    if isinstance(parts, Sequence) and not isinstance(parts, str):
        texts = [p if isinstance(p, str) else str(_get(p, "text") or "") for p in parts]
        return role, "\n".join(text for text in texts if text), message
    return role, str(_get(content, "text") or ""), message


def _get(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, Mapping) else None


def _moment(value: Any) -> datetime | None:
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC)
        moment = datetime.fromisoformat(value)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return None
