"""Writers and replicas in processes of their own, on PostgreSQL and a Chroma server."""

import json
import os
from datetime import timedelta

import pytest

from integration_tests.reliability.processes import Processes, wait_for
from integration_tests.servers.chroma_run import chroma_running
from integration_tests.servers.replica_processes import (
    SETTINGS,
    WRITTEN,
    engine_of,
    living,
    vectors_on_server,
)
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.schedules import Schedule, ensure_schedule
from tests.fakes.clock import START
from tests.fakes.engines import write

SECONDS = float(os.environ.get("MEMENGINE_REPLICA_SECONDS", "5"))
WRITERS = 8
REPLICAS = ("disk1", "disk2", "memory1", "memory2")

MAX_SECONDS = 2.0
"""After the last commit, every replica sees everything within this time."""


@pytest.fixture
def folder(tmp_path, postgresql):
    """A folder of processes that share a new database and a new Chroma server."""
    with chroma_running(tmp_path / "chroma") as chroma:
        settings = {"database_url": postgresql.url(), "chroma_url": chroma.url}
        (tmp_path / SETTINGS).write_text(json.dumps(settings))
        yield tmp_path


@pytest.fixture
def processes(replica_program, folder):
    with Processes(replica_program, folder) as processes:
        yield processes


@pytest.mark.timeout(240 + 2 * SECONDS)
def test_writers_and_replicas_lose_nothing_and_agree(folder, processes, record_property):
    chunks, counts = written_and_found(processes, REPLICAS)
    record_property(
        "figures",
        (f"{WRITERS} writers, {len(REPLICAS)} replicas, postgresql", counts),
    )
    with engine_of(folder) as engine:
        assert engine.stats().chunks == chunks > 0
        assert vectors_on_server(engine) == chunks


@pytest.mark.timeout(240 + 2 * SECONDS)
def test_writers_on_mariadb_lose_nothing(tmp_path, mariadb, replica_program, record_property):
    settings = {"database_url": mariadb.url(), "vector_search": "exact"}
    (tmp_path / SETTINGS).write_text(json.dumps(settings))
    with Processes(replica_program, tmp_path) as processes:
        chunks, counts = written_and_found(processes, ["memory"])
    record_property("figures", (f"{WRITERS} writers, 1 replica, mariadb", counts))
    with engine_of(tmp_path) as engine:
        assert engine.stats().chunks == chunks > 0


def written_and_found(processes, replicas):
    """Let writers write while replicas search; return how many chunks there are, and the counts."""
    for name in replicas:
        processes.start("search", name)
    ready(processes, len(replicas))
    for number in range(WRITERS):
        processes.start("write", f"writer{number}", SECONDS, 100_000)
    wait_for(lambda: ended(processes, WRITERS), "the writers", SECONDS + 120)
    (processes.root / WRITTEN).touch()
    wait_for(lambda: len(processes.lines("converged")) == len(replicas), "the replicas", 60)
    assert processes.lines("failures") == []
    assert processes.lines("ghosts") == []
    outcomes = [json.loads(line) for line in processes.lines("converged")]
    assert [(one["lost"], one["ghosts"]) for one in outcomes] == [(0, 0)] * len(replicas)
    assert max(one["seconds"] for one in outcomes) < MAX_SECONDS
    assert min(one["searches"] for one in outcomes) > 0
    there, gone = living(processes.root)
    return len(there), {
        "acknowledged": len(there) + 2 * len(gone),
        "lost": 0,
        "ghosts": 0,
        "searches meanwhile": sum(one["searches"] for one in outcomes),
        "ms until all agree": round(1000 * max(one["seconds"] for one in outcomes)),
    }


def test_nightly_job_is_done_once_over_all_workers(folder, processes):
    with engine_of(folder) as engine:
        settings = json.loads((folder / SETTINGS).read_text())
        database = Database(
            settings["database_url"], store_id="default", now=START, busy_timeout_ms=5000
        )
        schedule = Schedule("nightly", "embed", "03:00", "Europe/Berlin")
        with database.write() as tx:
            ensure_schedule(tx, schedule, now=START - timedelta(days=3))  # three nights are due
        database.close()
        for number in range(3):
            processes.start("night", f"worker{number}")
        ready(processes, 3)
        (folder / WRITTEN).touch()
        wait_for(lambda: len(processes.lines("nightly")) == 3, "the workers", 60)
        assert sorted(processes.lines("nightly")) == ["0", "0", "1"]
        assert len(engine.jobs()) == 1


def test_replica_without_the_files_keeps_their_rows(folder):
    """Each replica has files of its own, or none, and all of them find all of it."""
    one, two = folder / "one", folder / "two"
    write(one, "a.md", "Tea is in the first kitchen.")
    write(two, "b.md", "Tea is in the second kitchen.")
    both = {"Tea is in the first kitchen.", "Tea is in the second kitchen."}
    with (
        engine_of(folder, one) as first,
        engine_of(folder, two) as second,
        engine_of(folder) as none,
    ):
        replicas = (first, second, none)
        for _ in range(2):
            for replica in replicas:
                replica.sync()
            for replica in replicas:
                assert {hit.text for hit in replica.search("tea").hits} == both
        (one / "a.md").unlink()
        first.sync()
        for replica in replicas:
            assert {hit.text for hit in replica.search("tea").hits} == {
                "Tea is in the second kitchen."
            }


def test_replica_starts_from_its_snapshot_and_follows_from_there(folder, monkeypatch):
    monkeypatch.setattr("langchain_memengine.retrieval.snapshot_keeping.MIN_CHUNKS", 1)
    texts = [f"tea number{number}" for number in range(40)]
    with engine_of(folder, folder / "cache") as engine:
        engine.add_texts(texts)
        assert len(engine.search("tea", 100).hits) == 40
    with engine_of(folder) as other:
        other.add_texts(["tea of another replica"])
    with engine_of(folder, folder / "cache") as engine:
        read = []
        splitter = engine._partitions._splitter
        monkeypatch.setattr(
            engine._partitions, "_splitter", lambda text: read.append(text) or splitter(text)
        )
        assert len(engine.search("tea", 100).hits) == 41
        assert len(read) == 1  # what was new, and nothing of what it had kept


def test_replicas_that_open_an_empty_database_together_agree_what_it_is(folder, processes):
    for number in range(4):
        processes.start("search", f"memory{number}")
    ready(processes, 4)
    (folder / WRITTEN).touch()
    wait_for(lambda: len(processes.lines("converged")) == 4, "the replicas", 60)
    assert processes.lines("failures") == []
    assert len(set(processes.lines("epochs"))) == 1


def ready(processes, count):
    wait_for(
        lambda: len(processes.lines("ready")) == count or processes.lines("failures"), "all", 120
    )
    assert processes.lines("failures") == []


def ended(processes, count):
    return len(processes.lines("ended")) == count or processes.lines("failures")
