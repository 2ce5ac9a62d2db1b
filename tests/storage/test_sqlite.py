"""The storage contracts on SQLite, in a file and in memory."""

import pytest

from langchain_memengine.storage.database import Database
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
from tests.storage.contract_hiding import HidingContract
from tests.storage.contract_items import ItemContract
from tests.storage.contract_jobs import JobContract, JobHistoryContract, ScheduleContract
from tests.storage.contract_records import RecordContract


class OnFileAndInMemory:
    """The fixture of an empty store, once for each place SQLite keeps one."""

    @pytest.fixture(params=["file", "memory"])
    def database(self, request, tmp_path):
        url = "sqlite://" if request.param == "memory" else f"sqlite:///{tmp_path}/store.sqlite"
        database = Database(url, store_id="a", now=NOW, busy_timeout_ms=0)
        yield database
        database.close()


class TestDatabase(OnFileAndInMemory, DatabaseContract):
    pass


class TestBoundaries(OnFileAndInMemory, BoundaryContract):
    pass


class TestMigrations(OnFileAndInMemory, MigrationsContract):
    pass


class TestChunks(OnFileAndInMemory, ChunkContract):
    pass


class TestEmbeddings(OnFileAndInMemory, EmbeddingContract):
    pass


class TestHiding(OnFileAndInMemory, HidingContract):
    pass


class TestFiles(OnFileAndInMemory, FileContract):
    pass


class TestDocuments(OnFileAndInMemory, DocumentContract):
    pass


class TestAccess(OnFileAndInMemory, AccessContract):
    pass


class TestJobs(OnFileAndInMemory, JobContract):
    pass


class TestSchedules(OnFileAndInMemory, ScheduleContract):
    pass


class TestJobHistory(JobHistoryContract):
    @pytest.fixture
    def fresh(self):
        return lambda: Database("sqlite://", store_id="a", now=NOW, busy_timeout_ms=0)


class TestCommits(OnFileAndInMemory, CommitContract):
    pass


class TestMessages(OnFileAndInMemory, MessageContract):
    pass


class TestSessions(OnFileAndInMemory, SessionContract):
    pass


class TestItems(OnFileAndInMemory, ItemContract):
    pass


class TestExperiences(OnFileAndInMemory, ExperienceContract):
    pass


class SeveralStores:
    """The fixture that opens stores of one file."""

    @pytest.fixture
    def opened(self, tmp_path):
        opened: list[Database] = []

        def opener(store_id="a", *, read_only=False):
            database = Database(
                f"sqlite:///{tmp_path}/store.sqlite",
                store_id=store_id,
                now=NOW,
                busy_timeout_ms=0,
                read_only=read_only,
            )
            opened.append(database)
            return database

        yield opener
        for database in opened:
            database.close()


class TestStores(SeveralStores, StoresContract):
    pass


class TestExperiencesOfStores(SeveralStores, ExperiencesOfStoresContract):
    pass


class TestRecords(OnFileAndInMemory, RecordContract):
    pass
