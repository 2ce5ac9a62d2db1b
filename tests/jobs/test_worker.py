"""The worker: what it does with jobs that succeed, fail, die or are not its own."""

import asyncio
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import insert, update

from langchain_memengine.errors import EmbeddingError, JobError, StorageError, StoreBusyError
from langchain_memengine.jobs.reports import JobsReport
from langchain_memengine.jobs.worker import PRUNE_EVERY, RETENTION, Worker, no_work
from langchain_memengine.storage import job_rows, jobs, schedules
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.job_schema import jobs as job_table
from langchain_memengine.storage.job_values import BackOff, NewJob
from langchain_memengine.storage.schedules import Schedule
from tests.fakes.clock import START

LOGGER = "langchain_memengine.jobs.worker"


@pytest.fixture
def database():
    database = Database("sqlite://", store_id="a", now=START, busy_timeout_ms=0)
    yield database
    database.close()


@pytest.fixture
def worker_of(database, clock):
    """Makes workers that wait 10 s, 20 s, 40 s … after failures."""

    def make(handler, *, on_job_failed=None, kind="embed"):
        return Worker(
            database,
            {kind: handler},
            clock=clock,
            on_job_failed=on_job_failed,
            back_off=BackOff(base_seconds=10, cap_seconds=600),
            chance=lambda: 1.0,
        )

    return make


def put(database, kind="embed", **options):
    with database.write() as tx:
        return jobs.put(tx, NewJob(kind, **options), now=START)


def get(database, num):
    with database.read() as tx:
        return job_rows.get(tx, num)


def meta(database, key):
    with database.read() as tx:
        return tx.get_meta(key)


def failing(error):
    def handler(_job, _context):
        raise error

    return handler


def test_jobs_are_done_in_order_and_their_effects_are_kept(database, worker_of):
    seen = []

    def handler(job, context):
        seen.append((job.payload["n"], context.now, context.is_given_up()))
        return lambda tx: tx.set_meta(f"n{job.payload['n']}", "done")

    nums = [put(database, payload={"n": n}) for n in (1, 2)]
    shown = []
    report = worker_of(handler).run_until_idle(
        on_outcome=lambda job, outcome: shown.append((job.num, outcome))
    )
    assert report == JobsReport(done=2)
    assert seen == [(1, START, False), (2, START, False)]
    assert (meta(database, "n1"), meta(database, "n2")) == ("done", "done")
    assert shown == [(nums[0], "done"), (nums[1], "done")]


def test_a_job_without_an_effect_is_done_too(database, worker_of):
    num = put(database, "auto_learn_error")
    assert worker_of(no_work, kind="auto_learn_error").run_until_idle().done == 1
    assert get(database, num).state == "done"


def test_no_transaction_is_open_while_a_handler_runs(database, worker_of):
    def handler(_job, _context):
        with database.write() as tx:
            tx.set_meta("from inside", "yes")

    put(database)
    assert worker_of(handler).run_until_idle().done == 1
    assert meta(database, "from inside") == "yes"


def test_a_limit_leaves_the_rest(database, worker_of):
    for _ in range(3):
        put(database)
    assert worker_of(no_work).run_until_idle(limit=2) == JobsReport(done=2, left=1)


def test_a_stop_leaves_the_rest(database, worker_of):
    stop = threading.Event()

    def handler(_job, _context):
        stop.set()

    put(database)
    put(database)
    assert worker_of(handler).run_until_idle(stop=stop) == JobsReport(done=1, left=1)


def test_kinds_without_a_handler_are_left(database, worker_of):
    put(database, "graph_sync")
    assert worker_of(no_work).run_until_idle() == JobsReport(left=1)


def test_kinds_of_a_newer_release_are_left_and_listed(database, worker_of):
    num = put(database)
    with database.write() as tx:
        tx.connection.execute(update(job_table).values(kind="dream"))
    assert worker_of(no_work).run_until_idle() == JobsReport(left=1)
    assert (get(database, num).kind, get(database, num).state) == ("dream", "ready")


def test_a_job_that_fails_waits_longer_each_time_and_then_dies(database, worker_of, clock):
    dead = []
    error = EmbeddingError("it is down", retryable=True)
    worker = worker_of(failing(error), on_job_failed=lambda *seen: dead.append(seen))
    num = put(database, max_attempts=3)
    for seconds in (10, 20):
        assert worker.run_until_idle() == JobsReport(failed=1, left=1)
        assert get(database, num).run_at == clock.now + timedelta(seconds=seconds)
        assert worker.run_until_idle() == JobsReport(left=1)
        clock.now += timedelta(seconds=seconds)
    assert dead == []
    assert worker.run_until_idle() == JobsReport(dead=1)
    assert [(job.num, raised) for job, raised in dead] == [(num, error)]
    assert get(database, num).error == "EmbeddingError: it is down"


