"""Messages that are quarantined: their place in a conversation stays, their words do not come back.

A message that was missing would leave a tool's call without its answer, which providers refuse.
"""

from __future__ import annotations

from collections.abc import Collection

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from langchain_memengine.conversation.source_uris import message_source
from langchain_memengine.storage.record_values import Quarantine
from langchain_memengine.text.sanitize import clean_text

WITHHELD = "[quarantined]"
"""What stands in the place of the words."""


def readable(
    message: BaseMessage, known: Collection[Quarantine], thread_id: str, commit_id: str = ""
) -> BaseMessage:
    """Return a stored message, or without its words if it is quarantined.

    Args:
        message: As it is stored.
        known: All quarantines of the store.
        thread_id: Its conversation.
        commit_id: The memory commit that archived it; ``""`` is any.
    """
    if not known:  # a whole archive is read, and nearly no store has any
        return message
    source = message_source(thread_id, clean_text(message.id or ""), commit_id)
    is_aside = any(
        one.covers(source) or (not commit_id and one.source.startswith(source)) for one in known
    )
    return _withheld(message) if is_aside else message


def _withheld(message: BaseMessage) -> BaseMessage:
    emptied: dict[str, object] = {
        "content": WITHHELD, "additional_kwargs": {}, "response_metadata": {},
    }  # fmt: skip
    if isinstance(message, ToolMessage):
        emptied["artifact"] = None
    if isinstance(message, AIMessage):
        emptied["tool_calls"] = [{**call, "args": {}} for call in message.tool_calls]
        emptied["invalid_tool_calls"] = []
    return message.model_copy(update=emptied)
