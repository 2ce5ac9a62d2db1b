"""The conversation a node runs in: where its messages are archived, and whose they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from langchain_core.messages import BaseMessage

from langchain_memengine.conversation.transcript import by_person, is_human
from langchain_memengine.text.digests import digest

_OPENING = 2  # people begin with the same greeting; before a third message nothing is archived
_ID_DIGITS = 16


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

        With an owner all of this is their personal memory; without one it belongs to the thread,
        and only who names it may read it. The update reads ``new<parent+parent``, see
        ``join_heads``.
        """
        ...

    def keeps(self, commit_id: str) -> bool:
        """Return whether the summary of a commit is there; it goes with what it tells of."""
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
        is_named: Whether the run says which conversation it is.
    """

    thread_id: str
    user_id: str
    users: tuple[str, ...]
    head: str
    now: datetime
    checkpoint_id: str | None = None
    is_named: bool = True

    @property
    def owner(self) -> str:
        """The user, if the thread ran for nobody else; else ``""``.

        Everything in a thread was seen by the users it ran for, and by no others: its archive is
        the owner's or the thread's, whatever names the messages carry. The owner is also who wrote
        a message that names nobody.
        """
        return self.user_id if set(self.users) <= {self.user_id} else ""

    def commit(
        self, archive: Archive, kind: str, messages: Sequence[BaseMessage], summary: str
    ) -> str:
        """Archive messages on this branch; return the update for ``memory_head``."""
        return archive.commit(
            self.thread_id,
            self.head,
            kind,
            messages,
            summary=summary,
            owner=self.owner,
            now=self.now,
            checkpoint_id=self.checkpoint_id,
        )

    def committed(self, state: Mapping[str, Any], head: str) -> dict[str, Any]:
        """Return the update of the state after a commit; ``head`` is the one for ``memory_head``.

        A conversation without a name goes on where its state says, not where its head may be from.
        """
        if self.is_named:
            return {"memory_head": head}
        commit_id = head.partition("<")[0]
        before = state.get("memory_head") or ""
        return {"memory_head": f"{commit_id}<{before}", "memory_thread": self.thread_id}

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


def is_the_owners(
    gone: Sequence[BaseMessage], history: Sequence[BaseMessage], thread: Thread
) -> bool:
    """Return whether all that goes was said by the thread's owner, or in answer to them.

    Where nobody speaks in what goes, it is whose the whole history is.
    """
    owner = thread.owner
    people = by_person(gone, owner) or by_person(history, owner) or {owner: []}
    return bool(owner) and people.keys() == {owner}


def join_users(current: Sequence[str], update: Sequence[str]) -> list[str]:
    """Return the users of a thread, each once, in order of appearance; a state's reducer."""
    return list(dict.fromkeys([*current, *update]))


def lacks_ids(state: Mapping[str, Any]) -> bool:
    """Return whether a message of the state has no id, so that it cannot be removed."""
    return any(message.id is None for message in messages_of(state))


def messages_of(state: Mapping[str, Any]) -> Sequence[BaseMessage]:
    """Return the messages of a state; none if it has none yet."""
    return state.get("messages") or []


def unnamed_thread(user_id: str, messages: Sequence[BaseMessage]) -> str:
    """Return the id of a conversation that a run does not name: of whose it is and how it began.

    So the conversations of an application that names none are kept apart, and one that is handed
    over as a whole with each of its messages is the same each time.
    """
    opening = [str(message.text) for message in messages if is_human(message)][:_OPENING]
    return f"unnamed-{digest(user_id, *opening)[:_ID_DIGITS]}"