@pytest.mark.parametrize(
    ("error", "level"),
    [
        (EmbeddingError("memory text", retryable=True), logging.INFO),
        (StoreBusyError("memory text"), logging.INFO),
        (ConnectionError("memory text"), logging.INFO),
        (EmbeddingError("memory text"), logging.WARNING),
        (ZeroDivisionError("memory text"), logging.WARNING),
    ],
)
def test_logs_tell_what_passes_by_itself_and_never_the_words(
    database, worker_of, caplog, error, level
):
    put(database)
    with caplog.at_level(logging.DEBUG, LOGGER):
        worker_of(failing(error)).run_until_idle()
    (told,) = [r for r in caplog.records if type(error).__name__ in r.getMessage()]
    assert told.levelno == level
    assert "memory text" not in caplog.text


def test_a_hopeless_job_dies_at_once(database, worker_of):
    put(database)
    assert worker_of(failing(JobError("never"))).run_until_idle() == JobsReport(dead=1)


def test_a_damaged_payload_dies_at_once_and_the_next_job_is_done(database, worker_of):
    poison = put(database)
    with database.write() as tx:
        tx.connection.execute(update(job_table).values(payload="{"))
    put(database)
    assert worker_of(no_work).run_until_idle() == JobsReport(done=1, dead=1)
    assert "damaged" in get(database, poison).error


def test_an_effect_that_fails_leaves_nothing_and_the_job_is_tried_again(database, worker_of, clock):
    times = []

    def handler(_job, _context):
        def effect(tx):
            tx.set_meta("effect", str(len(times)))
            times.append(1)
            if len(times) == 1:
                raise RuntimeError("power cut")

        return effect

    put(database)
    worker = worker_of(handler)
    assert worker.run_until_idle().failed == 1
    assert meta(database, "effect") is None
    clock.now += timedelta(seconds=10)
    assert worker.run_until_idle().done == 1
    assert meta(database, "effect") == "1"


def test_what_on_job_failed_raises_does_not_stop_the_worker(database, worker_of, caplog):
    def broken(_job, _error):
        raise RuntimeError("memory text")

    put(database)
    put(database)
    worker = worker_of(failing(JobError("never")), on_job_failed=broken)
    assert worker.run_until_idle() == JobsReport(dead=2)
    assert "on_job_failed raised RuntimeError" in caplog.text
    assert "memory text" not in caplog.text


def test_a_job_that_was_cancelled_meanwhile_leaves_nothing(database, worker_of):
    def handler(job, _context):
        with database.write() as tx:
            jobs.cancel(tx, job.num, now=START)
        return lambda tx: tx.set_meta("effect", "kept")

    num = put(database)
    assert worker_of(handler).run_until_idle() == JobsReport()
    assert get(database, num).state == "cancelled"
    assert meta(database, "effect") is None


def test_a_job_that_fails_after_it_was_cancelled_stays_cancelled(database, worker_of):
    def handler(job, _context):
        with database.write() as tx:
            jobs.cancel(tx, job.num, now=START)
        raise ZeroDivisionError

    num = put(database)
    assert worker_of(handler).run_until_idle() == JobsReport()
    assert get(database, num).state == "cancelled"


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(0)])
def test_a_signal_that_ends_the_process_gives_the_job_back_untried(database, worker_of, error):
    """A handler of SIGTERM raises ``SystemExit`` in the main thread, whatever that is doing."""
    num = put(database)
    with pytest.raises(type(error)):
        worker_of(failing(error)).run_until_idle()
    assert (get(database, num).state, get(database, num).attempts) == ("ready", 0)


def test_an_interrupt_ends_the_worker_even_when_the_job_cannot_be_given_back(
    database, worker_of, clock, monkeypatch, caplog
):
    def busy(_tx, _job):
        raise StoreBusyError("another process writes")

    num = put(database)
    monkeypatch.setattr(jobs, "give_back", busy)
    with pytest.raises(KeyboardInterrupt):
        worker_of(failing(KeyboardInterrupt())).run_forever(threading.Event())
    assert "comes back when its lease has run out" in caplog.text
    clock.now += timedelta(seconds=30)
    assert worker_of(no_work).run_until_idle() == JobsReport(done=1)
    assert get(database, num).attempts == 2


def test_a_job_that_killed_every_worker_is_reported_dead(database, worker_of, clock):
    dead = []
    num = put(database, max_attempts=1)
    with database.write() as tx:
        jobs.claim(tx, ["embed"], now=START, lease_seconds=30, token=str(num))
    clock.now += timedelta(seconds=30)
    worker = worker_of(no_work, on_job_failed=lambda job, error: dead.append((job.num, error)))
    assert worker.run_until_idle() == JobsReport()
    ((reported, error),) = dead
    assert reported == num
    assert isinstance(error, JobError)


