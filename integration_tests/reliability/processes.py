"""Processes that are forked from one that has imported everything, to be killed soon after.

A program calls `serve`; a test starts it with `Processes` and says which role each fork plays.
"""

import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path

PATIENCE_SECONDS = 30.0


def serve(roles: Mapping[str, Callable[..., None]]) -> None:
    """Read a role and its arguments a line, fork a process that plays it, print its number.

    The first argument is the first one of the command line. A process that fails writes why to the
    file ``failures`` in it.
    """
    root = Path(sys.argv[1])
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # children that were killed leave no zombie
    for line in sys.stdin:
        role, *arguments = line.rstrip("\n").split("\t")
        child = os.fork()
        if child == 0:
            try:
                roles[role](root, *arguments)
            except BaseException:  # noqa: BLE001  # the test says so
                write(root, "failures", traceback.format_exc())
            os._exit(0)
        sys.stdout.write(f"{child}\n")
        sys.stdout.flush()


def write(root: Path, name: str, line: object) -> None:
    """Append a line to a file in one piece."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    file = os.open(root / name, flags, 0o600)
    os.write(file, f"{line}\n".encode())
    os.close(file)


class Processes:
    """Starts the processes of a program by their role, on one folder."""

    def __init__(self, program: Path, root: Path) -> None:
        self.root = root
        repository = str(Path(__file__).parents[2])
        self._launcher = subprocess.Popen(  # noqa: S603  # this interpreter and our own program
            [sys.executable, str(program), str(root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": repository},
        )

    def start(self, role: str, *arguments: object) -> int:
        """Return the number of a new process."""
        self._launcher.stdin.write("\t".join([role, *map(str, arguments)]) + "\n")
        self._launcher.stdin.flush()
        return int(self._launcher.stdout.readline())

    def lines(self, name: str) -> list[str]:
        """Return the whole lines of a file."""
        path = self.root / name
        return path.read_text().splitlines() if path.exists() else []

    def close(self) -> None:
        os.killpg(self._launcher.pid, signal.SIGKILL)  # with all it started, after a failure too
        self._launcher.stdin.close()
        self._launcher.wait(PATIENCE_SECONDS)
        self._launcher.stdout.close()


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
    if is_alive(process):
        os.kill(process, signal.SIGKILL)
    wait_for(lambda: not is_alive(process), f"the end of process {process}")
