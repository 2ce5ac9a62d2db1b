"""Memory commits as a graph's state carries them: plain strings, joined by a reducer."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.text.digests import digest
from langchain_memengine.text.heads import joined_heads, split_heads
from langchain_memengine.text.sanitize import clean_text
from langchain_memengine.types import MAX_THREAD_CHARS, Commit

_DIGITS = 32


def join_heads(current: str, update: str) -> str:
    """Return a branch's heads after a commit; the reducer of the state's ``memory_head``.

    An update ``new<parent+parent`` puts the new commit in the place of its parents. What parallel
    nodes committed beside it stays, joined by ``+``. An empty update changes nothing, and the same
    update again changes nothing more.

    ```python
    class State(MessagesState):
        memory_head: Annotated[str, join_heads]
    ```

    >>> join_heads("a", "b<a")
    'b'
    >>> join_heads(join_heads("a", "b<a"), "c<a")
    'b+c'
    """
    new, _, parents = update.partition("<")
    replaced = split_heads(parents)
    kept = [head for head in split_heads(current) if head not in replaced]
    return joined_heads([*kept, *split_heads(new)])


def head_update(commit: Commit) -> str:
    """Return the update that puts a commit at the end of its branch."""
    return f"{commit.id}<{joined_heads(commit.parents)}"


def new_commit(
    thread_id: str, head: str, kind: str, keys: Iterable[str], *, now: datetime
) -> Commit:
    """Return the commit of a step: the same step again has the same id, whenever it runs.

    Args:
        thread_id: Conversation it is made in.
        head: Heads of the branch it continues, as in the state.
        kind: What is stored.
        keys: What it is about, in any order: keys of messages, texts.
        now: When it is made.

    Raises:
        ConfigurationError: The thread has no usable id, or the kind is empty.
    """
    thread_id = checked_thread(thread_id)
    if not 0 < len(kind) <= 32:  # noqa: PLR2004  # what the column holds
        raise ConfigurationError(f"kind={kind!r} must have 1 to 32 characters, like 'fact'.")
    parents = tuple(sorted(split_heads(head)))
    about = "\n".join(digest(key) for key in sorted(keys))
    made = digest(thread_id, "\n".join(parents), kind, about)[:_DIGITS]
    return Commit(made, thread_id, parents, kind, now)


def checked_thread(thread_id: str) -> str:
    """Return a conversation's id as every database stores it.

    Raises:
        ConfigurationError: It is empty, or longer than 255 characters.
    """
    cleaned = clean_text(str(thread_id))
    if not 0 < len(cleaned) <= MAX_THREAD_CHARS:
        raise ConfigurationError(
            f"A thread id of {len(cleaned)} characters cannot be stored. "
            f"Use 1 to {MAX_THREAD_CHARS}."
        )
    return cleaned
