"""Source URIs of what conversations leave in memory."""

from __future__ import annotations

from langchain_memengine.text.uris import is_of_message, message_uri, uri_part


def message_source(thread_id: str, message_id: str, commit_id: str) -> str:
    """Return the source URI of a message as one commit archived it.

    Two branches may archive the same message, and an edited one has the same id.
    """
    return f"{message_uri(thread_id, message_id)}#{commit_id}"


def summary_source(thread_id: str, commit_id: str) -> str:
    """Return the source URI of the summary that a commit archived; no message has it."""
    return f"{thread_source(thread_id)}(summary)#{commit_id}"


def thread_source(thread_id: str) -> str:
    """Return what the source URIs of a conversation's messages begin with."""
    return f"message:{uri_part(thread_id)}/"


def learnt_source(thread_id: str, commit_id: str, number: int) -> str:
    """Return the source URI of a text that a commit learnt."""
    return f"{learnt_prefix(thread_id)}{commit_id}-{number}"


def learnt_prefix(thread_id: str) -> str:
    """Return what the source URIs of a conversation's learnt texts begin with."""
    return f"learnt:{uri_part(thread_id)}/"


def summarised_by(source: str) -> str | None:
    """Return the commit whose summary a source URI is of; ``None`` for everything else."""
    thread, _, commit_id = source.partition("/(summary)#")
    return commit_id if commit_id and is_of_message(thread) else None
