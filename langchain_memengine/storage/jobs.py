"""Job rows: background work that survives any crash.

A job is put in the transaction of the rows it is about. A worker claims it for the length of a
lease and proves with a token that it still has it; a worker that dies lets the lease run out, and
the next one takes over. What a job changes is committed together with its being done, so effects
happen once even though an attempt may happen again.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, and_, case, delete, null, select, update

from langchain_memengine.errors import ConfigurationError, JobError, UnknownJobKindError
from langchain_memengine.storage import dialects
from langchain_memengine.storage.job_rows import get, has_key, holder, is_abandoned, is_due
from langchain_memengine.storage.job_schema import jobs
from langchain_memengine.storage.job_values import JOB_KINDS, Job, JobState, NewJob
from langchain_memengine.storage.times import to_ms
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.text.sanitize import clean_metadata, clean_text
from langchain_memengine.types import Metadata

MAX_ERROR_CHARS = 2000
MAX_KEY_CHARS = 255

_IDLE: dict[str, Any] = {"token": None, "lease_until": None}


def put(tx: Transaction, new: NewJob, *, now: datetime) -> int | None:
    """Queue a job; return its number, ``None`` if one with its dedupe key is there already.

    Raises:
        UnknownJobKindError: No worker of this release would ever take it.
        ConfigurationError: The payload cannot be stored, or the key is too long.
    """
    if new.kind not in JOB_KINDS:
        raise UnknownJobKindError(new.kind, JOB_KINDS)
    key = None if new.dedupe_key is None else clean_text(new.dedupe_key)
    if key is not None and len(key) > MAX_KEY_CHARS:
        raise ConfigurationError(
            f"A dedupe key has {len(key)} characters; at most {MAX_KEY_CHARS} can be stored. "
            "Use a hash of it."
        )
    row = {
        "store_id": tx.store_id,
        "kind": new.kind,
        "payload": payload_json(new.payload),
        "dedupe_key": key,
        "live_key": key,
        "keeps_key": new.keeps_key,
        "state": "ready",
        "attempts": 0,
        "max_attempts": new.max_attempts,
        "run_at": to_ms(new.run_at or now),
        "owner": new.owner,
        "thread_id": new.thread_id,
        "commit_id": new.commit_id,
        "created_at": to_ms(now),
    }
    num = dialects.insert_unless_taken(tx.connection, jobs, row, ("store_id", "live_key"))
    tx.queued_jobs = tx.queued_jobs or num is not None
    return num


def payload_json(payload: Metadata) -> str:
    """Return a payload as it is stored: without what a database or JSON cannot hold.

    Raises:
        ConfigurationError: It cannot be stored.
    """
    return json.dumps(clean_metadata(payload), allow_nan=False, ensure_ascii=False)


def claim(
    tx: Transaction, kinds: Collection[str], *, now: datetime, lease_seconds: float, token: str
) -> Job | None:
    """Take the job that has waited longest, or that a dead worker left; ``None`` if there is none.

    Args:
        tx: An open write transaction.
        kinds: What the worker can do; other jobs are left alone.
        now: The time.
        lease_seconds: How long the worker has it to itself without a heartbeat.
        token: A value that no claim had before.
    """
    # One statement for both conditions would read every waiting job instead of the index.
    takeable = (is_due(now), and_(is_abandoned(now), jobs.c.attempts < jobs.c.max_attempts))
    found = [first for one in takeable if (first := _first(tx, kinds, one)) is not None]
    if not found:
        return None
    _, num = min(found)
    tx.connection.execute(
        update(jobs)
        .where(jobs.c.num == num)
        .values(
            state="running",
            token=token,
            lease_until=to_ms(now + timedelta(seconds=lease_seconds)),
            attempts=jobs.c.attempts + 1,
        )
    )
    return get(tx, num)


def bury_abandoned(tx: Transaction, kinds: Collection[str], *, now: datetime) -> list[Job]:
    """Give up the jobs whose every attempt ended with the worker's death; return them."""
    statement = select(jobs.c.num).where(
        jobs.c.store_id == tx.store_id,
        jobs.c.kind.in_(kinds),
        is_abandoned(now),
        jobs.c.attempts >= jobs.c.max_attempts,
    )
    nums = list(tx.connection.execute(dialects.passing_locked(statement)).scalars())
    for num in nums:
        error = "The worker died, or lost the database, in the last attempt that was allowed."
        values = _finished("dead", now, error)
        tx.connection.execute(update(jobs).where(jobs.c.num == num).values(values))
    return [get(tx, num) for num in nums]


def heartbeat(tx: Transaction, job: Job, *, now: datetime, lease_seconds: float) -> bool:
    """Prolong the lease; return whether the worker still has the job."""
    return _change_own(tx, job, lease_until=to_ms(now + timedelta(seconds=lease_seconds)))


def finish(tx: Transaction, job: Job, *, now: datetime) -> bool:
    """Mark a job done; return whether its worker still had it.

    Apply what the job changes in the same transaction and only if this returns true: a worker
    that was taken for dead may come back after another one did the job.
    """
    return _change_own(tx, job, **_finished("done", now, None))


