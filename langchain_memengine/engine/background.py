"""Do what is queued, and see what became of it."""

from __future__ import annotations

import threading
from collections.abc import Callable

from langchain_memengine.engine.parts import EngineParts
from langchain_memengine.given import whole
from langchain_memengine.jobs.reports import JobOutcome, JobsReport
from langchain_memengine.jobs.worker import OnOutcome
from langchain_memengine.progress import shown_progress
from langchain_memengine.storage import job_rows, jobs, schedules
from langchain_memengine.storage.job_values import Job, JobState
from langchain_memengine.storage.schedules import Schedule, local_timezone
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.types import Progress

NIGHTLY = "sys-memory-consolidate"
"""Name of the schedule of the nightly consolidation."""

_ANY_HOUR = "03:00"
_MOST_JOBS = 2**63 - 1  # what their column holds


class BackgroundWork(EngineParts):
    """The chapter of the engine about jobs: work that was queued with what it is about."""

    def run_jobs(
        self,
        limit: int | None = None,
        *,
        stop: threading.Event | None = None,
        on_outcome: OnOutcome | None = None,
        progress: Progress | bool = False,
    ) -> JobsReport:
        """Do the jobs that are due, here and now; return what was done.

        A job that failed and waits to be tried again is not waited for.

        Args:
            limit: Attempts, at most, from 0 on; default: until nothing is due.
            stop: When set, the job in hand is finished and no other begun.
            on_outcome: Called after each attempt with the job and how it ended.
            progress: ``True`` shows a bar, a callback gets (attempts made, attempts to make);
                a job may queue others.

        Raises:
            ConfigurationError: ``limit`` is no whole number from 0 on.
            ReadOnlyError: It was opened to be read only.
            StorageError: The database failed.
        """
        limit = None if limit is None else whole("limit", limit)
        self._keep_schedule()
        with shown_progress(progress, "Jobs", unit="job") as shown:
            told = _telling(on_outcome, shown, self._ready_jobs) if shown else on_outcome
            return self._worker.run_until_idle(limit=limit, stop=stop, on_outcome=told)

    def work(self, stop: threading.Event, on_outcome: OnOutcome | None = None) -> None:
        """Do jobs as they come until ``stop`` is set, as ``memengine worker`` does.

        The job in hand is finished. An idle worker sees ``stop`` within two seconds.

        Args:
            stop: Ends the work.
            on_outcome: Called after each attempt with the job and how it ended.

        Raises:
            ReadOnlyError: It was opened to be read only.
        """
        self._require_writable()  # the worker itself would try again for ever
        self._keep_schedule()
        self._worker.run_forever(stop, on_outcome=on_outcome)

    def jobs(self, state: JobState | None = None, *, limit: int = 100) -> list[Job]:
        """Return the jobs put last, newest first, over all users.

        Args:
            state: ``ready``, ``running``, ``done``, ``dead`` or ``cancelled``; default: all.
            limit: Jobs, at most.

        Raises:
            ConfigurationError: ``limit`` is no whole number from 0 on.
        """
        limit = whole("limit", limit)
        with self._database.read() as tx:
            return job_rows.latest(tx, state, limit=limit)

    def retry_job(self, num: int) -> None:
        """Queue a dead job again, with all its attempts.

        Raises:
            NotFoundError: There is no such job.
            JobError: It is not dead, or a later job does the same.
        """
        number = _job_number(num)
        with self._database.write() as tx:
            jobs.retry(tx, number, now=self._clock())

    def cancel_job(self, num: int) -> None:
        """Take a job out of the queue; what is just being done about it will not be kept.

        Raises:
            NotFoundError: There is no such job.
            JobError: It is done or cancelled already.
        """
        number = _job_number(num)
        with self._database.write() as tx:
            jobs.cancel(tx, number, now=self._clock())

    def _resume_jobs(self) -> None:
        """Start the worker for what is scheduled, and for what an earlier engine left undone."""
        if self.config.worker == "auto" and not self.read_only:
            self._keep_schedule()
            if self._worker.has_work():
                self._worker_thread.wake()

    def _keep_schedule(self) -> None:
        """Let the nightly consolidation be scheduled as the settings say.

        A time zone that is not set stays the one it is: workers in several do not move the hour.

        Raises:
            ConfigurationError: There is no such time zone.
        """
        at = self.config.consolidate_at
        with self._database.read() as tx:
            known = schedules.get(tx, NIGHTLY)
        if known is None and at is None:
            return
        wanted = Schedule(
            NIGHTLY,
            "memory_consolidate",
            at or _ANY_HOUR,
            self.config.timezone or (known.timezone if known else local_timezone()),
            enabled=at is not None,
        )
        if known != wanted:
            with self._database.write() as tx:
                schedules.ensure_schedule(tx, wanted, now=self._clock())

    def _ready_jobs(self) -> int:
        with self._database.read() as tx:
            return self._job_counts(tx)["jobs_ready"]

    def _job_counts(self, tx: Transaction) -> dict[str, int]:
        """Return the counts of :class:`answers.Stats` that are about jobs, by their names."""
        found = job_rows.counts(tx)
        in_state = {
            f"jobs_{state}": sum(n for (other, _), n in found.items() if other == state)
            for state in ("ready", "running", "dead")
        }
        unknown = sum(
            n for (s, kind), n in found.items() if s == "ready" and kind not in self._handlers
        )
        return {**in_state, "jobs_unknown": unknown}


def _job_number(num: int) -> int:
    return whole("num", num, least=1, most=_MOST_JOBS)


def _telling(
    on_outcome: OnOutcome | None, progress: Progress, waiting: Callable[[], int]
) -> OnOutcome:
    """Return what is called after each attempt, to tell also how far the work is."""
    made = 0

    def told(job: Job, outcome: JobOutcome) -> None:
        nonlocal made
        made += 1
        if on_outcome is not None:
            on_outcome(job, outcome)
        progress(made, made + waiting())

    return told
