"""A ClickHouse for all tests here, if the package ``chdb`` is installed; each test has a store."""

import importlib.util
import itertools
import subprocess
import sys
import time
import urllib.request
from functools import partial
from pathlib import Path

import pytest

from integration_tests.servers.starting import free_port, unavailable
from langchain_memengine.storage.beside_clickhouse import DatabaseBesideClickHouse
from tests.storage.contracts import opening

START_SECONDS = 60

_store_ids = (f"store-{number}" for number in itertools.count())


class ClickHouseServer:
    """ClickHouse in a process of its own, behind its HTTP endpoint on loopback."""

    def __init__(self, folder: Path) -> None:
        for package in ("chdb", "clickhouse_connect"):
            if importlib.util.find_spec(package) is None:
                unavailable("clickhouse", f"needs {package}: the extra clickhouse-test")
        port = free_port()
        program = Path(__file__).with_name("bridge.py")
        self._command = [sys.executable, str(program), str(port), str(folder)]
        self._address = f"http://127.0.0.1:{port}"
        # The endpoint takes what it is sent as it is.
        self.url = f"clickhousedb://default@127.0.0.1:{port}/default?compress=false"
        self.start()

    def start(self) -> None:
        """Start it, also after it was killed, and wait until it answers."""
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL)  # noqa: S603
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            assert self._process.poll() is None, "ClickHouse ended at once"
            assert time.monotonic() < deadline, "ClickHouse did not start"
            time.sleep(0.05)

    def kill(self) -> None:
        """End it without a warning (``kill -9``)."""
        self._process.kill()
        self._process.wait(START_SECONDS)

    def query(self, statement: str) -> list[str]:
        """Return the lines that a statement answers, as another tool would see them."""
        with urllib.request.urlopen(self._address, statement.encode(), timeout=30) as answer:  # noqa: S310
            return answer.read().decode().splitlines()

    def _answers(self) -> bool:
        try:
            urllib.request.urlopen(f"{self._address}/ping", timeout=5).close()  # noqa: S310  # ours
        except OSError:
            return False
        return True


@pytest.fixture(scope="session")
def clickhouse(tmp_path_factory):
    """A running ClickHouse."""
    server = ClickHouseServer(tmp_path_factory.mktemp("clickhouse"))
    yield server
    server.kill()


@pytest.fixture
def store_id():
    """The id of a store that no other test has."""
    return next(_store_ids)


@pytest.fixture
def opened(clickhouse, store_id, tmp_path):
    """Open stores beside ClickHouse; those that other tests made have other ids."""
    rest = f"sqlite:///{tmp_path / 'rest.sqlite'}"
    beside = partial(DatabaseBesideClickHouse, rest, clickhouse.url)
    with opening(beside, apart_by=f"{store_id}-") as opened:
        yield opened


@pytest.fixture
def database(opened):
    """An empty store."""
    return opened()


@pytest.fixture
def fresh(opened):
    """Open another empty store, each time it is called."""
    return lambda: opened(next(_store_ids))


@pytest.fixture
def apart(database):
    """An empty store; the database beside ClickHouse is each test's own."""
    return database


@pytest.fixture
def settings(clickhouse, store_id, tmp_path):
    """Where the store is."""
    return {
        "database_url": clickhouse.url,
        "jobs_url": f"sqlite:///{tmp_path / 'rest.sqlite'}",
        "graph_url": f"sqlite:///{tmp_path / 'graph.sqlite'}",
        "store_id": store_id,
    }


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark everything here, so that it can be chosen or left out by name."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.clickhouse)
