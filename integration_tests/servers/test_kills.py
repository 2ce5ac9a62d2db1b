"""Jobs on servers under kill -9, of the processes that put and do them and of the server itself.

``MEMENGINE_POSTGRESQL_KILL_CYCLES`` and ``MEMENGINE_MARIADB_KILL_CYCLES`` set how often two workers
and a writer are killed, ``MEMENGINE_SERVER_KILLS`` how often each server is.
"""

import os

import pytest

from integration_tests.reliability import job_processes
from integration_tests.reliability.job_kills import (
    job_database,
    job_processes_on,
    kill_processes,
    kill_server,
    outcome,
)
from integration_tests.reliability.processes import Program
from integration_tests.servers.starting import KINDS

CYCLES = {kind: int(os.environ.get(f"MEMENGINE_{kind.upper()}_KILL_CYCLES", "2")) for kind in KINDS}
SERVER_KILLS = int(os.environ.get("MEMENGINE_SERVER_KILLS", "5"))


@pytest.fixture(scope="module")
def program():
    with Program(job_processes) as program:
        yield program


@pytest.fixture
def url(server):
    """The address of a database that a test has to itself."""
    return server.url()


@pytest.fixture
def processes(program, url, tmp_path):
    with job_processes_on(program, url, tmp_path) as processes:
        yield processes


@pytest.mark.timeout(120 + 15 * max(CYCLES.values()))
def test_killing_processes_loses_no_job_and_repeats_no_effect(
    server, url, processes, record_property
):
    with job_database(url) as database:
        killed = kill_processes(processes, CYCLES[server.kind])
        counts = killed | outcome(processes, database)
    record_property("figures", (f"job queue on {server.kind}", counts))


@pytest.mark.timeout(120 + 30 * SERVER_KILLS)
def test_killing_the_server_loses_no_job_and_repeats_no_effect(
    server, url, processes, record_property
):
    def kill_and_start():
        server.kill()
        server.start()

    killed = kill_server(processes, kill_and_start, SERVER_KILLS)
    with job_database(url) as database:
        counts = killed | outcome(processes, database)
    record_property("figures", (f"{server.kind} itself under kill -9", counts))
