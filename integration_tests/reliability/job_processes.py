"""Processes that put and do jobs, for tests that kill them.

The address of their database is in ``ROOT/url``.
"""

import itertools
import os
import random
import time
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from uuid import uuid4

from integration_tests.reliability.processes import serve, write
from langchain_memengine.errors import StoreUnreachableError
from langchain_memengine.jobs.worker import Worker
from langchain_memengine.storage import jobs
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.job_values import BackOff, NewJob

LEASE_SECONDS = 0.7
URL = "url"


def utc_now():
    return datetime.now(UTC)


def open_database(root: Path) -> Database:
    url = (root / URL).read_text()
    return Database(url, store_id="a", now=utc_now(), busy_timeout_ms=15_000)


def put_jobs(root: Path) -> None:
    """Put job after job, and write down those that were acknowledged."""
    database = open_database(root)
    run = uuid4().hex[:8]  # ids of processes come again
    for i in itertools.count():
        name = f"{run}-{i}"
        time.sleep(0.02)  # about as fast as two workers are on a busy machine
        try:
            with database.write() as tx:
                jobs.put(tx, NewJob("embed", {"name": name}, max_attempts=1000), now=utc_now())
        except StoreUnreachableError:
            write(root, "unanswered", name)  # stored or not
            continue
        write(root, "acknowledged", name)


def effect_of(name: str):
    def effect(tx):
        times = int(tx.get_meta(f"effect {name}") or 0)
        tx.set_meta(f"effect {name}", str(times + 1))

    return effect


def do_job(job, _context):
    time.sleep(random.random() * 0.01)  # noqa: S311  # no secret, just uneven
    return effect_of(job.payload["name"])


def do_or_die(job, _context):
    if job.payload["name"] == "poison":
        os._exit(9)
    return effect_of(job.payload["name"])


def worker_of(root: Path, handler) -> Worker:
    return Worker(
        open_database(root),
        {"embed": handler},
        clock=utc_now,
        lease_seconds=LEASE_SECONDS,
        back_off=BackOff(base_seconds=0.01, cap_seconds=0.01),
    )


def do_jobs(root: Path) -> None:
    worker_of(root, do_job).run_forever(Event(), poll_seconds=0.01)


def do_due_jobs(root: Path) -> None:
    worker_of(root, do_or_die).run_until_idle()


def do_one_slowly(root: Path) -> None:
    """Do one job and wait in it until a file says to go on."""

    def handler(job, _context):
        write(root, "began", job.num)
        while not (root / "go on").exists():
            time.sleep(0.01)
        return effect_of(job.payload["name"])

    _, outcome = worker_of(root, handler).run_one()
    write(root, "outcome", outcome)


ROLES = {
    "put": put_jobs,
    "work": do_jobs,
    "work once": do_due_jobs,
    "work slowly": do_one_slowly,
}


if __name__ == "__main__":
    serve(ROLES)
