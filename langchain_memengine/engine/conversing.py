"""What the nodes of a conversation ask of an engine."""

from __future__ import annotations

from datetime import datetime

from langchain_memengine.engine.note_keeping import NoteKeeping
from langchain_memengine.engine.writing import Writing
from langchain_memengine.types import Actor


class Conversing(Writing, NoteKeeping):
    """The chapter of the engine that remembers conversations.

    It writes on behalf of a person, what they said themselves.
    """

    def now(self) -> datetime:
        """Return the time the engine's clock shows."""
        return self._clock()

    def save_summary(self, text: str, *, person: str, memory_id: str, thread_id: str) -> None:
        """Save the summary of a person's own messages to their personal memory.

        Args:
            text: The summary.
            person: Their user id.
            memory_id: The same id again replaces the text.
            thread_id: The conversation, kept as metadata.
        """
        self.add_texts(
            [text],
            [{"kind": "summary", "thread_id": thread_id}],
            ids=[memory_id],
            scope="personal",
            actor=Actor(person),
        )

    def save_flush(self, text: str, *, person: str, memory_id: str, thread_id: str) -> None:
        """Save what a flush found worth keeping, and log it in the day's file.

        It is the person's own when the thread is only theirs. Without a person it is everyone's:
        then it stands in the day's file of everyone only.

        Args:
            text: Markdown.
            person: User id of the thread's only person, ``""`` if it has several.
            memory_id: The same id again replaces the text, and logs it once.
            thread_id: The conversation, kept as metadata.
        """
        if person:
            self.add_texts(
                [text],
                [{"kind": "flush", "thread_id": thread_id}],
                ids=[memory_id],
                scope="personal",
                actor=Actor(person),
            )
        self.append_daily("memory flush", text, owner=person, key=memory_id)
