"""The messages of a chat, in order, whoever writes them at the same time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from uuid import uuid4

from langchain_core.messages import BaseMessage

from langchain_memengine import given
from langchain_memengine.conversation.lineage import checked_thread
from langchain_memengine.conversation.message_json import from_json, to_json, whole
from langchain_memengine.conversation.withholding import readable
from langchain_memengine.storage import messages as message_rows
from langchain_memengine.storage import quarantines
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.messages import StoredMessage
from langchain_memengine.text.sanitize import clean_text


class SqlHistory:
    """The history of one session of one user.

    Args:
        database: Where the rows are.
        session_id: Which conversation.
        owner: Folder name of the user whose it is.
        clock: Tells when a message was added.
    """

    def __init__(
        self, database: Database, session_id: str, *, owner: str, clock: Callable[[], datetime]
    ) -> None:
        self._database = database
        self._thread_id = checked_thread(session_id)
        self._owner = owner
        self._clock = clock

    def read(self) -> list[BaseMessage]:
        """Return all messages, oldest first; what is quarantined comes without its words."""
        with self._database.read() as tx:
            found = [from_json(b) for b in message_rows.history(tx, self._owner, self._thread_id)]
            aside = quarantines.everything(tx)
        return [readable(one, aside, self._thread_id) for one in found]

    def add(self, messages: Sequence[BaseMessage]) -> None:
        """Add messages at the end, in one step; those whose id the history has are left out.

        A message without an id gets one, on the object itself, as LangGraph does it: the same
        object added again is known then.
        """
        given.messages(messages)
        for message in messages:
            message.id = message.id or str(uuid4())
        stored = [
            StoredMessage(
                self._owner, self._thread_id, clean_text(message.id or ""), to_json(whole(message))
            )
            for message in messages
        ]
        with self._database.write() as tx:
            message_rows.add_to_history(tx, stored, now=self._clock())

    def clear(self) -> None:
        """Remove all messages; those that were archived stay in the archive."""
        with self._database.write() as tx:
            message_rows.clear_history(tx, self._owner, self._thread_id)
