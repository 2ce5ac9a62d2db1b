"""Jobs whose processes, or whose server, is killed; what was acknowledged and what became of it."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from integration_tests.reliability.job_processes import URL
from integration_tests.reliability.processes import Processes, Program, kill, wait_for
from langchain_memengine.storage import job_rows
from langchain_memengine.storage.database import Database

ROLES = ("work", "work", "put")
MIN_JOBS = 5
"""Jobs that are put before each kill."""


def job_processes_on(program: Program, url: str, folder: Path) -> Processes:
    """Return what starts the processes of a database."""
    (folder / URL).write_text(url)
    return Processes(program, folder)


@contextmanager
def job_database(url: str) -> Iterator[Database]:
    """Yield the database of the processes."""
    database = Database(url, store_id="a", now=datetime.now(UTC), busy_timeout_ms=15_000)
    try:
        yield database
    finally:
        database.close()


def kill_processes(
    processes: Processes, cycles: int, check: Callable[[], object] = lambda: None
) -> dict[str, int]:
    """Start and kill two workers and a writer, again and again; return the counts.

    Args:
        processes: Starts them.
        cycles: How often.
        check: Called after each cycle.
    """
    for cycle in range(cycles):
        started = [processes.start(role) for role in ROLES]
        _wait_for_jobs(processes, cycle)
        for process in started:
            kill(process)
        check()
    return {"cycles": cycles, "kills": len(ROLES) * cycles}


def kill_server(
    processes: Processes, kill_and_start: Callable[[], object], times: int
) -> dict[str, int]:
    """Kill the server of two workers and a writer, which go on; return the counts."""
    started = [processes.start(role) for role in ROLES]
    for cycle in range(times):
        _wait_for_jobs(processes, cycle)
        kill_and_start()
    _wait_for_jobs(processes, 0)
    for process in started:
        kill(process)
    return {"kills": times, "without an answer": len(processes.lines("unanswered"))}


def _wait_for_jobs(processes: Processes, cycle: int) -> None:
    wanted = len(processes.lines("acknowledged")) + MIN_JOBS
    wait_for(lambda: len(processes.lines("acknowledged")) >= wanted, "jobs")
    time.sleep(0.02 * (cycle % 7))


def effects(database: Database, names: list[str]) -> Counter[int]:
    """Return how many names had their effect how often."""
    with database.read() as tx:
        return Counter(int(tx.get_meta(f"effect {name}") or 0) for name in names)


def outcome(processes: Processes, database: Database) -> dict[str, int]:
    """Let what is left be done; return counts of what became of the jobs.

    Raises:
        AssertionError: An acknowledged job is not done, or a job has not had its effect once.
    """
    _finish(processes, database)
    acknowledged = processes.lines("acknowledged")
    with database.read() as tx:
        done = [job.payload["name"] for job in job_rows.latest(tx, "done", limit=10**6)]
        repeated = sum(job.attempts > 1 for job in job_rows.latest(tx, limit=10**6))
    assert set(acknowledged) <= set(done)
    assert effects(database, done) == {1: len(done)}
    assert processes.lines("failures") == [], "\n".join(processes.lines("failures"))
    return {
        "acknowledged": len(acknowledged),
        "lost": len(set(acknowledged) - set(done)),
        "effects once": len(done),
        "begun again": repeated,
    }


def _finish(processes: Processes, database: Database) -> None:
    def unfinished() -> int:
        with database.read() as tx:
            counts = job_rows.counts(tx)
        return sum(n for (state, _), n in counts.items() if state != "done")

    last = processes.start("work")
    while left := unfinished():
        wait_for(lambda: unfinished() < left, f"one of the {left} jobs that are left")
    kill(last)