def fail(
    tx: Transaction,
    job: Job,
    error: str,
    *,
    now: datetime,
    wait_seconds: float | None,
) -> JobState | None:
    """Note a failed attempt; return the job's new state, ``None`` if its worker had lost it.

    Args:
        tx: An open write transaction.
        job: As it was claimed.
        error: What went wrong.
        now: The time.
        wait_seconds: When to try again; ``None`` if it is of no use. After the last attempt the
            job is dead in any case.
    """
    text = clean_text(error)[:MAX_ERROR_CHARS]
    if wait_seconds is None or job.attempts >= job.max_attempts:
        return "dead" if _change_own(tx, job, **_finished("dead", now, text)) else None
    run_at = to_ms(now + timedelta(seconds=wait_seconds))
    kept = _change_own(tx, job, state="ready", run_at=run_at, error=text, **_IDLE)
    return "ready" if kept else None


def give_back(tx: Transaction, job: Job) -> bool:
    """Undo a claim, as if the attempt had not been begun; return whether its worker had it."""
    return _change_own(tx, job, state="ready", attempts=job.attempts - 1, **_IDLE)


def settle(tx: Transaction, dedupe_key: str, *, now: datetime) -> bool:
    """Mark the waiting job with this key done, because its work was done without it.

    A job that a worker has is left to the worker.
    """
    changed = tx.connection.execute(
        update(jobs)
        .where(has_key(tx, dedupe_key), jobs.c.state == "ready")
        .values(_finished("done", now, None))
    )
    return changed.rowcount > 0


def cancel(tx: Transaction, num: int, *, now: datetime) -> None:
    """Take a job out of the queue; what a worker is just doing about it will not be kept.

    Raises:
        NotFoundError: There is no such job.
        JobError: It is done or cancelled already.
    """
    job = get(tx, num)
    if job.state in {"done", "cancelled"}:
        raise JobError(f"Job {num} is {job.state}: there is nothing left to cancel.")
    values = _finished("cancelled", now, job.error)
    tx.connection.execute(update(jobs).where(jobs.c.num == num).values(values))


def retry(tx: Transaction, num: int, *, now: datetime) -> None:
    """Queue a dead job again, with all its attempts.

    Raises:
        NotFoundError: There is no such job.
        JobError: It is not dead, or its dedupe key is taken by a later job.
    """
    job = get(tx, num)
    if job.state != "dead":
        raise JobError(f"Job {num} is {job.state}; only a dead job can be tried again.")
    later = job.dedupe_key and holder(tx, job.dedupe_key)
    if later and later.num != num:
        raise JobError(f"Job {later.num} does the same as job {num} and is queued already.")
    tx.connection.execute(
        update(jobs)
        .where(jobs.c.num == num)
        .values(
            state="ready",
            attempts=0,
            run_at=to_ms(now),
            live_key=jobs.c.dedupe_key,
            finished_at=None,
        )
    )
    tx.queued_jobs = True


def prune(tx: Transaction, *, before: datetime) -> int:
    """Remove jobs that were done or cancelled before a time; return how many there were.

    Dead ones stay until somebody looks at them, and so do those that keep their key for good.
    """
    return tx.connection.execute(
        delete(jobs).where(
            jobs.c.store_id == tx.store_id,
            jobs.c.state.in_(("done", "cancelled")),
            jobs.c.finished_at < to_ms(before),
            jobs.c.keeps_key.is_(False),
        )
    ).rowcount


def clear_payload(tx: Transaction, job: Job) -> None:
    """Take out of a job what it was about, when it is done and must not be kept."""
    tx.connection.execute(update(jobs).where(jobs.c.num == job.num).values(payload="{}"))


def _first(
    tx: Transaction, kinds: Collection[str], condition: ColumnElement[bool]
) -> tuple[int, int] | None:
    """Return when the first job that meets a condition was to run, and its number."""
    statement = (
        select(jobs.c.run_at, jobs.c.num)
        .where(jobs.c.store_id == tx.store_id, jobs.c.kind.in_(kinds), condition)
        .order_by(jobs.c.run_at, jobs.c.num)
        .limit(1)
    )
    row = tx.connection.execute(dialects.passing_locked(statement)).one_or_none()
    return None if row is None else (row.run_at, row.num)


def _finished(state: JobState, now: datetime, error: str | None) -> dict[str, Any]:
    """Return what an end changes; only a key that is kept for good stays taken."""
    live_key = case((jobs.c.keeps_key, jobs.c.live_key), else_=null())
    return {
        "state": state,
        "finished_at": to_ms(now),
        "error": error,
        "live_key": live_key,
        **_IDLE,
    }


def _change_own(tx: Transaction, job: Job, **values: Any) -> bool:
    """Change a job if its worker still has it; return whether it has."""
    changed = tx.connection.execute(
        update(jobs)
        .where(
            jobs.c.store_id == tx.store_id,
            jobs.c.num == job.num,
            jobs.c.token == job.token,
            jobs.c.state == "running",
        )
        .values(values)
    )
    return changed.rowcount == 1
