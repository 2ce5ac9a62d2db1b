"""An archive in memory, as idempotent as the one in the database."""

import hashlib
from collections.abc import Sequence
from datetime import datetime

from langchain_core.messages import BaseMessage


class MemoryArchive:
    """Keeps messages by (thread, id) and commits by id; ``fails`` makes the next commit raise."""

    def __init__(self) -> None:
        self.messages: dict[tuple[str, str], BaseMessage] = {}
        self.commits: dict[str, dict[str, object]] = {}
        self.fails: Exception | None = None

    def commit(  # noqa: PLR0913  # the protocol's signature
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
        if self.fails is not None:
            raise self.fails
        ids = [str(message.id) for message in messages]
        assert len(set(ids)) == len(ids)
        key = "\0".join((thread_id, head, kind, *sorted(ids)))
        commit_id = hashlib.sha256(key.encode()).hexdigest()[:16]
        for message in messages:
            self.messages.setdefault((thread_id, str(message.id)), message)
        self.commits.setdefault(
            commit_id,
            {"kind": kind, "ids": ids, "summary": summary, "owner": owner, "parents": head},
        )
        return f"{commit_id}<{head}"

    def keeps(self, commit_id: str) -> bool:
        return commit_id in self.commits

    def ids(self, thread_id: str) -> list[str]:
        """Return the ids of a thread's messages in the order they came."""
        return [one for thread, one in self.messages if thread == thread_id]
