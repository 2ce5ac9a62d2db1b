"""Processes that use an engine, for tests that kill them.

The store is ``FOLDER/store``, and what it holds at first stands in ``FOLDER/state``.
"""

import importlib
import json
import os
import random
from pathlib import Path
from tempfile import TemporaryDirectory

from integration_tests.reliability.checking import begin_anew
from integration_tests.reliability.journal import Journal
from integration_tests.reliability.processes import serve
from integration_tests.reliability.scenarios import SCENARIOS, exit_at, prepare
from integration_tests.reliability.user import User, use_for_ever


def user_of(folder: Path, name: str, vector_search: str) -> User:
    state = json.loads((folder / "state").read_text())
    journal = Journal(folder / "journal")
    return User(folder / "store", journal, state, name, vector_search=vector_search)


def use(folder: Path, name: str, vector_search: str) -> None:
    """Do anything until the process is killed."""
    generator = random.Random(name)  # noqa: S311  # to be repeated, not to be secret
    use_for_ever(user_of(folder, name, vector_search), generator)


def use_up_to(folder: Path, name: str, point: str) -> None:
    """Do what a scenario says and end at its n-th step that is seen from outside.

    A scenario that came to its end notes so.
    """
    scenario = SCENARIOS[name]
    if scenario.is_new:
        exit_at(int(point))
    user = user_of(folder, f"{name}{point}", scenario.vector_search)
    if not scenario.is_new:
        exit_at(int(point))
    scenario.run(user)
    Journal(folder / "journal").write("end", None)
    os._exit(0)


def rehearse() -> None:
    """Do everything once: what an engine imports and compiles for it, a fork has already.

    Chroma is left out but for its import: it would have threads of its own, which no fork has.
    """
    for module in ("tests.fakes.lean_imports", "chromadb"):
        importlib.import_module(module)
    for name, scenario in SCENARIOS.items():
        if scenario.vector_search == "exact":
            with TemporaryDirectory() as folder:
                begin_anew(Path(folder), {})
                user = user_of(Path(folder), name, "exact")
                if not scenario.is_new:
                    prepare(user)
                    user.reopen()
                scenario.run(user)
                user.engine.close()


if __name__ == "__main__":
    rehearse()
    serve({"use": use, "use up to": use_up_to})
