"""Archived messages as Markdown that people read."""

from __future__ import annotations

import json
from collections.abc import Sequence

from langchain_core.messages import AIMessage, BaseMessage

from langchain_memengine.conversation.message_json import plain
from langchain_memengine.conversation.transcript import Role, role_of
from langchain_memengine.text.counting import counted
from langchain_memengine.types import (
    Commit,
    Origin,
    Trust,
)
from langchain_memengine.workspace.layout import ARCHIVE_DIR, owner_prefix, slug

_PROVENANCE: dict[Role, tuple[Origin, Trust]] = {
    "Person": ("user", "trusted"),
    "Assistant": ("assistant", "unverified"),
    "Tool": ("tool", "untrusted"),
    "System": ("app", "trusted"),
}
_FILE_DIGITS = 12


def provenance_of(message: BaseMessage) -> tuple[Origin, Trust]:
    """Return where a message's text came from, and how far it may be trusted."""
    return _PROVENANCE[role_of(message)]


def transcript_name(commit: Commit, owner: str) -> str:
    """Return the workspace-relative name of a commit's transcript."""
    folder = f"{owner_prefix(owner)}{ARCHIVE_DIR}/{slug(commit.thread_id)}"
    return f"{folder}/{commit.created_at:%Y-%m-%d-%H%M%S}-{transcript_ending(commit.id)}"


def transcript_ending(commit_id: str) -> str:
    """Return what the name of a commit's transcript ends with, behind the last ``-``."""
    return f"{commit_id[:_FILE_DIGITS]}.md"


def transcript(commit: Commit, messages: Sequence[BaseMessage], summary: str) -> str:
    """Return messages as Markdown under a title, the summary first if there is one."""
    title = f"# Archived {commit.created_at:%Y-%m-%d %H:%M} UTC"
    parts = [f"{title}\n\nMemory commit `{commit.id}`, {counted(len(messages), 'message')}."]
    if summary.strip():
        parts.append(f"## Summary\n\n{summary.strip()}")
    parts += [_turn(message) for message in messages]
    return "\n\n".join(parts) + "\n"


def _turn(message: BaseMessage) -> str:
    name = " ".join((message.name or "").split())
    parts = [f"## {role_of(message)}" + (f" {name}" if name else "")]
    text = str(message.text)
    if text.strip():
        parts.append(text.strip("\n"))
    parts += [f"*[{kind}]*" for kind in _other_blocks(message)]
    if isinstance(message, AIMessage):
        calls = [(call["name"], call["args"]) for call in message.tool_calls]
        parts += [f"*calls* `{name}` `{_one_line_json(arguments)}`" for name, arguments in calls]
    return "\n\n".join(parts)


def _one_line_json(value: object) -> str:
    return json.dumps(plain(value), ensure_ascii=False)


def _other_blocks(message: BaseMessage) -> list[str]:
    """Return the kinds of the blocks that are no text, like images and files."""
    if isinstance(message.content, str):
        return []
    blocks = [block for block in message.content if isinstance(block, dict)]
    kinds = [str(block.get("type", "block")) for block in blocks]
    return [kind for kind in kinds if kind not in {"text", "tool_use", "tool_call"}]
