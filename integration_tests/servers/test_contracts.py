"""The storage contracts on PostgreSQL and MariaDB."""

import pytest

from langchain_memengine.storage.database import Database
from langchain_memengine.storage.graph_schema import GRAPH
from tests.storage.contract import (
    NOW,
    AccessContract,
    DatabaseContract,
    DocumentContract,
    FileContract,
    MigrationsContract,
    StoresContract,
)
from tests.storage.contract_boundaries import BoundaryContract
from tests.storage.contract_chunks import ChunkContract, EmbeddingContract
from tests.storage.contract_conversations import CommitContract, MessageContract, SessionContract
from tests.storage.contract_experiences import ExperienceContract, ExperiencesOfStoresContract
from tests.storage.contract_graph import GraphContract
from tests.storage.contract_hiding import HidingContract
from tests.storage.contract_items import ItemContract
from tests.storage.contract_jobs import JobContract, ScheduleContract
from tests.storage.contract_records import RecordContract


class OnServer:
    """The fixtures of stores on a server, in place of those that a contract leaves open."""

    @pytest.fixture
    def opened(self, opened):
        return opened

    @pytest.fixture
    def database(self, opened):
        return opened()


class TestDatabase(OnServer, DatabaseContract):
    pass


class TestBoundaries(OnServer, BoundaryContract):
    pass


class TestMigrations(MigrationsContract):
    @pytest.fixture
    def database(self, server):
        database = Database(server.url(), store_id="a", now=NOW, busy_timeout_ms=0)
        yield database
        database.close()


class TestStores(OnServer, StoresContract):
    pass


class TestChunks(OnServer, ChunkContract):
    pass


class TestEmbeddings(OnServer, EmbeddingContract):
    pass


class TestHiding(OnServer, HidingContract):
    pass


class TestFiles(OnServer, FileContract):
    pass


class TestDocuments(OnServer, DocumentContract):
    pass


class TestAccess(OnServer, AccessContract):
    pass


class TestJobs(OnServer, JobContract):
    pass


class TestSchedules(OnServer, ScheduleContract):
    pass


class TestCommits(OnServer, CommitContract):
    pass


class TestMessages(OnServer, MessageContract):
    pass


class TestSessions(OnServer, SessionContract):
    pass


class TestItems(OnServer, ItemContract):
    pass


class TestRecords(OnServer, RecordContract):
    pass


class TestExperiences(OnServer, ExperienceContract):
    pass


class TestExperiencesOfStores(OnServer, ExperiencesOfStoresContract):
    pass


class TestGraph(GraphContract):
    @pytest.fixture
    def database(self, opened):
        return opened(schema=GRAPH)
