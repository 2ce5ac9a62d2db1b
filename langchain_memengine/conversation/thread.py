"""The conversation a node runs in: where its messages are archived, and whose they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from langchain_core.messages import BaseMessage

from langchain_memengine.conversation.transcript import by_person


class Archive(Protocol):
    """Where the full text of trimmed messages goes."""

    def commit(  # noqa: PLR0913  # everything a commit records
        self,
        thread_id: str,
        head: str,
        kind: str,
        messages: Sequence[BaseMessage],
        *,
        summary: str = "",
        owner: str = "",
        now: datetime,
        checkpoint_id: str | None = None,
    ) -> str:
        """Store messages durably and idempotently; return the update for ``memory_head``.

        With an owner all of this is theirs, and the summary becomes their personal memory; without
        one, what the messages say is for the thread's readers, and the summary for its state only.
        The update reads ``new<parent+parent``, see ``join_heads``.
        """
        ...


@dataclass(frozen=True, slots=True)
class Thread:
    """The conversation and the moment a step runs in.

    Attributes:
        thread_id: Which conversation.
        user_id: For whom the graph runs now.
        users: Everybody it ran for in this thread so far.
        head: The branch's memory heads.
        now: The time.
        checkpoint_id: Where the graph's step began, if there is a checkpointer.
    """

    thread_id: str
    user_id: str
    users: tuple[str, ...]
    head: str
    now: datetime
    checkpoint_id: str | None = None

    @property
    def default_person(self) -> str:
        """Who wrote a message that names nobody: the user, unless the thread has several."""
        return self.user_id if set(self.users) <= {self.user_id} else ""

    def commit(
        self,
        archive: Archive,
        kind: str,
        messages: Sequence[BaseMessage],
        summary: str,
        person: str,
    ) -> str:
        """Archive messages on this branch; return the update for ``memory_head``."""
        return archive.commit(
            self.thread_id,
            self.head,
            kind,
            messages,
            summary=summary,
            owner=person,
            now=self.now,
            checkpoint_id=self.checkpoint_id,
        )

    def seen(self, state: Mapping[str, Any], note: str) -> dict[str, Any]:
        """Return the update that says who the thread ran for and what went less well."""
        update: dict[str, Any] = {}
        if note != (state.get("memory_note") or ""):
            update["memory_note"] = note
        if self.user_id not in (state.get("memory_users") or ()):
            update["memory_users"] = [self.user_id]
        return update


@dataclass(frozen=True, slots=True)
class Step:
    """What a node does once everything is asked.

    Attributes:
        store: Stores what goes and returns the update of the state.
        event: What to tell those who watch; ``None`` when nothing happened.
    """

    store: Callable[[], dict[str, Any]]
    event: dict[str, Any] | None = None


def sole_person(gone: Sequence[BaseMessage], history: Sequence[BaseMessage], thread: Thread) -> str:
    """Return the user if all that goes was theirs, with the answers to them; else ``""``.

    Where nobody speaks in what goes, it is whose the whole history is.
    """
    default = thread.default_person
    people = by_person(gone, default) or by_person(history, default) or {default: []}
    return thread.user_id if people.keys() == {thread.user_id} else ""


def join_users(current: Sequence[str], update: Sequence[str]) -> list[str]:
    """Return the users of a thread, each once, in order of appearance; a state's reducer."""
    return list(dict.fromkeys([*current, *update]))


def lacks_ids(state: Mapping[str, Any]) -> bool:
    """Return whether a message of the state has no id, so that it cannot be removed."""
    return any(message.id is None for message in messages_of(state))


def messages_of(state: Mapping[str, Any]) -> Sequence[BaseMessage]:
    """Return the messages of a state; none if it has none yet."""
    return state.get("messages") or []
