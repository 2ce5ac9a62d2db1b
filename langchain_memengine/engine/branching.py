"""Keep what conversations learn and leave behind, on the branch that learnt it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from langchain_memengine.engine.searching import Searching
from langchain_memengine.retrieval import documents, visibility
from langchain_memengine.retrieval.sources import source_uri
from langchain_memengine.text.sanitize import clean_text
from langchain_memengine.types import (
    Actor,
    Provenance,
)

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

    from langchain_memengine.conversation.archive import SqlArchive
    from langchain_memengine.conversation.committing import Committer
    from langchain_memengine.conversation.history import SqlHistory
    from langchain_memengine.conversation.sessions import MemorySessions


# What needs LangChain's messages is imported where it is used: they take longer to load than all
# of the engine that a search needs.


class Branching(Searching):
    """The chapter of the engine for conversations: commits, archive, histories, sessions."""

    @cached_property
    def archive(self) -> SqlArchive:
        """Where conversations leave the messages they no longer carry along."""
        from langchain_memengine.conversation.archive import SqlArchive

        return SqlArchive(
            self._database,
            self._indexer,
            self.config,
            notes=self._notes if self.root is not None else None,
        )

    def commit(
        self,
        thread_id: str,
        head: str,
        kind: str,
        texts: Sequence[str],
        *,
        learnt_from: Sequence[BaseMessage | str] = (),
        actor: Actor | None = None,
        checkpoint_id: str | None = None,
    ) -> str:
        """Remember texts on the branch that learnt them; return the update for the state's head.

        For a node of a graph that stores something:

        ```python
        def learn(state: State, runtime: Runtime) -> dict:
            step = runtime.execution_info
            update = engine.commit(
                step.thread_id, state["memory_head"], "fact", ["Ann likes tea."],
                learnt_from=state["messages"][-1:], checkpoint_id=step.checkpoint_id,
            )
            return {"memory_head": update}
        ```

        The same step again, by a retry, a resumed crash or a replay, is the same commit: it adds
        nothing, even if a model words its texts otherwise this time.

        Args:
            thread_id: Conversation that learns.
            head: The branch's ``memory_head``; ``""`` before the first commit.
            kind: What the step does: one step commits each kind once for each ``learnt_from``.
            texts: Without any there is no commit, and the update is empty.
            learnt_from: Messages they were learnt from, an edited one being another; or names of
                your own for what they are about. Default: the texts themselves.
            actor: Whose memory; an admin's is everyone's.
            checkpoint_id: Where the graph's step began; parallel nodes share it.

        Raises:
            UnknownCommitError: The head is none of the thread's; nothing is stored.
            StorageError: The database failed; nothing is stored.
        """
        from langchain_memengine.conversation.learning import about, learnt_chunks
        from langchain_memengine.conversation.lineage import head_update, new_commit

        documents.require_list("texts", texts)
        learnt = [text for text in map(clean_text, texts) if text.strip()]
        if not learnt:
            return ""
        actor = actor or self.actor
        scope = visibility.default_scope(actor)
        place = Provenance(scope=scope, owner=visibility.owner_of(scope, actor))
        keys = [f"{place.scope} {place.owner}", *map(about, learnt_from or learnt)]
        now = self._clock()
        commit = new_commit(thread_id, head, kind, keys, now=now)
        self._committer.commit(
            commit,
            lambda: learnt_chunks(learnt, commit, place, self.config),
            checkpoint_id=checkpoint_id,
            now=now,
        )
        return head_update(commit)

    def restore(
        self,
        thread_id: str,
        ids: Sequence[str] | None = None,
        *,
        head: str | None = None,
        actor: Actor | None = None,
    ) -> list[BaseMessage]:
        """Return archived messages of a conversation exactly as they were, in their order.

        One that is quarantined comes without its words.

        Args:
            thread_id: The conversation; who knows its id may read what its users share.
            ids: Which messages; all by default.
            head: Of which branch; by default of the thread's newest.
            actor: Who asks: they also get what was archived while it was theirs alone.

        Raises:
            NotFoundError: An id is not in the branch's archive, or the actor may not read it.
            UnknownCommitError: The head is none of the thread's.
        """
        owner = visibility.owner_of("personal", actor or self.actor)
        return self.archive.restore(thread_id, ids, head=head, owner=owner)

    def history(self, session_id: str, *, actor: Actor | None = None) -> SqlHistory:
        """Return the chat history of one session of a user; each user has sessions of their own."""
        from langchain_memengine.conversation.history import SqlHistory

        owner = visibility.owner_of("personal", actor or self.actor)
        return SqlHistory(self._database, session_id, owner=owner, clock=self._clock)

    def sessions(self, actor: Actor | None = None) -> MemorySessions:
        """Return the memory sessions of a user: searches tied to sources, with a record of them."""
        from langchain_memengine.conversation.sessions import MemorySessions, SourceNames

        actor = actor or self.actor
        folders = {
            name: source_uri(source.workspace_id, "")
            for name, source in zip(self.config.sources, self._sources[1:], strict=True)
        }
        return MemorySessions(
            self._database,
            search=self.search,
            recall=self.recall,
            sources=SourceNames(folders, self._pinned_sources(actor)),
            actor=actor,
            clock=self._clock,
        )

    async def acommit(
        self, thread_id: str, head: str, kind: str, texts: Sequence[str], **options: Any
    ) -> str:
        """Remember texts on their branch without blocking the event loop, see :meth:`commit`."""
        return await asyncio.to_thread(self.commit, thread_id, head, kind, texts, **options)

    async def arestore(
        self, thread_id: str, ids: Sequence[str] | None = None, **options: Any
    ) -> list[BaseMessage]:
        """Restore messages without blocking the event loop, see :meth:`restore`."""
        return await asyncio.to_thread(self.restore, thread_id, ids, **options)

    @cached_property
    def _committer(self) -> Committer:
        from langchain_memengine.conversation.committing import Committer

        return Committer(self._database, self._indexer)
