"""Keep records: each change with its revision and its chunks, in one transaction.

What is hidden of chunks is kept here too: it has revisions, and is undone, in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from uuid import uuid4

from langchain_memengine.config import MemEngineConfig
from langchain_memengine.errors import NotFoundError, StorageError, StoreBusyError
from langchain_memengine.retrieval.indexing import Indexer
from langchain_memengine.retrieval.record_chunks import chunks_of_record, record_source
from langchain_memengine.retrieval.sources import TextChunks
from langchain_memengine.storage import (
    hidden_chunks,
    quarantines,
    records,
    revisions,
    supersessions,
)
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.job_values import Effect
from langchain_memengine.storage.record_values import (
    MemoryRecord,
    Quarantine,
    RecordState,
    Revision,
    RevisionKind,
    Supersession,
)
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.text.suspicion import suspicion

_ATTEMPTS = 5
_RANDOM_DIGITS = 20

Change = Callable[[RecordState], RecordState]
"""What a record or chunk is to be, by what it is; called again when somebody else was faster."""


class _ChangedMeanwhileError(Exception):
    """Somebody else changed a record between the look at it and the write."""


class RecordKeeper:
    """Writes records. Who may do so is for the caller to decide.

    Args:
        database: Where records are.
        indexer: Makes them searchable.
        config: How texts are cut.
    """

    def __init__(self, database: Database, indexer: Indexer, config: MemEngineConfig) -> None:
        self._database = database
        self._indexer = indexer
        self._config = config

    def change(
        self,
        wanted: Mapping[str, Change],
        kind: RevisionKind,
        *,
        now: datetime,
        commit_id: str | None = None,
    ) -> dict[str, RecordState]:
        """Change records, all of them or none; return what they are now.

        What stays as it is gets no revision; an update of what was not there is an addition.

        Args:
            wanted: By record id, what each is to be.
            kind: What is done.
            now: When.
            commit_id: Memory commit that does it, if any.

        Raises:
            StoreBusyError: Somebody else kept changing the same records.
            StorageError: The database failed; nothing is stored.
        """
        for _ in range(_ATTEMPTS):
            with self._database.read() as tx:
                before = _states(tx, wanted)
            after = {one: change(before[one]) for one, change in wanted.items()}
            changed = [one for one in wanted if after[one] != before[one]]
            if not changed:
                return after

            def store(
                tx: Transaction,
                before: Mapping[str, RecordState] = before,
                after: Mapping[str, RecordState] = after,
                changed: list[str] = changed,
            ) -> None:
                if _states(tx, wanted) != before:
                    raise _ChangedMeanwhileError
                _store(tx, before, after, changed, kind, now=now, commit_id=commit_id)

            try:
                self._indexer.put_with(self._chunks(before, after), store)
            except _ChangedMeanwhileError:
                continue
            return after
        raise StoreBusyError(
            f"The records {', '.join(wanted)} were changed {_ATTEMPTS} times by others meanwhile. "
            "Try again."
        )

    def prepared(
        self,
        wanted: Mapping[str, Change],
        kind: RevisionKind,
        *,
        now: datetime,
        commit_id: str | None = None,
    ) -> Effect:
        """Embed what :meth:`change` would store; return what stores it in a job's transaction.

        The effect raises StoreBusyError if a record was changed meanwhile; the job is tried again.
        """
        with self._database.read() as tx:
            before = _states(tx, wanted)
        after = {one: change(before[one]) for one, change in wanted.items()}
        changed = [one for one in wanted if after[one] != before[one]]
        store_chunks = self._indexer.prepared(self._chunks(before, after))

        def apply(tx: Transaction) -> None:
            if _states(tx, wanted) != before:
                raise StoreBusyError("Records were changed while a job was about them. Try again.")
            store_chunks(tx)
            _store(tx, before, after, changed, kind, now=now, commit_id=commit_id)

        return apply

    def supersede(
        self,
        old_id: str,
        new_id: str,
        *,
        now: datetime,
        commit_id: str | None = None,
        confidence: float | None = None,
    ) -> None:
        """Let one record take the place of another, on the branch of a commit or everywhere.

        Raises:
            NotFoundError: There is no such record.
            StorageError: The database failed; nothing is stored.
        """

        def change(old: RecordState) -> RecordState:
            if old.record is None:
                raise NotFoundError(f"There is no record {old_id!r} to supersede.")
            return _with(old, Supersession(old_id, new_id, commit_id, now, confidence))

        self.change({old_id: change}, "supersede", now=now, commit_id=commit_id)

    def undo(self, revision: Revision, *, now: datetime) -> RecordState:
        """Make a record or a chunk what it was before a revision, exactly; return that.

        Raises:
            NotFoundError: The revision was forgotten.
            StorageError: It was changed again since, or the database failed.
        """
        if revision.kind == "forgotten":
            raise NotFoundError(
                f"The revision {revision.id!r} was forgotten: what it changed is gone for good."
            )

        kind = "chunk" if revision.kind == "hide" else "record"

        def change(now_is: RecordState) -> RecordState:
            if now_is != revision.after:
                raise StorageError(
                    f"The {kind} {revision.target_id!r} was changed after the revision "
                    f"{revision.id!r}. Undo the later revisions first, newest to oldest."
                )
            return revision.before

        target = revision.target_id
        return self.change({target: change}, "undo", now=now)[target]

    def _chunks(
        self, before: Mapping[str, RecordState], after: Mapping[str, RecordState]
    ) -> dict[str, TextChunks]:
        """Return the chunks of the records that are to be others than they are, by source."""
        found: dict[str, TextChunks] = {}
        for one, state in after.items():
            record = state.record
            if record != before[one].record:
                found[record_source(one)] = chunks_of_record(record, self._config) if record else []
        return found


def taken_over(new: Supersession) -> Change:
    """Return the change that lets another record take the place of one, unless that is gone."""

    def change(state: RecordState) -> RecordState:
        if state.record is None or any(s.new_id == new.new_id for s in state.superseded_by):
            return state  # forgotten meanwhile, or done before
        return _with(state, new)

    return change


def _with(state: RecordState, new: Supersession) -> RecordState:
    """Return a state with one more that took its place, in place of what was known of that one."""
    others = [one for one in state.superseded_by if one.new_id != new.new_id]
    in_order = sorted([*others, new], key=lambda one: one.new_id)
    return replace(state, superseded_by=tuple(in_order))


def suspected(record: MemoryRecord, now: datetime) -> Quarantine | None:
    """Return the quarantine of a new record that looks like an attempt to steer an agent.

    Only what no person vouches for, or what everyone's agents read, is suspected.
    """
    if record.origin in {"user", "app"} or record.scope == "personal":
        return None
    reason = suspicion(record.text)
    return Quarantine(record_source(record.id), reason, "", now) if reason else None


def _states(tx: Transaction, ids: Mapping[str, Change]) -> dict[str, RecordState]:
    found = records.by_ids(tx, ids)
    by_old: dict[str, list[Supersession]] = {}
    for one in supersessions.of_records(tx, ids):
        by_old.setdefault(one.old_id, []).append(one)
    hidings, aside = hidden_chunks.of_chunks(tx, list(ids)), quarantines.of_targets(tx, ids)
    return {
        one: RecordState(
            found.get(one), tuple(by_old.get(one, ())), hidings.get(one), aside.get(one)
        )
        for one in ids
    }


def _store(
    tx: Transaction,
    before: Mapping[str, RecordState],
    after: Mapping[str, RecordState],
    changed: list[str],
    kind: RevisionKind,
    *,
    now: datetime,
    commit_id: str | None,
) -> None:
    numbers = dict.fromkeys(changed, 0)
    for earlier in revisions.of_records(tx, changed):
        numbers[earlier.target_id] += 1
    hidden_chunks.put(
        tx, ((one, after[one].hiding) for one in changed if after[one].hiding != before[one].hiding)
    )
    for one in changed:
        record = after[one].record
        if record is None:
            records.remove(tx, [one])
        elif record != before[one].record:
            records.put(tx, record)
        if after[one].quarantine != before[one].quarantine:
            quarantines.put(tx, one, after[one].quarantine)
        if after[one].superseded_by != before[one].superseded_by:
            supersessions.replace(tx, one, after[one].superseded_by)
    revisions.put(
        tx,
        [
            Revision(
                # Ids of one record's revisions sort in their order, also within a millisecond.
                f"{numbers[one]:06d}-{uuid4().hex[:_RANDOM_DIGITS]}",
                "add" if kind == "update" and before[one].record is None else kind,
                one,
                now,
                commit_id,
                before[one],
                after[one],
            )
            for one in changed
        ],
    )
