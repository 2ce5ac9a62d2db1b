"""A Chroma server that tests start for themselves, kill and start again on the same files."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

START_SECONDS = 60

# What `chroma run` does, without the seconds that importing the client takes.
_PROGRAM = "import sys, chromadb_rust_bindings as c; c.cli(['chroma', 'run', *sys.argv[1:]])"


class ChromaRun:
    """``chroma run`` on loopback.

    Attributes:
        port: Where it listens, also after it was started again.
    """

    def __init__(self, folder: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        where = ["--path", str(folder), "--host", "127.0.0.1", "--port", str(self.port)]
        self._command = [sys.executable, "-c", _PROGRAM, *where]
        self.start()

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, also after it was killed, and wait until it answers."""
        self._process = subprocess.Popen(  # noqa: S603  # the program of the package we depend on
            self._command, stdout=subprocess.DEVNULL
        )
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            assert self._process.poll() is None, "Chroma ended at once"
            assert time.monotonic() < deadline, "Chroma did not start"
            time.sleep(0.05)

    @property
    def process(self) -> int:
        """The number of its process."""
        return self._process.pid

    def kill(self) -> None:
        """End it without a warning (``kill -9``)."""
        self._process.kill()
        self._process.wait(30)

    def _answers(self) -> bool:
        try:
            urllib.request.urlopen(f"{self.url}/api/v2/heartbeat", timeout=5).close()  # noqa: S310  # ours
        except OSError:
            return False
        return True


@contextmanager
def chroma_running(folder: Path) -> Iterator[ChromaRun]:
    """Run a server until the end of the block."""
    server = ChromaRun(folder)
    try:
        yield server
    finally:
        server.kill()
