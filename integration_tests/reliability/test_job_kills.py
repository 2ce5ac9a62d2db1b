"""Jobs under kill -9: none that was acknowledged is lost, and each has its effect once.

``MEMENGINE_KILL_CYCLES`` sets how often everything is killed; three processes a cycle.
"""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from datetime import UTC, datetime

import pytest

from integration_tests.reliability import job_processes
from integration_tests.reliability.job_kills import (
    effects,
    job_database,
    job_processes_on,
    kill_processes,
    outcome,
)
from integration_tests.reliability.job_processes import LEASE_SECONDS
from integration_tests.reliability.processes import (
    PATIENCE_SECONDS,
    Program,
    is_alive,
    wait_for,
)
from langchain_memengine.storage import job_rows, jobs
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.job_values import NewJob

CYCLES = int(os.environ.get("MEMENGINE_KILL_CYCLES", "40"))


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path}/jobs.sqlite"


@pytest.fixture(scope="module")
def program():
    with Program(job_processes) as program:
        yield program


@pytest.fixture
def processes(program, url, tmp_path):
    with job_processes_on(program, url, tmp_path) as processes:
        yield processes


@pytest.fixture
def database(url):
    with job_database(url) as database:
        yield database


def put(database: Database, name: str, **options) -> int:
    with database.write() as tx:
        new = NewJob("embed", {"name": name}, **options)
        return jobs.put(tx, new, now=datetime.now(UTC))


def get(database: Database, num: int):
    with database.read() as tx:
        return job_rows.get(tx, num)


@pytest.mark.timeout(120 + 15 * CYCLES)
def test_killing_everything_again_and_again_loses_no_job_and_repeats_no_effect(
    processes, database, record_property
):
    def check():
        with closing(sqlite3.connect(processes.root / "jobs.sqlite")) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]

    killed = kill_processes(processes, CYCLES, check)
    counts = killed | outcome(processes, database)
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
            assert (
                worker.stdout.readline() == "1 job done, 0 attempts failed, 0 given up, 0 left.\n"
            )
            assert worker.wait(PATIENCE_SECONDS) == 0
        assert [job.state for job in engine.jobs()] == ["done"]
