"""A table of the figures that tests record, at the end of a run.

A test gives them by ``record_property("figures", (what, {unit: number, …}))``; numbers of the same
row are added up. They are also written to the file that ``MEMENGINE_FIGURES`` names.
"""

import gc
import json
import os
import warnings
from collections import Counter
from pathlib import Path

import pytest

from integration_tests.figures import Rows, lines
from integration_tests.servers.starting import started
from tests.fakes import lean_imports  # noqa: F401  # before anything imports Chroma

# What tests share is no test module: pytest must be told to explain its assertions.
pytest.register_assert_rewrite(
    "integration_tests.reliability.checking",
    "integration_tests.reliability.job_kills",
    "tests.engine.contract_lineage",
    "tests.faces.store_contract",
    "tests.storage",
)


# Chroma's client leaves sockets to the garbage collector, closed or not, and that may come round
# in the middle of any later test.
SOCKETS_OF_CHROMA = (
    "ignore:Exception ignored in. <socket.socket:pytest.PytestUnraisableExceptionWarning"
)


def pytest_sessionfinish() -> None:
    """Collect what is left of them while nobody takes it for a failure."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "unclosed <socket", ResourceWarning)
        gc.collect()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        item.add_marker(pytest.mark.filterwarnings(SOCKETS_OF_CHROMA))


@pytest.fixture(scope="session")
def postgresql():
    """A running PostgreSQL."""
    with started("postgresql") as server:
        yield server


@pytest.fixture(scope="session")
def mariadb():
    """A running MariaDB."""
    with started("mariadb") as server:
        yield server


def recorded(reports: list[pytest.TestReport]) -> Rows:
    """Return the counts of each row."""
    rows: Rows = {}
    for report in reports:
        for name, value in report.user_properties:
            if name == "figures":
                what, counts = value
                rows.setdefault(what, Counter()).update(counts)
    return rows


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    stats = terminalreporter.stats
    rows = recorded(
        [r for outcome in ("passed", "failed") for r in stats.get(outcome, []) if r.when == "call"]
    )
    if rows:
        terminalreporter.section("figures")
        for line in lines(rows):
            terminalreporter.write_line(line)
    if "MEMENGINE_FIGURES" in os.environ:
        Path(os.environ["MEMENGINE_FIGURES"]).write_text(json.dumps(rows))
