"""A worker in a thread: it starts when woken and ends with the job in hand."""

import threading

import pytest

from langchain_memengine.jobs.worker import Worker
from langchain_memengine.jobs.worker_thread import WorkerThread
from langchain_memengine.storage import job_rows, jobs
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.job_values import NewJob
from tests.fakes.clock import START, FixedClock

LONG = 20.0


class Gate:
    """A handler that says when it began and goes on when it may."""

    def __init__(self):
        self.began = threading.Semaphore(0)
        self.may_end = threading.Event()

    def __call__(self, _job, _context):
        self.began.release()
        assert self.may_end.wait(LONG)


@pytest.fixture
def database(tmp_path):
    database = Database(f"sqlite:///{tmp_path}/s", store_id="a", now=START, busy_timeout_ms=5000)
    yield database
    database.close()


def put(database):
    with database.write() as tx:
        jobs.put(tx, NewJob("embed"), now=START)


def counts(database):
    with database.read() as tx:
        return {state: number for (state, _), number in job_rows.counts(tx).items()}


def thread_of(database, handler):
    return WorkerThread(Worker(database, {"embed": handler}, clock=FixedClock()))


def test_it_starts_when_woken_and_sees_later_jobs_at_once(database):
    gate = Gate()
    gate.may_end.set()
    thread = thread_of(database, gate)
    assert not thread.is_running
    for _ in range(2):
        put(database)
        thread.wake()
        assert gate.began.acquire(timeout=LONG)
    assert thread.is_running
    assert thread.drain(LONG)
    assert not thread.is_running


def test_draining_finishes_the_job_in_hand_and_leaves_the_rest(database):
    gate = Gate()
    thread = thread_of(database, gate)
    put(database)
    put(database)
    thread.wake()
    assert gate.began.acquire(timeout=LONG)
    gate.may_end.set()
    # The next job may begin before the drain is asked for; what began is finished.
    assert thread.drain(LONG)
    assert counts(database).get("running") is None
    assert sum(counts(database).values()) == 2


def test_draining_does_not_wait_longer_than_asked(database, caplog):
    gate = Gate()
    thread = thread_of(database, gate)
    put(database)
    thread.wake()
    assert gate.began.acquire(timeout=LONG)
    assert not thread.drain(0)
    assert counts(database) == {"running": 1}
    assert "done again" in caplog.text
    gate.may_end.set()
    assert thread.drain(LONG)
    assert counts(database) == {"done": 1}


def test_after_draining_nothing_starts(database):
    gate = Gate()
    thread = thread_of(database, gate)
    assert thread.drain(0)
    put(database)
    thread.wake()
    assert not thread.is_running


def test_the_thread_itself_may_ask_for_the_end(database):
    ended = threading.Event()

    def handler(_job, _context):
        assert thread.drain(LONG)
        ended.set()

    thread = thread_of(database, handler)
    put(database)
    thread.wake()
    assert ended.wait(LONG)
    assert thread.drain(LONG)
    assert counts(database) == {"done": 1}
