"""worker, and jobs list, retry and cancel."""

import json
import signal
import sqlite3
from contextlib import closing

import pytest

from langchain_memengine.engine.memory_engine import MemoryEngine
from langchain_memengine.jobs import worker as worker_module
from langchain_memengine.storage import jobs
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.job_values import NewJob
from tests.doc_pages import commands, run
from tests.fakes.clock import START


@pytest.fixture
def queued(root, memengine):
    """A function that puts a job and may kill it; the memory has one document."""
    memengine("sync", "--root", root)

    def put(kind="auto_learn_error", *, error=None, **options):
        url = f"sqlite:///{root}/.memengine/memory.sqlite"
        database = Database(url, store_id="default", now=START, busy_timeout_ms=0)
        with database.write() as tx:
            num = jobs.put(tx, NewJob(kind, **options), now=START)
            if error is not None:
                job = jobs.claim(tx, [kind], now=START, lease_seconds=1, token=str(num))
                jobs.fail(tx, job, error, now=START, wait_seconds=None)
        database.close()
        return num

    return put


def states(memengine, root):
    return [job["state"] for job in memengine.json("jobs", "list", "--root", root)]


def test_the_list_shows_the_newest_first_and_errors_on_one_line(memengine, root, queued):
    first, second = queued(), queued("graph_sync", error="it\nbroke \x1b[31m")
    result = memengine("jobs", "list", "--root", root)
    assert result.exit_code == 0
    title, _, _head, _rule, *lines = result.stdout.splitlines()
    assert title == "2 jobs"
    assert lines[0].split()[:6] == [str(second), "graph_sync", "dead", "1", "of", "5"]
    assert lines[0].endswith("it broke")
    assert lines[1].split()[:3] == [str(first), "auto_learn_error", "ready"]


def test_a_payload_that_is_damaged_is_shown_as_the_text_it_is(memengine, root, queued):
    queued(payload={"a": 1})
    with closing(sqlite3.connect(root / ".memengine/memory.sqlite")) as connection, connection:
        connection.execute("UPDATE jobs SET payload = '{'")
    (job,) = memengine.json("jobs", "list", "--root", root)
    assert job["payload"] == "{"


def test_the_list_as_json_has_a_fixed_shape(memengine, root, queued):
    queued(payload={"a": 1}, dedupe_key="key")
    (job,) = memengine.json("jobs", "list", "--root", root)
    assert list(job) == [
        *("num", "kind", "state", "attempts", "max_attempts", "run_at", "dedupe_key"),
        *("lease_until", "error", "owner", "thread_id", "commit_id", "created_at"),
        *("finished_at", "payload"),
    ]
    assert (job["payload"], job["run_at"]) == ({"a": 1}, "2026-05-19T12:00:00+00:00")


def test_the_list_can_be_of_one_state(memengine, root, queued):
    queued()
    assert memengine.json("jobs", "list", "--state", "dead", "--root", root) == []
    result = memengine("jobs", "list", "--state", "dead", "--root", root)
    assert (result.exit_code, result.stdout) == (0, "There are no dead jobs.\n")
    result = memengine("jobs", "list", "--state", "lost", "--root", root)
    assert result.exit_code == 2
    assert "ready, running, done, dead, cancelled" in result.stderr


def test_the_worker_does_what_is_due_and_tells(memengine, root, queued):
    num = queued()
    result = memengine("worker", "--once", "--root", root)
    assert result.exit_code == 0
    line, total = result.stdout.splitlines()
    assert line.endswith(f"done    auto_learn_error {num}, attempt 1 of 5")
    assert total == "1 job done, 0 attempts failed, 0 given up, 0 left."
    assert memengine.json("worker", "--once", "--root", root) == {
        "done": 0,
        "failed": 0,
        "dead": 0,
        "left": 0,
    }


