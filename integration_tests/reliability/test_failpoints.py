"""The n-th step that others could see ends the process, or fails: for each n until there is none.

Nothing that was acknowledged is lost, nothing is done by half, and the store can be used after.
"""

import errno
import itertools
import json
import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from integration_tests.reliability import engine_processes
from integration_tests.reliability.checking import begin_anew, check, check_in_the_end
from integration_tests.reliability.journal import Journal
from integration_tests.reliability.processes import Processes, Program, is_alive, wait_for
from integration_tests.reliability.scenarios import SCENARIOS, Fault, Scenario, failing, prepare
from integration_tests.reliability.user import NotDoneError, User
from langchain_memengine.errors import MemEngineError

pytestmark = pytest.mark.timeout(600)

ERRORS = {
    errno.ENOSPC: sqlite3.SQLITE_FULL,
    errno.EIO: sqlite3.SQLITE_IOERR,
    errno.EACCES: sqlite3.SQLITE_READONLY,
}

KINDS = int(os.environ.get("MEMENGINE_ERROR_KINDS", "1"))
"""How many of the errors each step fails with; 3 is all of them."""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """Return the folder of a store that is there already, by the setting for Chroma."""
    folders = {}
    for vector_search in ("exact", "chroma"):
        folder = tmp_path_factory.mktemp(vector_search)
        begin_anew(folder, {})
        journal = Journal(folder / "journal")
        user = User(folder / "store", journal, {}, "prepared", vector_search=vector_search)
        prepare(user)
        begin_anew(folder, user.state)
        folders[vector_search] = folder
    return folders


def fill(folder, scenario, prepared):
    """Make a folder what a scenario begins with."""
    shutil.rmtree(folder / "store", ignore_errors=True)
    begin_anew(folder, {})
    if not scenario.is_new:
        shutil.copytree(prepared[scenario.vector_search], folder, dirs_exist_ok=True)


@pytest.fixture(scope="module")
def processes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("failpoints")
    with Program(engine_processes) as program, Processes(program, folder) as processes:
        yield processes


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_process_that_ends_at_any_step_loses_nothing(processes, prepared, name, record_property):
    folder = processes.root
    for point in itertools.count(1):
        fill(folder, SCENARIOS[name], prepared)
        process = processes.start("use up to", name, point)
        wait_for(lambda: not is_alive(process), "the end of a process")  # noqa: B023
        assert processes.lines("failures") == [], "\n".join(processes.lines("failures"))
        is_whole = json.dumps(["end", None]) in processes.lines("journal")
        told, _ = check(folder)
        if is_whole:
            break
    check_in_the_end(folder)
    assert told.acknowledged > 0 or name == "maintenance"
    record_property("figures", ("process ended at the n-th step", {"points": point - 1, "lost": 0}))


@pytest.mark.parametrize("name", [name for name in SCENARIOS if name != "Chroma"])
def test_an_error_at_any_step_is_named_and_loses_nothing(tmp_path, prepared, name, record_property):
    """Each step fails in one way after the other, or only in the next of them: see `KINDS`."""
    errors = itertools.cycle(ERRORS)
    failed = 0
    for point in itertools.count(1):
        faults = []
        for number in itertools.islice(errors, KINDS):
            fill(tmp_path, SCENARIOS[name], prepared)
            faults.append(Fault(point, number, ERRORS[number]))
            use_failing(tmp_path, SCENARIOS[name], faults[-1])
            check(tmp_path)
        failed += sum(fault.happened for fault in faults)
        if not any(fault.happened for fault in faults):
            break
    check_in_the_end(tmp_path)
    record_property("figures", ("error at the n-th step", {"errors": failed, "lost": 0}))


def use_failing(folder: Path, scenario: Scenario, fault: Fault) -> None:
    """Do what a scenario says until a fault stops it, which must have a name."""
    state = json.loads((folder / "state").read_text())
    journal = Journal(folder / "journal")
    user = None if scenario.is_new else User(folder / "store", journal, state, "u")
    try:
        with failing(fault, folder / "store"):
            user = user or User(folder / "store", journal, state, "u")
            scenario.run(user)
    except (MemEngineError, NotDoneError):
        assert fault.happened
    finally:
        if user is not None:
            user.engine.close()
