"""The worker: does the queued jobs of a store, one at a time."""

from __future__ import annotations

import logging
import random
import threading
import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from langchain_memengine.errors import JobError, MemEngineError, StorageError, StoreBusyError
from langchain_memengine.jobs.lease import kept_alive
from langchain_memengine.jobs.reports import JobOutcome, JobsReport
from langchain_memengine.storage import job_rows, jobs, schedules, tombstones
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.job_values import (
    DEFAULT_BACK_OFF,
    BackOff,
    Effect,
    Handler,
    Job,
    JobContext,
)
from langchain_memengine.storage.times import from_ms, to_ms

logger = logging.getLogger(__name__)

LEASE_SECONDS = 30.0
MIN_WAIT_SECONDS = 0.1
POLL_SECONDS = 2.0
"""Longest wait of an idle worker; another process's jobs make no event here."""

RETENTION = timedelta(days=7)
PRUNE_EVERY = timedelta(hours=1)

OnJobFailed = Callable[[Job, Exception], None]
OnOutcome = Callable[[Job, JobOutcome], None]


def no_work(_job: Job, _context: JobContext) -> None:
    """Do nothing: the handler of a kind that older releases put and that has no meaning now."""


class Worker:
    """Does the queued jobs of a store, one at a time, the longest waiting first.

    Several workers, in this process or in others, may serve one store.

    Args:
        database: The store.
        handlers: What to do, by kind. Jobs of other kinds are left for whoever has handlers.
        clock: Returns the time, aware.
        on_job_failed: Called with each job that dies and its error; what it raises is logged.
        lease_seconds: How long a job stays this worker's without a sign of life.
        back_off: How long a job that failed waits.
        chance: Returns a random number from 0 to 1.
    """

    def __init__(
        self,
        database: Database,
        handlers: Mapping[str, Handler],
        *,
        clock: Callable[[], datetime],
        on_job_failed: OnJobFailed | None = None,
        lease_seconds: float = LEASE_SECONDS,
        back_off: BackOff = DEFAULT_BACK_OFF,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._database = database
        self._handlers = handlers
        self._clock = clock
        self._on_job_failed = on_job_failed
        self._lease_seconds = lease_seconds
        self._back_off = back_off
        self._chance = chance
        self._woken = threading.Event()
        self._prune_at: datetime | None = None

    def run_one(self) -> tuple[Job, JobOutcome] | None:
        """Do the next job that is due; return it and how it ended, ``None`` if none was.

        Raises:
            StorageError: The database failed; the job comes back when its lease has run out.
        """
        if not self._is_something_due():
            return None
        now = self._clock()
        kinds = self._handlers.keys()
        with self._database.write(alone=False) as tx:
            dead = jobs.bury_abandoned(tx, kinds, now=now)
            job = jobs.claim(
                tx, kinds, now=now, lease_seconds=self._lease_seconds, token=str(uuid.uuid4())
            )
        for one in dead:
            self._report_dead(one, JobError(one.error or ""))
        if job is None:
            return None
        outcome = self._attempt(job, now)
        logger.info("job %d (%s), attempt %d: %s", job.num, job.kind, job.attempts, outcome)
        return job, outcome

    def run_until_idle(
        self,
        *,
        limit: int | None = None,
        stop: threading.Event | None = None,
        on_outcome: OnOutcome | None = None,
    ) -> JobsReport:
        """Do the jobs that are due, until none is; return what was done.

        Jobs whose time has not come, as after a failure, are not waited for.

        Args:
            limit: Attempts, at most.
            stop: When set, the job in hand is finished and no other begun.
            on_outcome: Called after each attempt.

        Raises:
            StorageError: The database failed.
        """
        self._tick()
        outcomes: Counter[JobOutcome] = Counter()
        while (limit is None or outcomes.total() < limit) and not (stop and stop.is_set()):
            ran = self.run_one()
            if ran is None:
                break
            outcomes[ran[1]] += 1
            if on_outcome is not None:
                on_outcome(*ran)
        return JobsReport(outcomes["done"], outcomes["failed"], outcomes["dead"], self._left())

    def run_forever(
        self,
        stop: threading.Event,
        *,
        poll_seconds: float = POLL_SECONDS,
        on_outcome: OnOutcome | None = None,
    ) -> None:
        """Do jobs as they come, until ``stop`` is set; then finish the one in hand.

        Set ``stop`` and call :meth:`wake`, or the wait for the next job goes on for up to
        ``poll_seconds``. A database that fails is tried again.
        """
        while not stop.is_set():
            self._woken.clear()
            try:
                self.run_until_idle(stop=stop, on_outcome=on_outcome)
                wait = self._seconds_to_next(poll_seconds)
            except StorageError as error:
                logger.warning("the worker could not reach its jobs: %s", error)
                wait = poll_seconds
            if not stop.is_set():
                self._woken.wait(wait)

    def wake(self) -> None:
        """Let :meth:`run_forever` look for jobs now."""
        self._woken.set()

    def has_work(self) -> bool:
        """Return whether any job or schedule that this worker can serve waits, due or not."""
        with self._database.read() as tx:
            return (
                job_rows.next_due(tx, self._handlers.keys()) is not None
                or schedules.next_scheduled(tx) is not None
            )

    def _is_something_due(self) -> bool:
        """Look without the write lock: an idle worker must not hinder writers."""
        with self._database.read() as tx:
            due = job_rows.next_due(tx, self._handlers.keys())
        return due is not None and due <= self._clock()

    def _seconds_to_next(self, poll_seconds: float) -> float:
        with self._database.read() as tx:
            due = job_rows.next_due(tx, self._handlers.keys())
            scheduled = schedules.next_scheduled(tx)
        now = self._clock()
        # A schedule that is still due was just passed over: it cannot be followed for now.
        moments = [due, scheduled if scheduled and scheduled > now else None]
        waits = [(moment - now).total_seconds() for moment in moments if moment]
        return max(MIN_WAIT_SECONDS, min([poll_seconds, *waits]))

    def _left(self) -> int:
        with self._database.read() as tx:
            found = job_rows.counts(tx)
        return sum(n for (state, _), n in found.items() if state in {"ready", "running"})

    def _tick(self) -> None:
        """Put the scheduled jobs that are due, and clear away old rows now and then."""
        now = self._clock()
        with self._database.read() as tx:
            scheduled = schedules.next_scheduled(tx)
        if scheduled is not None and scheduled <= now:
            try:
                with self._database.write(alone=False) as tx:
                    schedules.put_due(tx, now=now)
            except ValueError as error:  # one that cannot be read must not hold up the jobs
                logger.warning("the schedules cannot be followed (%s)", type(error).__name__)
        if self._prune_at is None or self._prune_at <= now:
            self._prune_at = now + PRUNE_EVERY
            with self._database.write() as tx:
                jobs.prune(tx, before=now - RETENTION)
                tombstones.prune(tx, now=now)

    def _attempt(self, job: Job, now: datetime) -> JobOutcome:
        try:
            job.payload  # noqa: B018  # a damaged payload is the job's end, whatever its handler reads
            with kept_alive(
                lambda: self._beat(job), lease_seconds=self._lease_seconds, name=f"job {job.num}"
            ) as is_lost:
                context = JobContext(from_ms(to_ms(now)), is_lost)
                effect = self._handlers[job.kind](job, context)
            return "done" if self._finish(job, effect) else "lost"
        except BaseException as error:  # a job may fail in any way; the worker goes on
            if _ends_the_process(error):
                self._give_back(job)
                raise
            if not isinstance(error, Exception):
                error = RuntimeError(f"{type(error).__name__} was raised: {error}")
            return self._fail(job, error)

    def _beat(self, job: Job) -> bool:
        with self._database.write(alone=False) as tx:
            return jobs.heartbeat(tx, job, now=self._clock(), lease_seconds=self._lease_seconds)

    def _finish(self, job: Job, effect: Effect | None) -> bool:
        with self._database.write() as tx:
            if not jobs.finish(tx, job, now=self._clock()):
                return False
            if effect is not None:
                effect(tx)
        return True

    def _fail(self, job: Job, error: Exception) -> JobOutcome:
        hopeless = isinstance(error, JobError)
        wait = None if hopeless else self._back_off.seconds(job.attempts, self._chance())
        text = f"{type(error).__name__}: {error}"
        with self._database.write(alone=False) as tx:
            state = jobs.fail(tx, job, text, now=self._clock(), wait_seconds=wait)
        if state is None:
            return "lost"
        if state == "dead":
            self._report_dead(job, error)
            return "dead"
        level = logging.INFO if _is_transient(error) else logging.WARNING
        kind = type(error).__name__
        logger.log(level, "job %d (%s) failed (%s), again later", job.num, job.kind, kind)
        return "failed"

    def _give_back(self, job: Job) -> None:
        try:
            with self._database.write(alone=False) as tx:
                jobs.give_back(tx, job)
        except StorageError as error:  # it must not stand in for what ends the process
            logger.warning("job %d comes back when its lease has run out: %s", job.num, error)

    def _report_dead(self, job: Job, error: Exception) -> None:
        # The error's own words may quote memory text: they are in the row, not in the log.
        kind = type(error).__name__
        logger.warning("job %d (%s) is dead (%s)", job.num, job.kind, kind)
        if self._on_job_failed is None:
            return
        try:
            self._on_job_failed(job, error)
        except Exception as raised:  # noqa: BLE001  # the application's own code; the worker goes on
            logger.warning("on_job_failed raised %s for job %d", type(raised).__name__, job.num)


def _is_transient(error: Exception) -> bool:
    """Return whether an error passes by itself, as far as it can be known."""
    if isinstance(error, MemEngineError):
        return isinstance(error, StoreBusyError) or getattr(error, "retryable", False)
    return isinstance(error, OSError)


def _ends_the_process(error: BaseException) -> bool:
    """Return whether an error asks the process to end, so that the job is not to blame.

    Handlers of signals raise in the main thread only; elsewhere ``sys.exit()`` ends but the thread.
    """
    if threading.current_thread() is threading.main_thread():
        return isinstance(error, KeyboardInterrupt | SystemExit)
    return isinstance(error, KeyboardInterrupt)
