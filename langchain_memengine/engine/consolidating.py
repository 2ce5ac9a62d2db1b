"""Consolidate: hide and merge what is remembered twice, and pin what has lasted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

from langchain_memengine.engine.note_keeping import NoteKeeping
from langchain_memengine.engine.remembering import Remembering, stored_time
from langchain_memengine.errors import ScopeError
from langchain_memengine.progress import shown_progress
from langchain_memengine.retrieval import visibility
from langchain_memengine.storage import revisions
from langchain_memengine.storage.job_values import Handler, Job, JobContext
from langchain_memengine.text.counting import counted
from langchain_memengine.types import (
    Actor,
    Progress,
)

if TYPE_CHECKING:
    from langchain_memengine.knowledge.consolidation_report import (
        Consolidated,
        ConsolidationReport,
    )
    from langchain_memengine.knowledge.folding import FoldPlan

_TITLE = "consolidation"


class Consolidating(NoteKeeping, Remembering):
    """The chapter of the engine that tidies up what it remembers."""

    def consolidate(
        self,
        *,
        actor: Actor | None = None,
        dry_run: bool = False,
        fold: bool = False,
        progress: Progress | bool = False,
    ) -> ConsolidationReport:
        """Hide chunks and merge agents' notes that say nothing beyond another one.

        Everybody's memory is looked at, each user's apart, as far as it is indexed. Nothing is
        deleted: each change is a revision for :meth:`undo`, and a digest in ``DREAMS.md``, of
        everyone or of the user, lists them. Numbers, signs and negations always make a difference.

        Args:
            actor: Who asks; it takes an admin, who is told only what they may read.
            dry_run: Change nothing, and report what would be done.
            fold: Also add trusted records of everyone that are older than ``fold_after_days``, and
                the decisions in logs that are, to ``MEMORY.md``, as far as a recall shows it. The
                records are superseded, the logs stay as they are.
            progress: ``True`` shows a bar, a callback gets (memories done, memories to do).

        Raises:
            ScopeError: The actor is no admin.
            StorageError: The database or a note cannot be written; what was done before can be
                undone.
        """
        actor = actor or self.actor
        if not actor.is_admin:
            raise ScopeError(
                f"{actor.user_id!r} may not consolidate everybody's memory: it needs an admin. "
                "Use Actor(..., is_admin=True)."
            )
        if not dry_run:
            self._require_writable()
        with shown_progress(progress, "Consolidating", unit="memory") as shown:
            report = self._consolidated(dry_run=dry_run, fold=fold, progress=shown)
        readable = {owner for _, owner in visibility.readable_places(actor)}
        told = tuple(one for one in report.entries if one.owner in readable)
        return replace(report, entries=told, private=len(report.entries) - len(told))

    def _chapter_handlers(self) -> Mapping[str, Handler]:
        return {**super()._chapter_handlers(), "memory_consolidate": self._consolidate_nightly}

    def _consolidate_nightly(self, _job: Job, _context: JobContext) -> None:
        self._consolidated(dry_run=False, fold=False, progress=None)

    def _consolidated(
        self, *, dry_run: bool, fold: bool, progress: Progress | None
    ) -> ConsolidationReport:
        """Consolidate; return a report of everybody's memory, which nobody may see as it is."""
        from langchain_memengine.knowledge import untold
        from langchain_memengine.knowledge.consolidating import Consolidation
        from langchain_memengine.knowledge.consolidation_report import ConsolidationReport
        from langchain_memengine.knowledge.folding import FoldPlan

        now = stored_time(self._clock())
        work = Consolidation(self._database, self._records, self._embedding, self.config)
        plan = work.plan(now, progress)
        logs, degraded = self._old_logs(now) if fold else ({}, [])
        folding = self._fold_plan(now, logs) if fold else FoldPlan()
        entries = [*plan.entries, *folding.entries]
        if not dry_run:
            self._tell_of_runs_given_up(now)
            run = f"{_TITLE}-{uuid4().hex}"
            with self._database.write() as tx:
                untold.begin(tx, run, now)
            if folding.facts:  # first: a crash between leaves it said twice
                self.promote_facts(_TITLE, folding.facts)
            entries = work.carry_out(entries, now)
            self._tell(entries, len(folding.lines), now, run)
        if folding.suspected:
            degraded.append(
                f"Not folded, for looking like orders: {counted(folding.suspected, 'decision')}."
            )
        if plan.unconfirmed:
            degraded.append(
                f"Not compared, for want of embeddings: {counted(plan.unconfirmed, 'pair')}."
            )
        return ConsolidationReport(
            entries=tuple(entries),
            pinned=folding.lines,
            examined=plan.examined,
            compared=plan.compared,
            unconfirmed=plan.unconfirmed,
            no_room=folding.no_room,
            degraded=tuple(degraded),
            dry_run=dry_run,
        )

    def _old_logs(self, now: datetime) -> tuple[dict[str, str], list[str]]:
        """Return the texts of everyone's old logs by name, and which cannot be read."""
        from langchain_memengine.knowledge.folding import old_logs
        from langchain_memengine.workspace.files import UnreadableFileError

        texts, problems = {}, []
        for name in old_logs(self._notes.names(), self._old_before(now)):
            try:
                texts[name] = self._notes.read(name)
            except UnreadableFileError as error:
                problems.append(f"{name} was not folded: {error}")
        return texts, problems

    def _old_before(self, now: datetime) -> datetime:
        return now - timedelta(days=self.config.fold_after_days)

    def _fold_plan(self, now: datetime, logs: Mapping[str, str]) -> FoldPlan:
        from langchain_memengine.knowledge.folding import old_records, plan_fold
        from langchain_memengine.retrieval.current_records import all_known
        from langchain_memengine.storage.record_values import RecordFilter

        with self._database.read() as tx:
            found = all_known(tx, [("global", "")], RecordFilter(valid_at=now), current=True)
            wanted_back = revisions.undone(tx, [one.id for one in found])
        chosen = [one for one in found if one.id not in wanted_back]
        old = old_records(chosen, self._old_before(now))
        return plan_fold(old, logs, self.read_memory(), room=self.config.pinned_cap)

    def _tell_of_runs_given_up(self, now: datetime) -> None:
        """Tell what earlier runs did whose process ended before their digest was written."""
        from langchain_memengine.knowledge import untold

        with self._database.read() as tx:
            runs = untold.given_up(tx, now)
            done = {run: untold.done_at(tx, at, self.config) for run, at in runs.items()}
        for run, at in runs.items():
            self._tell(done[run], 0, at, run)

    def _tell(self, done: Sequence[Consolidated], pinned: int, at: datetime, run: str) -> None:
        """Add a digest to the notes of everyone, and of each user whose memory it was.

        Args:
            done: What the run did.
            pinned: Lines that MEMORY.md got.
            at: When the run began.
            run: Its name; a digest of one run is added once.
        """
        from langchain_memengine.knowledge import untold
        from langchain_memengine.knowledge.consolidation_report import digest
        from langchain_memengine.workspace.entries import append_digest

        for owner in sorted({one.owner for one in done} | ({""} if pinned else set())):
            own = [one for one in done if one.owner == owner]
            body = digest(own, 0 if owner else pinned)
            append_digest(self._notes, owner, at, _TITLE, body, record=run)
        with self._database.write() as tx:
            untold.told(tx, run)