def test_the_worker_fails_when_a_job_did(memengine, root, queued, monkeypatch):
    def broken(_job, _context):
        raise jobs.JobError("never")

    monkeypatch.setattr("langchain_memengine.engine.parts.no_work", broken)
    queued()
    result = memengine("worker", "--once", "--root", root)
    assert result.exit_code == 1
    assert "0 jobs done, 0 attempts failed, 1 given up, 0 left." in result.stdout
    assert "memengine jobs list --state dead" in result.stderr


def test_a_signal_ends_the_worker_after_the_job_in_hand(memengine, root, queued, monkeypatch):
    def interrupted(_job, _context):
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("langchain_memengine.engine.parts.no_work", interrupted)
    before = signal.getsignal(signal.SIGINT)
    queued()
    queued()
    result = memengine("worker", "--root", root)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1] == "1 job done, 0 attempts failed, 0 given up, 1 left."
    assert signal.getsignal(signal.SIGINT) is before


def test_a_signal_ends_a_worker_that_waits(memengine, root, monkeypatch):
    waits = []

    def wait(self, seconds):
        waits.append(seconds)
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(worker_module.threading.Event, "wait", wait)
    result = memengine("worker", "--root", root, "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["done"] == 0
    assert waits == [worker_module.POLL_SECONDS]


def test_dead_jobs_are_retried_by_number_or_all(memengine, root, queued):
    nums = [queued(error="x"), queued(error="x"), queued(error="x")]
    assert memengine.json("jobs", "retry", nums[0], "--root", root) == {
        "retried": [nums[0]],
        "problems": [],
    }
    result = memengine("jobs", "retry", "--all", "--root", root)
    assert (result.exit_code, result.stdout) == (0, "2 jobs retried.\n")
    assert states(memengine, root) == ["ready"] * 3


def test_what_cannot_be_retried_is_told_and_the_rest_is(memengine, root, queued):
    dead = queued(error="x")
    result = memengine("jobs", "retry", 99, dead, "--root", root)
    assert (result.exit_code, result.stdout) == (1, "1 job retried.\n")
    assert "no job 99" in result.stderr


def test_jobs_are_cancelled(memengine, root, queued):
    num = queued()
    assert memengine("jobs", "cancel", num, "--root", root).exit_code == 0
    assert states(memengine, root) == ["cancelled"]
    result = memengine("jobs", "cancel", num, "--root", root)
    assert result.exit_code == 1
    assert f"Job {num} is cancelled" in result.stderr


@pytest.mark.parametrize("call", [("retry",), ("cancel",), ("retry", "1", "--all")])
def test_a_call_that_names_no_jobs_is_a_usage_error(memengine, root, call):
    result = memengine("jobs", *call, "--root", root)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1


def test_stats_tell_of_jobs_when_there_are_any(memengine, root, queued):
    assert "dead" not in memengine("stats", "--root", root).stdout
    queued()
    queued("graph_extract")  # no chat model, so nobody does it
    queued(error="x")
    shown = memengine("stats", "--root", root).stdout
    assert "2 ready, 0 running, 1 dead" in shown
    assert "not done here  1 job" in shown


def test_commands_start_no_thread(memengine, root, queued, monkeypatch):
    seen = []
    close = MemoryEngine.close

    def closed(engine):
        seen.append(engine._worker_thread.is_running)
        close(engine)

    monkeypatch.setattr(MemoryEngine, "close", closed)
    queued()
    memengine("stats", "--root", root)
    assert seen == [False]


def test_what_the_page_shows_runs(memengine, capsys):
    run("docs/jobs.md")
    assert capsys.readouterr().out == (
        "0 jobs done, 0 attempts failed, 0 given up, 0 left.\n0 []\n"
    )
    calls = commands("docs/jobs.md")
    assert calls.pop(0) == ["worker"]  # this one waits
    codes = [memengine(*call).exit_code for call in calls]
    assert codes == [0, 0, 0, 1]  # there is no job 12
