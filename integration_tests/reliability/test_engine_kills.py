"""An engine under kill -9, whatever it is doing: nothing acknowledged is lost, nothing comes back.

``MEMENGINE_KILL_CYCLES`` sets how often it is killed.
"""

import os
import random
import time

import pytest

from integration_tests.reliability import engine_processes
from integration_tests.reliability.checking import begin_anew, check, check_in_the_end
from integration_tests.reliability.processes import (
    Processes,
    Program,
    is_alive,
    kill,
    wait_for,
)

CYCLES = int(os.environ.get("MEMENGINE_KILL_CYCLES", "40"))
CHROMA_EVERY = 5
"""An engine with Chroma takes longer to open; Chroma's own kills are in test_chroma_damage."""


@pytest.fixture
def processes(tmp_path):
    with Program(engine_processes) as program, Processes(program, tmp_path) as processes:
        yield processes


@pytest.mark.timeout(120 + 10 * CYCLES)
def test_killed_again_and_again_it_loses_nothing_and_finds_nothing_deleted(
    processes, record_property
):
    generator = random.Random(4)  # noqa: S311  # to be repeated, not to be secret
    folder = processes.root
    begin_anew(folder, {})
    acknowledged, interrupted = 0, 0
    for cycle in range(CYCLES):
        uses_chroma = cycle % CHROMA_EVERY == CHROMA_EVERY - 1
        process = processes.start("use", cycle, "chroma" if uses_chroma else "exact")
        wanted = generator.randrange(24)  # lines: a kill may hit the opening too
        wait_for(
            lambda: len(processes.lines("journal")) >= wanted or not is_alive(process),  # noqa: B023
            "changes",
        )
        time.sleep(generator.uniform(0, 0.02))
        kill(process)
        assert processes.lines("failures") == [], "\n".join(processes.lines("failures"))
        told, _ = check(folder)
        acknowledged += told.acknowledged
        interrupted += bool(told.pending)
    check_in_the_end(folder)
    assert acknowledged > CYCLES
    record_property(
        "figures",
        (
            "engine under kill -9",
            {
                "cycles": CYCLES,
                "changes acknowledged": acknowledged,
                "interrupted": interrupted,
                "lost": 0,
                "ghosts": 0,
            },
        ),
    )
