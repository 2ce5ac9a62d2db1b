"""Store what a step of a conversation learnt together with its memory commit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from langchain_memengine.retrieval.indexing import Indexer
from langchain_memengine.retrieval.sources import TextChunks
from langchain_memengine.storage import commits
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.types import Commit


class Committer:
    """Writes commits: embeds first, then stores texts and commit in one transaction."""

    def __init__(self, database: Database, indexer: Indexer) -> None:
        self._database = database
        self._indexer = indexer

    def commit(
        self,
        commit: Commit,
        learnt: Callable[[], Mapping[str, TextChunks]],
        *,
        checkpoint_id: str | None,
        now: datetime,
        also: Callable[[Transaction], None] | None = None,
    ) -> Commit:
        """Make a commit the newest of its branch; what it learnt is stored once.

        Args:
            commit: As it is now.
            learnt: Returns the chunks to store by source; called when the commit is new.
            checkpoint_id: Where the graph's step began, if a graph made the commit.
            now: Time of the change.
            also: Done in the same transaction, when the commit is new.

        Returns:
            The commit as it was made first.

        Raises:
            UnknownCommitError: A parent is no commit of the thread; nothing is stored.
            StorageError: The database failed; nothing is stored.
        """
        with self._database.read() as tx:
            known = commits.by_id(tx, [commit.id, *commit.parents])
            commits.require_thread(known, commit.parents, commit.thread_id)

        def record(tx: Transaction) -> None:
            if commits.record(tx, commit, checkpoint_id=checkpoint_id, now=now) and also:
                also(tx)

        if commit.id in known:
            with self._database.write() as tx:
                record(tx)
        else:
            self._indexer.put_with(learnt(), record)
        return known.get(commit.id, commit)
