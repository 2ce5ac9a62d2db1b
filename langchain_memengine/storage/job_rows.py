"""Read job rows: one, the latest, how many, and what is due when."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import ColumnElement, RowMapping, and_, func, select

from langchain_memengine.errors import NotFoundError
from langchain_memengine.storage.job_schema import jobs
from langchain_memengine.storage.job_values import Job, JobState
from langchain_memengine.storage.times import from_ms, to_ms
from langchain_memengine.storage.transaction import Transaction

_TIMES = ("run_at", "lease_until", "created_at", "finished_at")
_COLUMNS = (
    jobs.c.num,
    jobs.c.kind,
    jobs.c.payload.label("payload_json"),
    jobs.c.state,
    jobs.c.attempts,
    jobs.c.max_attempts,
    jobs.c.run_at,
    jobs.c.dedupe_key,
    jobs.c.lease_until,
    jobs.c.token,
    jobs.c.error,
    jobs.c.owner,
    jobs.c.thread_id,
    jobs.c.commit_id,
    jobs.c.created_at,
    jobs.c.finished_at,
)


def get(tx: Transaction, num: int) -> Job:
    """Return a job.

    Raises:
        NotFoundError: There is no such job.
    """
    found = _jobs(tx, jobs.c.num == num)
    if not found:
        raise NotFoundError(f"There is no job {num}. See: memengine jobs list")
    return found[0]


def holder(tx: Transaction, dedupe_key: str) -> Job | None:
    """Return the job that keeps others with this key from being queued, if there is one."""
    return next(iter(_jobs(tx, has_key(tx, dedupe_key))), None)


def latest(tx: Transaction, state: JobState | None = None, *, limit: int) -> list[Job]:
    """Return the jobs put last, newest first."""
    wanted = [] if state is None else [jobs.c.state == state]
    return _jobs(tx, *wanted, limit=limit)


def counts(tx: Transaction) -> dict[tuple[JobState, str], int]:
    """Return how many jobs there are by state and kind."""
    rows = tx.connection.execute(
        select(jobs.c.state, jobs.c.kind, func.count())
        .where(jobs.c.store_id == tx.store_id)
        .group_by(jobs.c.state, jobs.c.kind)
    )
    return {(state, kind): number for state, kind, number in rows}


def next_due(tx: Transaction, kinds: Collection[str]) -> datetime | None:
    """Return when the next job can be claimed, or buried; ``None`` if none is waiting."""
    wanted = (jobs.c.store_id == tx.store_id, jobs.c.kind.in_(kinds))
    # Each is answered from the index; one statement for both would read every waiting job.
    ready = select(jobs.c.run_at).where(*wanted, jobs.c.state == "ready")
    running = select(jobs.c.lease_until).where(*wanted, jobs.c.state == "running")
    moments = (
        tx.connection.execute(ready.order_by(jobs.c.run_at).limit(1)).scalar_one_or_none(),
        tx.connection.execute(running.order_by(jobs.c.lease_until).limit(1)).scalar_one_or_none(),
    )
    return from_ms(min((one for one in moments if one is not None), default=None))


def is_due(now: datetime) -> ColumnElement[bool]:
    """Return the condition that a job waits and its time has come."""
    return and_(jobs.c.state == "ready", jobs.c.run_at <= to_ms(now))


def is_abandoned(now: datetime) -> ColumnElement[bool]:
    """Return the condition that a worker has a job and let its lease run out."""
    return and_(jobs.c.state == "running", jobs.c.lease_until <= to_ms(now))


def has_key(tx: Transaction, dedupe_key: str) -> ColumnElement[bool]:
    """Return the condition that a job keeps others with a dedupe key from being queued."""
    return and_(jobs.c.store_id == tx.store_id, jobs.c.live_key == dedupe_key)


def _jobs(tx: Transaction, *wanted: ColumnElement[bool], limit: int = 1) -> list[Job]:
    """Return the newest jobs that are wanted, newest first."""
    rows = tx.connection.execute(
        select(*_COLUMNS)
        .where(jobs.c.store_id == tx.store_id, *wanted)
        .order_by(jobs.c.num.desc())
        .limit(limit)
    ).mappings()
    return [_from_row(row) for row in rows]


def _from_row(row: RowMapping) -> Job:
    return Job(**{**row, **{name: from_ms(row[name]) for name in _TIMES}})