def test_a_heartbeat_prolongs_the_lease_of_the_job_in_hand(database, worker_of, clock):
    def handler(job, _context):
        clock.now += timedelta(seconds=20)
        assert worker._beat(job)
        assert get(database, job.num).lease_until == clock.now + timedelta(seconds=30)

    put(database)
    worker = worker_of(handler)
    assert worker.run_until_idle().done == 1


def test_an_idle_worker_does_not_take_the_write_lock(database, worker_of, monkeypatch):
    put(database, run_at=START + timedelta(days=1))
    worker = worker_of(no_work)
    worker.run_until_idle()  # clears away old rows once

    def refuse():
        raise AssertionError("nothing is due")

    monkeypatch.setattr(database, "write", refuse)
    assert worker.run_until_idle() == JobsReport(left=1)


def test_schedules_are_followed(database, worker_of, clock):
    nightly = Schedule("nightly", "memory_consolidate", "03:00", "UTC")
    with database.write() as tx:
        schedules.ensure_schedule(tx, nightly, now=START)
    worker = worker_of(no_work, kind="memory_consolidate")
    assert worker.has_work()
    assert worker.run_until_idle() == JobsReport()
    clock.pass_days(3)
    assert worker.run_until_idle() == JobsReport(done=1)
    assert worker.run_until_idle() == JobsReport()


def test_a_schedule_that_cannot_be_read_does_not_hold_up_the_jobs(
    database, worker_of, clock, caplog
):
    row = {
        "store_id": "a",
        "name": "broken",
        "kind": "embed",
        "payload": "{}",
        "at": "soon",
        "timezone": "UTC",
        "next_run_at": 0,
        "enabled": True,
    }
    with database.write() as tx:
        tx.connection.execute(insert(schedules.schedules).values(row))
    put(database)
    worker = worker_of(no_work)
    assert worker.run_until_idle() == JobsReport(done=1)
    assert "schedules cannot be followed" in caplog.text
    assert worker._seconds_to_next(2.0) == 2.0  # it is not tried ten times a second


def test_old_jobs_are_cleared_away_now_and_then(database, worker_of, clock):
    put(database)
    worker = worker_of(no_work)
    worker.run_until_idle()
    clock.now += RETENTION
    worker.run_until_idle()
    with database.read() as tx:
        assert len(job_rows.latest(tx, limit=9)) == 1
    clock.now += PRUNE_EVERY
    worker.run_until_idle()
    with database.read() as tx:
        assert job_rows.latest(tx, limit=9) == []


def test_running_forever_ends_after_the_job_in_hand(database, worker_of):
    stop = threading.Event()

    def handler(_job, _context):
        stop.set()

    put(database)
    put(database)
    worker_of(handler).run_forever(stop)
    with database.read() as tx:
        assert job_rows.counts(tx) == {("done", "embed"): 1, ("ready", "embed"): 1}


def test_running_forever_survives_a_database_that_fails(database, worker_of, monkeypatch, caplog):
    stop = threading.Event()
    worker = worker_of(no_work)
    answers = [StorageError("it is gone"), None]

    def run(**_options):
        error = answers.pop(0)
        if error:
            raise error
        stop.set()

    monkeypatch.setattr(worker, "run_until_idle", run)
    worker.run_forever(stop, poll_seconds=0)
    assert "it is gone" in caplog.text


def test_the_wait_is_until_the_next_job_and_never_longer_than_a_poll(database, worker_of, clock):
    worker = worker_of(no_work)
    assert worker._seconds_to_next(2.0) == 2.0
    put(database, run_at=START + timedelta(seconds=1.5))
    assert worker._seconds_to_next(2.0) == 1.5
    clock.now = datetime(2026, 6, 1, tzinfo=UTC)
    assert worker._seconds_to_next(2.0) == 0.1


@pytest.mark.parametrize("error", [SystemExit(3), asyncio.CancelledError()])
def test_a_job_that_raises_what_ends_programs_fails_like_any_other(
    database, worker_of, clock, error
):
    dead = []
    worker = worker_of(failing(error), on_job_failed=lambda *seen: dead.append(seen))
    num = put(database, max_attempts=2)
    with ThreadPoolExecutor(1) as elsewhere:
        assert elsewhere.submit(worker.run_until_idle).result() == JobsReport(failed=1, left=1)
        assert type(error).__name__ in (get(database, num).error or "")
        clock.now += timedelta(seconds=10)
        assert elsewhere.submit(worker.run_until_idle).result() == JobsReport(dead=1)
    ((job, raised),) = dead
    assert (job.num, isinstance(raised, Exception)) == (num, True)
