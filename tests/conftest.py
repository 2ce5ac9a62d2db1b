"""What every unit test has: no network, and reproducible Hypothesis runs in CI."""

import gc
import os
import warnings
from pathlib import Path

import pytest
from hypothesis import settings
from pytest_socket import disable_socket

from tests.fakes import lean_imports  # noqa: F401  # before anything imports Chroma
from tests.fakes.clock import FixedClock

# Contracts are no test modules: pytest must be told to explain their assertions.
pytest.register_assert_rewrite(
    "tests.engine.contract_lineage",
    "tests.faces.store_contract",
    *(f"tests.storage.{path.stem}" for path in Path(__file__).parent.glob("storage/contract*.py")),
)

# No deadline: the first example pays for lazy imports, and shared runners are slow at random.
settings.register_profile("dev", deadline=None, max_examples=100)
settings.register_profile("ci", parent=settings.get_profile("dev"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")


def pytest_collection_finish() -> None:
    """Let the garbage collector look no more at all that was imported; it is there to stay."""
    gc.freeze()


def pytest_runtest_setup() -> None:
    # Unix sockets stay open: asyncio's event loop wakes itself through a pair of them.
    disable_socket(allow_unix_socket=True)


@pytest.fixture
def clock():
    return FixedClock()


@pytest.fixture
def engine(clock):
    from tests.fakes.engines import make_engine  # the process that hands tests out runs none

    with make_engine(clock=clock) as engine:
        yield engine


@pytest.fixture
def langmem():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its imports from LangGraph are of an older release
        return pytest.importorskip(
            "langmem", reason="langmem is not installed: pip install langmem"
        )
