"""The archive: what a conversation no longer carries along, searchable and exact."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from langchain_core.messages import BaseMessage

from langchain_memengine import given
from langchain_memengine.config import MemEngineConfig
from langchain_memengine.conversation import rendering
from langchain_memengine.conversation.committing import Committer
from langchain_memengine.conversation.compaction import with_ids
from langchain_memengine.conversation.lineage import checked_thread, head_update, new_commit
from langchain_memengine.conversation.message_json import from_json, to_json, whole
from langchain_memengine.conversation.source_uris import message_source, summary_source
from langchain_memengine.conversation.withholding import readable
from langchain_memengine.errors import NotFoundError
from langchain_memengine.retrieval import visibility
from langchain_memengine.retrieval.documents import event_time
from langchain_memengine.retrieval.indexing import Indexer
from langchain_memengine.retrieval.sources import TextChunks
from langchain_memengine.storage import chunks, commits, quarantines
from langchain_memengine.storage import messages as message_rows
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.messages import StoredMessage
from langchain_memengine.text.chunking import chunk_markdown
from langchain_memengine.text.heads import split_heads
from langchain_memengine.text.sanitize import clean_text
from langchain_memengine.text.suspicion import suspicion
from langchain_memengine.types import (
    Actor,
    Commit,
    Provenance,
)
from langchain_memengine.workspace.notes import Notes


class SqlArchive:
    """Archives messages in the database, and as Markdown for people to read.

    What one user's conversation leaves is their personal memory. What several users' leaves belongs
    to the conversation: only who names its id reads it, and it is never everyone's.

    Args:
        database: Where rows go.
        indexer: Makes the messages searchable.
        config: How texts are cut.
        notes: Where transcripts go; ``None`` writes none.
    """

    def __init__(
        self,
        database: Database,
        indexer: Indexer,
        config: MemEngineConfig,
        *,
        notes: Notes | None,
    ) -> None:
        self._database = database
        self._committer = Committer(database, indexer)
        self._config = config
        self._notes = notes

    def commit(  # noqa: PLR0913  # what the nodes of a graph know of a step
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
        """Archive messages durably as one memory commit; return the update for the state's head.

        The same messages from the same head are the same commit: a retry or a replay adds nothing
        and returns the same update. Rows come first, the transcript after; one that a crash
        prevented is written by the next try, without the messages that were forgotten since.

        Args:
            thread_id: Conversation they belong to.
            head: The branch's ``memory_head``.
            kind: What the step does, like ``"archive"``.
            messages: In their order; none is no commit, and the update is empty. One without an id
                of its own is archived under one that is made of its content and place.
            summary: What stands for them from now on, remembered where the messages are; ``""``
                when it is not to be remembered.
            owner: User id of the one user whose conversation it is; ``""`` when it is several
                users', and belongs to the thread.
            now: When they are archived.
            checkpoint_id: Where the graph's step began (``runtime.execution_info``).

        Raises:
            UnknownCommitError: The head is none of the thread's; nothing is stored.
            StorageError: The database failed and nothing is stored, or the transcript could not
                be written.
        """
        given.messages(messages)
        if not messages:
            return ""
        named = with_ids([whole(message) for message in messages])
        place = _place(thread_id, owner)
        stored = [_stored(message, place) for message in named]
        new = new_commit(thread_id, head, kind, [message.key for message in stored], now=now)

        def learnt() -> dict[str, TextChunks]:
            unknown = self._not_archived(stored, new)
            pairs = [(m, s) for m, s in zip(named, stored, strict=True) if s.key in unknown]
            found = dict(self._chunks(pairs, new, place))
            if summary.strip():
                found.update(self._summary(summary, new, place))
            return found

        commit = self._committer.commit(
            new,
            learnt,
            checkpoint_id=checkpoint_id,
            now=now,
            also=lambda tx: message_rows.archive(tx, new.id, stored, now=now),
        )
        left = self._still_archived(stored, commit)
        told = [m for m, s in zip(named, stored, strict=True) if s.key in left]
        shown = summary if self.keeps(commit.id) else ""
        self._write_transcript(commit, told, shown, owner)
        return head_update(commit)

    def keeps(self, commit_id: str) -> bool:
        """Return whether the summary of a commit is there; it goes with what it tells of."""
        with self._database.read() as tx:
            made = commits.by_id(tx, [commit_id]).values()
            sources = [summary_source(one.thread_id, one.id) for one in made]
            return bool(chunks.scopes_of_sources(tx, sources))

    def restore(
        self,
        thread_id: str,
        ids: Sequence[str] | None = None,
        *,
        head: str | None = None,
        owner: str = "",
    ) -> list[BaseMessage]:
        """Return archived messages exactly as they were, in the order they were archived.

        One that is quarantined comes without its words.

        Args:
            thread_id: Conversation they belong to.
            ids: Which ones; all by default.
            head: Of which branch; by default of the thread's newest.
            owner: Folder name of the user who reads what was archived as theirs alone, beside what
                belongs to the thread.

        Raises:
            NotFoundError: An id is not in the branch's archive, or not for this reader.
            UnknownCommitError: The head is none of the thread's.
        """
        thread_id = checked_thread(thread_id)
        with self._database.read() as tx:
            heads = commits.newest_heads(tx, [thread_id]).get(thread_id, ())
            if head is not None:
                heads = split_heads(head)
                commits.require_thread(commits.by_id(tx, heads), heads, thread_id)
            branch = commits.branch(tx, thread_id, heads)
            owners = {visibility.thread_owner(thread_id), owner} - {""}
            rows = message_rows.archived(tx, thread_id, owners)
            aside = quarantines.everything(tx)
        found = {row.message_id: row for row in rows if row.commit_id in branch}
        wanted = found.keys() if ids is None else {clean_text(one) for one in ids}
        missing = sorted(wanted - found.keys())
        if missing:
            raise NotFoundError(
                f"The archive of the thread {thread_id!r} has no message {missing[0]!r} on this "
                "branch. Pass the head of the branch that archived it, or call without ids."
            )
        return [
            readable(from_json(row.body), aside, thread_id, row.commit_id)
            for message_id, row in found.items()
            if message_id in wanted
        ]

    def _not_archived(self, stored: Sequence[StoredMessage], commit: Commit) -> set[str]:
        """Return the keys of messages that the commit's branch has not archived before."""
        keys = {message.key for message in stored}
        with self._database.read() as tx:
            known = message_rows.archiving_commits(tx, list(keys))
            branch = commits.branch(tx, commit.thread_id, commit.parents) if known else frozenset()
        return keys - {key for key, archiving in known.items() if archiving & branch}

    def _still_archived(self, stored: Sequence[StoredMessage], commit: Commit) -> set[str]:
        """Return the keys of messages that a commit archived and nobody forgot since."""
        with self._database.read() as tx:
            known = message_rows.archiving_commits(tx, [message.key for message in stored])
        return {key for key, archiving in known.items() if commit.id in archiving}

    def _chunks(
        self, pairs: Sequence[tuple[BaseMessage, StoredMessage]], commit: Commit, place: Provenance
    ) -> Iterator[tuple[str, TextChunks]]:
        for message, stored in pairs:
            origin, trust = rendering.provenance_of(message)
            text = str(message.text)
            if origin != "user" and suspicion(text):
                trust = "untrusted"
            provenance = replace(
                place,
                origin=origin,
                trust=trust,
                commit_id=commit.id,
                event_at=event_time(message.additional_kwargs) or commit.created_at,
                metadata=_metadata(message, stored),
            )
            source = message_source(commit.thread_id, stored.message_id, commit.id)
            yield source, self._pieces(text, source, provenance)

    def _summary(self, summary: str, commit: Commit, place: Provenance) -> dict[str, TextChunks]:
        source = summary_source(commit.thread_id, commit.id)
        provenance = replace(
            place,
            origin="llm_extract",
            trust="untrusted" if suspicion(summary) else "unverified",
            commit_id=commit.id,
            event_at=commit.created_at,
        )
        return {source: self._pieces(summary, source, provenance)}

    def _pieces(self, text: str, source: str, provenance: Provenance) -> TextChunks:
        pieces = chunk_markdown(
            clean_text(text),
            self._config.chunk_tokens,
            self._config.overlap_tokens,
            source=source,
        )
        return [(chunk, provenance) for chunk in pieces]

    def _write_transcript(
        self, commit: Commit, messages: Sequence[BaseMessage], summary: str, owner: str
    ) -> None:
        if self._notes is None or not messages:
            return
        name = rendering.transcript_name(commit, owner)
        text = rendering.transcript(commit, messages, summary)
        self._notes.update(name, lambda old: old or text)


def _place(thread_id: str, owner: str) -> Provenance:
    thread_id = checked_thread(thread_id)
    return Provenance(
        scope="personal",
        owner=(
            visibility.owner_of("personal", Actor(owner))
            if owner
            else visibility.thread_owner(thread_id)
        ),
        thread_id=thread_id,
    )


def _stored(message: BaseMessage, place: Provenance) -> StoredMessage:
    return StoredMessage(
        place.owner, place.thread_id or "", clean_text(message.id or ""), to_json(message)
    )


def _metadata(message: BaseMessage, stored: StoredMessage) -> dict[str, Any]:
    named = {"speaker": clean_text(message.name)} if message.name else {}
    return {"role": message.type, "message_id": stored.message_id, **named}
