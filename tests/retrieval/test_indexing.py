"""The indexer on sources that misbehave."""

from dataclasses import dataclass, field

import pytest

from langchain_memengine.answers import FileProblem
from langchain_memengine.config import MemEngineConfig
from langchain_memengine.errors import ConfigurationError, EmbeddingError
from langchain_memengine.models.embedding import Embedder
from langchain_memengine.retrieval import indexing
from langchain_memengine.retrieval.embedding_cache import EmbeddingCache
from langchain_memengine.retrieval.indexing import Indexer
from langchain_memengine.retrieval.sources import chunks_of_file
from langchain_memengine.retrieval.traffic import Traffic
from langchain_memengine.storage import chunks, embeddings, files
from langchain_memengine.storage.database import Database
from langchain_memengine.workspace.files import FileStat, Scan, TextFile, UnreadableFileError
from tests.fakes.clock import START, FixedClock
from tests.fakes.embeddings import FakeEmbeddings


@dataclass
class FakeSource:
    """Texts by name; a name's version stands for the time of its last change."""

    texts: dict[str, str | Exception] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)
    failed: list[FileProblem] = field(default_factory=list)
    workspace_id: str = "w"

    def put(self, path, text):
        self.texts[path] = text
        self.versions[path] = self.versions.get(path, 0) + 1

    def scan(self):
        found = [FileStat(path, 1, self.versions[path]) for path in sorted(self.texts)]
        return Scan(found, [], self.failed)

    def read(self, path):
        text = self.texts[path]
        if isinstance(text, Exception):
            raise text
        return TextFile(path, text, f"hash of {text}", 1, self.versions[path])


@pytest.fixture
def database():
    database = Database("sqlite://", store_id="s", now=START, busy_timeout_ms=0)
    yield database
    database.close()


def indexer_of(database, embeddings=None, **settings):
    embedder = Embedder(embeddings, name="fake", attempts=1) if embeddings else None
    cache = EmbeddingCache(database, embedder)
    return Indexer(database, cache, MemEngineConfig(**settings), FixedClock(), Traffic(str.split))


def synced(indexer, sources, **options):
    return indexer.carry_out(indexer.plan(sources), **options)


def stored(database):
    with database.read() as tx:
        rows = chunks.index_rows(tx, "shared")
        return sorted((row.path, row.text) for row in rows)


def test_file_deleted_between_scan_and_read_is_left_to_the_next_sync(database):
    source = FakeSource()
    source.put("a.md", "tea")
    indexer = indexer_of(database)
    synced(indexer, [source])
    source.put("a.md", UnreadableFileError("a.md", "there is no such file", gone=True))
    report = synced(indexer, [source])
    assert (report.indexed, report.failed, report.skipped) == (0, (), ())
    assert stored(database) == [("a.md", "tea")]
    assert indexer.index_file(source, "a.md") is False
    del source.texts["a.md"]
    assert synced(indexer, [source]).removed == 1
    assert stored(database) == []


def test_files_in_a_folder_that_cannot_be_listed_are_not_gone(database):
    source = FakeSource()
    source.put("deep/a.md", "tea")
    source.put("deeper/b.md", "coffee")
    indexer = indexer_of(database)
    synced(indexer, [source])
    source.texts.clear()
    source.failed = [FileProblem("deep/", "Permission denied")]
    report = synced(indexer, [source])
    assert (report.removed, report.failed) == (1, tuple(source.failed))
    assert not report.complete
    assert stored(database) == [("deep/a.md", "tea")]
    with pytest.raises(ConfigurationError):
        indexer.index_file(source, "deep/a.md")
    assert stored(database) == [("deep/a.md", "tea")]


def test_file_that_cannot_be_read_has_no_row_and_stops_no_other(database):
    source = FakeSource()
    source.put("a.md", OSError("disk on fire"))
    source.put("b.md", "tea")
    report = synced(indexer_of(database), [source])
    assert report.failed == (FileProblem("a.md", "disk on fire"),)
    assert stored(database) == [("b.md", "tea")]
    with database.read() as tx:
        assert set(files.of_workspace(tx, "w")) == {"b.md"}


def test_many_chunks_are_stored_in_several_transactions(database, monkeypatch):
    monkeypatch.setattr(indexing, "BATCH_CHUNKS", 2)
    source = FakeSource()
    for i in range(5):
        source.put(f"{i}.md", f"tea {i}")
    seen: list[tuple[int, int]] = []
    synced(indexer_of(database), [source], progress=lambda *at: seen.append(at))
    assert seen == [(2, 5), (4, 5), (5, 5)]
    with database.read() as tx:
        assert tx.counters().changes == 3
    assert len(stored(database)) == 5


