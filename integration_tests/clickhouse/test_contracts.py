"""The storage contracts on a store whose records, revisions and messages are in ClickHouse."""

import pytest

from tests.storage.contract import DatabaseContract, StoresContract
from tests.storage.contract_boundaries import BoundaryContract
from tests.storage.contract_chunks import ChunkContract
from tests.storage.contract_conversations import CommitContract, MessageContract
from tests.storage.contract_hiding import HidingContract
from tests.storage.contract_jobs import JobContract
from tests.storage.contract_records import RecordContract


class BesideClickHouse:
    """The fixtures of such stores, in place of those that a contract leaves open."""

    @pytest.fixture
    def opened(self, opened):
        return opened

    @pytest.fixture
    def database(self, opened):
        return opened()


class TestRecords(BesideClickHouse, RecordContract):
    pass


class TestMessages(BesideClickHouse, MessageContract):
    pass


class TestDatabase(BesideClickHouse, DatabaseContract):
    pass


class TestStores(BesideClickHouse, StoresContract):
    pass


class TestBoundaries(BesideClickHouse, BoundaryContract):
    pass


class TestHiding(BesideClickHouse, HidingContract):
    pass


class TestCommits(BesideClickHouse, CommitContract):
    pass


class TestChunks(BesideClickHouse, ChunkContract):
    pass


class TestJobs(BesideClickHouse, JobContract):
    pass
