"""Processes that are forked from one that has imported everything, to be killed soon after.

A program calls `serve`; a test starts it as a `Program`, once for all tests that need it, and says
with `Processes` which role each fork plays, on a folder of its own.
"""

import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Self

PATIENCE_SECONDS = 30.0


def serve(roles: Mapping[str, Callable[..., None]]) -> None:
    """Read a role, a folder and more a line, fork a process that plays it, print its number.

    A process that fails writes why to the file ``failures`` in its folder.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # children that were killed leave no zombie
    for line in sys.stdin:
        role, folder, *arguments = line.rstrip("\n").split("\t")
        child = os.fork()
        if child == 0:
            try:
                roles[role](Path(folder), *arguments)
            except BaseException:  # noqa: BLE001  # the test says so
                write(Path(folder), "failures", traceback.format_exc())
            os._exit(0)
        sys.stdout.write(f"{child}\n")
        sys.stdout.flush()


def write(root: Path, name: str, line: object) -> None:
    """Append a line to a file in one piece."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    file = os.open(root / name, flags, 0o600)
    os.write(file, f"{line}\n".encode())
    os.close(file)


class Program:
    """A program that waits to be told which roles to play; all of it is killed in the end.

    Args:
        module: What calls `serve` when it is run.
    """

    def __init__(self, module: ModuleType) -> None:
        repository = str(Path(__file__).parents[2])
        self._process = subprocess.Popen(  # noqa: S603  # this interpreter and our own program
            [sys.executable, module.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": repository},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)  # with all it started, after a failure too
        self._process.stdin.close()
        self._process.wait(PATIENCE_SECONDS)
        self._process.stdout.close()

    def fork(self, role: str, folder: Path, *arguments: object) -> int:
        """Return the number of a new process."""
        self._process.stdin.write("\t".join([role, *map(str, [folder, *arguments])]) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def has(self, process: int) -> bool:
        """Return whether a process is one of its own: numbers of ended ones are used again."""
        try:
            return os.getpgid(process) == self._process.pid
        except ProcessLookupError:
            return False


class Processes:
    """Starts the processes of a program by their role, on one folder; kills them in the end."""

    def __init__(self, program: Program, root: Path) -> None:
        self.root = root
        self._program = program
        self._started: list[int] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for process in self._started:
            if self._program.has(process):
                kill(process)

    def start(self, role: str, *arguments: object) -> int:
        """Return the number of a new process."""
        self._started.append(self._program.fork(role, self.root, *arguments))
        return self._started[-1]

    def lines(self, name: str) -> list[str]:
        """Return the whole lines of a file."""
        path = self.root / name
        return path.read_text().splitlines() if path.exists() else []


def wait_for(condition: Callable[[], object], what: str, seconds: float = PATIENCE_SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.005)


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def kill(process: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)
    wait_for(lambda: not is_alive(process), f"the end of process {process}")