def test_outage_half_way_keeps_what_was_embedded_and_asks_no_more(database, monkeypatch):
    monkeypatch.setattr(indexing, "BATCH_CHUNKS", 1)
    source = FakeSource()
    for i in range(4):
        source.put(f"{i}.md", f"tea {i}")
    fake = FakeEmbeddings(fail_with=[None, None, ConnectionError()])  # probe, 0.md, 1.md
    report = synced(indexer_of(database, fake), [source])
    assert (report.indexed, report.embedded, report.pending) == (4, 1, 3)
    assert len(fake.calls) == 3
    assert len(stored(database)) == 4


def test_outage_in_the_very_first_sync_is_made_up_for(database):
    source = FakeSource()
    source.put("a.md", "tea")
    fake = FakeEmbeddings(fail_with=[ConnectionError(), ConnectionError()])
    indexer = indexer_of(database, fake)
    assert synced(indexer, [source]).pending == 1
    again = synced(indexer, [source])
    assert (again.pending, len(again.degraded)) == (1, 1)
    assert synced(indexer, [source]).embedded == 1
    assert synced(indexer, [source]).complete


def test_files_are_cut_again_when_the_chunk_size_changes(database):
    source = FakeSource()
    source.put("a.md", "tea " * 100)
    synced(indexer_of(database), [source])
    small = indexer_of(database, chunk_tokens=16, overlap_tokens=0)
    report = synced(small, [source])
    assert (report.indexed, report.chunks) == (1, 7)  # 100 tokens, 16 a chunk
    assert synced(small, [source]).unchanged == 1


def test_files_are_cut_again_when_headings_count_no_more(database):
    source = FakeSource()
    source.put("a.md", "# One\n\ntea\n\n# Two\n\nmilk\n")
    assert synced(indexer_of(database), [source]).chunks == 2
    across = indexer_of(database, split_on_headers=False)
    report = synced(across, [source])
    assert (report.indexed, report.chunks) == (1, 1)
    assert synced(across, [source]).unchanged == 1
    assert synced(indexer_of(database), [source]).chunks == 2


def test_put_replaces_and_delete_removes(database):
    indexer = indexer_of(database, FakeEmbeddings())

    def pieces(text):
        file = TextFile("a", text, "", 1, 0)
        return chunks_of_file(file, "w", chunk_tokens=400, overlap_tokens=0)

    report = indexer.put({"file:w/a": pieces("# h\n\ntea\n\n# h\n\ntea too")})
    assert (report.chunks, report.embedded) == (2, 2)
    report = indexer.put({"file:w/a": pieces("# h\n\ntea")})
    assert (report.chunks, report.embedded, report.reused) == (1, 0, 1)
    assert stored(database) == [("a", "# h\n\ntea")]
    indexer.delete(["file:w/a", "unknown"])
    assert stored(database) == []


def test_put_of_nothing_changes_nothing(database):
    assert indexer_of(database).put({}).chunks == 0
    with database.read() as tx:
        assert tx.counters().changes == 0


def test_reembed_needs_an_embedder_that_answers(database):
    source = FakeSource()
    source.put("a.md", "tea")
    with pytest.raises(EmbeddingError, match="embeddings=None"):
        indexer_of(database).reembed()
    synced(indexer_of(database, FakeEmbeddings(8)), [source])
    broken = FakeEmbeddings(16, fail_with=[ConnectionError()])
    with pytest.raises(EmbeddingError):
        indexer_of(database, broken).reembed()
    with database.read() as tx:
        assert embeddings.count_chunks(tx, "fake/8") == 1


def test_reembed_replaces_the_old_models_vectors(database):
    source = FakeSource()
    source.put("a.md", "tea")
    source.put("b.md", "tea")
    synced(indexer_of(database, FakeEmbeddings(8)), [source])
    seen: list[tuple[int, int]] = []
    report = indexer_of(database, FakeEmbeddings(16)).reembed(lambda *at: seen.append(at))
    assert (report.embedded, report.pending) == (1, 0)  # one text, twice
    assert seen == [(1, 1)]
    with database.read() as tx:
        assert embeddings.count_chunks(tx, "fake/8") == 0
        assert embeddings.count_chunks(tx, "fake/16") == 2


def test_reembed_that_meets_an_outage_keeps_the_old_vectors_and_is_finished_by_a_sync(database):
    source = FakeSource()
    source.put("a.md", "tea")
    synced(indexer_of(database, FakeEmbeddings(8)), [source])
    fake = FakeEmbeddings(16, fail_with=[None, ConnectionError()])
    indexer = indexer_of(database, fake)
    report = indexer.reembed()
    assert (report.pending, len(report.degraded)) == (1, 1)
    with database.read() as tx:
        assert embeddings.count_chunks(tx, "fake/8") == 1
    assert synced(indexer, [source]).embedded == 1
