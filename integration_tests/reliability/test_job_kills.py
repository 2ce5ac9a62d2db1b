"""Jobs under kill -9: none that was acknowledged is lost, and each has its effect once.

``MEMENGINE_KILL_CYCLES`` sets how often everything is killed; three processes a cycle.
"""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from integration_tests.reliability.processes import (
    PATIENCE_SECONDS,
    Processes,
    is_alive,
    kill,
    wait_for,
)
from langchain_memengine.storage import job_rows, jobs
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.job_values import NewJob

CYCLES = int(os.environ.get("MEMENGINE_KILL_CYCLES", "40"))
PROGRAM = Path(__file__).with_name("job_processes.py")
LEASE_SECONDS = 0.7  # as in the program


@pytest.fixture
def processes(tmp_path):
    processes = Processes(PROGRAM, tmp_path)
    yield processes
    processes.close()


@pytest.fixture
def database(tmp_path):
    database = Database(
        f"sqlite:///{tmp_path}/jobs.sqlite",
        store_id="a",
        now=datetime.now(UTC),
        busy_timeout_ms=15_000,
    )
    yield database
    database.close()


def put(database: Database, name: str, **options) -> int:
    with database.write() as tx:
        new = NewJob("embed", {"name": name}, **options)
        return jobs.put(tx, new, now=datetime.now(UTC))


def get(database: Database, num: int):
    with database.read() as tx:
        return job_rows.get(tx, num)


def effects(database: Database, names) -> Counter:
    """Return how many names had their effect how often."""
    with database.read() as tx:
        return Counter(int(tx.get_meta(f"effect {name}") or 0) for name in names)


@pytest.mark.timeout(120 + 15 * CYCLES)
def test_killing_everything_again_and_again_loses_no_job_and_repeats_no_effect(
    processes, database, record_property
):
    for cycle in range(CYCLES):
        before = len(processes.lines("acknowledged"))
        started = [processes.start(role) for role in ("work", "work", "put")]
        wait_for(lambda: len(processes.lines("acknowledged")) >= before + 5, "jobs")  # noqa: B023
        time.sleep(0.02 * (cycle % 7))
        for process in started:
            kill(process)
        with sqlite3.connect(processes.root / "jobs.sqlite") as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        connection.close()

    def unfinished() -> int:
        with database.read() as tx:
            counts = job_rows.counts(tx)
        return sum(n for (state, _), n in counts.items() if state != "done")

    last = processes.start("work")
    while left := unfinished():
        wait_for(lambda: unfinished() < left, f"one of the {left} jobs that are left")
    kill(last)

    acknowledged = processes.lines("acknowledged")
    with database.read() as tx:
        done = [job.payload["name"] for job in job_rows.latest(tx, "done", limit=10**6)]
        repeated = sum(job.attempts > 1 for job in job_rows.latest(tx, limit=10**6))
    assert set(acknowledged) <= set(done)
    assert effects(database, done) == {1: len(done)}
    counts = {
        "cycles": CYCLES,
        "kills": 3 * CYCLES,
        "acknowledged": len(acknowledged),
        "lost": len(set(acknowledged) - set(done)),
        "effects once": len(done),
        "begun again": repeated,
    }
    record_property("figures", ("job queue under kill -9", counts))


def test_a_job_that_kills_its_worker_is_dead_after_its_attempts_and_holds_up_no_other(
    processes, database
):
    poison = put(database, "poison", max_attempts=3)
    good = put(database, "good")
    for _ in range(4):  # three die of it, the fourth gives it up
        process = processes.start("work once")
        wait_for(lambda: not is_alive(process), "the worker's end")  # noqa: B023
        time.sleep(LEASE_SECONDS)
    job = get(database, poison)
    assert (job.state, job.attempts) == ("dead", 3)
    assert "worker died" in job.error
    assert get(database, good).state == "done"
    assert effects(database, ["poison", "good"]) == {0: 1, 1: 1}


def test_a_worker_that_comes_back_late_changes_nothing(processes, database):
    num = put(database, "once", max_attempts=5)
    late = processes.start("work slowly")
    wait_for(lambda: processes.lines("began") == [str(num)], "the first attempt")
    os.kill(late, signal.SIGSTOP)  # no heartbeat, as on a machine that sleeps
    time.sleep(LEASE_SECONDS)
    process = processes.start("work once")
    wait_for(lambda: not is_alive(process), "the second worker's end")
    assert (get(database, num).state, get(database, num).attempts) == ("done", 2)
    (processes.root / "go on").touch()
    os.kill(late, signal.SIGCONT)
    wait_for(lambda: processes.lines("outcome"), "the first worker's end")
    assert processes.lines("outcome") == ["lost"]
    assert effects(database, ["once"]) == {1: 1}


def test_a_heartbeat_keeps_a_job_longer_than_its_lease(processes, database):
    num = put(database, "long")
    slow = processes.start("work slowly")
    wait_for(lambda: processes.lines("began") == [str(num)], "the attempt")
    time.sleep(2 * LEASE_SECONDS)
    process = processes.start("work once")
    wait_for(lambda: not is_alive(process), "the second worker's end")
    assert (get(database, num).state, get(database, num).attempts) == ("running", 1)
    (processes.root / "go on").touch()
    wait_for(lambda: not is_alive(slow), "the worker's end")
    assert processes.lines("outcome") == ["done"]


def test_the_worker_command_does_what_another_process_puts_and_ends_when_told(tmp_path):
    from langchain_memengine.config import MemEngineConfig
    from langchain_memengine.engine.memory_engine import MemoryEngine

    config = MemEngineConfig(worker="off", embeddings=None, vector_search="exact")
    with MemoryEngine.open(tmp_path, config=config) as engine:
        program = "from langchain_memengine.cli.main import main; main()"
        command = [sys.executable, "-c", program, "worker", "--root", str(tmp_path)]
        with subprocess.Popen(  # noqa: S603  # this interpreter and our own program
            [*command, "--embeddings", "none"], stdout=subprocess.PIPE, text=True
        ) as worker:
            assert "Waiting for jobs" in worker.stdout.readline()
            with engine._database.write() as tx:
                jobs.put(tx, NewJob("auto_learn_error"), now=datetime.now(UTC))
            assert "auto_learn_error" in worker.stdout.readline()
            worker.send_signal(signal.SIGINT)
            assert worker.stdout.readline() == "1 done, 0 failed, 0 dead, 0 left\n"
            assert worker.wait(PATIENCE_SECONDS) == 0
        assert [job.state for job in engine.jobs()] == ["done"]
