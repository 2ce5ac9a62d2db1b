"""Opening, sharing and closing an engine."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from langchain_memengine.config import MemEngineConfig
from langchain_memengine.engine.memory_engine import MemoryEngine
from langchain_memengine.errors import ConfigurationError, ReadOnlyError, StorageError
from langchain_memengine.types import Actor
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine, texts, write

# Opening


def test_open_indexes_what_is_there_and_makes_the_folder(tmp_path):
    root = tmp_path / "new" / "memory"
    with MemoryEngine.open(root, embeddings=None) as engine:
        assert engine.stats().files == 0
        assert sorted(path.name for path in root.iterdir()) == [".memengine"]
    write(root, "a.md", "tea")
    with MemoryEngine.open(str(root), embeddings=None) as engine:
        assert engine.stats().files == 1


def test_open_reads_the_settings_of_the_root_unless_it_is_given_some(tmp_path):
    write(tmp_path, "memengine.toml", 'embeddings = "none"\nsync_on_open = false\n')
    write(tmp_path, "a.md", "tea")
    with MemoryEngine.open(tmp_path) as engine:
        assert engine.config.sync_on_open is False
        assert engine.embedding_name is None
        assert engine.stats().files == 0
    with MemoryEngine.open(tmp_path, config=MemEngineConfig(embeddings=None)) as engine:
        assert engine.config.sync_on_open is True


@pytest.mark.parametrize("kind", [str, Path])
def test_calling_the_class_opens_as_open_does(tmp_path, kind):
    write(tmp_path, "memengine.toml", 'embeddings = "none"\n')
    write(tmp_path, "a.md", "tea")
    with MemoryEngine(kind(tmp_path)) as engine:
        assert engine.embedding_name is None
        assert engine.stats().files == 1
    with MemoryEngine(
        kind(tmp_path), MemEngineConfig(sync_on_open=False), read_only=True
    ) as engine:
        assert texts(engine.search("tea")) == ["tea"]


def test_an_engine_that_cannot_sync_as_it_opens_is_closed(tmp_path, monkeypatch):
    closed = []

    def refused(_engine):
        raise StorageError("no")

    def close(engine):
        closed.append(engine)

    monkeypatch.setattr(MemoryEngine, "sync", refused)
    monkeypatch.setattr(MemoryEngine, "close", close)
    with pytest.raises(StorageError, match="no"):
        MemoryEngine(tmp_path, embeddings=None)
    assert len(closed) == 1


def test_arguments_of_open_come_before_the_settings(tmp_path):
    config = MemEngineConfig(embeddings=None)
    url = f"sqlite:///{tmp_path / 'elsewhere.sqlite'}"
    embeddings = FakeEmbeddings()
    with MemoryEngine.open(
        tmp_path / "memory", config=config, database_url=url, embeddings=embeddings
    ) as engine:
        engine.add_texts(["tea"])
        assert engine.embedding_name == "FakeEmbeddings/bag-of-words"
        assert engine.stats().embeddings == 1
    assert (tmp_path / "elsewhere.sqlite").exists()
    assert not (tmp_path / "memory/.memengine/memory.sqlite").exists()


@pytest.mark.parametrize("name", ["what?", "100%41", "a#b", "line\nbreak", "-rf", " 名前 "])
def test_root_of_any_name_holds_its_own_databases(tmp_path, name):
    write(tmp_path / name, "a.md", "tea")
    with make_engine(tmp_path / name) as engine:
        assert texts(engine.search("tea")) == ["tea"]
        engine.graph.add_triples([("Ann", "drinks", "tea")])
        for file in ("memory.sqlite", "kg.sqlite"):
            assert (tmp_path / name / ".memengine" / file).exists()
    assert [path.name for path in tmp_path.iterdir()] == [name]
    with make_engine(tmp_path / name, read_only=True) as engine:
        assert texts(engine.search("tea")) == ["tea"]


def test_root_that_is_a_file_is_named(tmp_path):
    path = write(tmp_path, "memory", "x")
    with pytest.raises(ConfigurationError, match="memory"):
        MemoryEngine.open(path, embeddings=None)


def test_failing_sync_on_open_closes_the_engine(tmp_path):
    config = MemEngineConfig(embeddings=None, sources={"docs": tmp_path / "missing"})
    with pytest.raises(ConfigurationError, match="missing"):
        MemoryEngine.open(tmp_path / "memory", config=config)


def test_unsupported_databases_and_embedders_are_named(tmp_path):
    with pytest.raises(ConfigurationError, match="oracle"):
        make_engine(database_url="oracle://x")
    with pytest.raises(ConfigurationError, match="no embed_documents"):
        make_engine(embeddings=object())


def test_stores_in_one_database_are_apart(tmp_path):
    url = f"sqlite:///{tmp_path / 'state.sqlite'}"
    with (
        make_engine(database_url=url, store_id="one") as one,
        make_engine(database_url=url, store_id="two") as two,
    ):
        one.add_texts(["tea"], ids=["a"])
        two.add_texts(["tea, too"], ids=["a"])
        assert texts(one.search("tea")) == ["tea"]
        assert two.delete(["a"]) == 1
        assert (one.stats().chunks, two.stats().chunks) == (1, 0)


def test_engines_in_memory_share_nothing():
    with make_engine() as one, make_engine() as two:
        one.add_texts(["tea"])
        assert two.search("tea").hits == ()


def test_stats_count_files_chunks_and_embeddings(tmp_path):
    write(tmp_path, "a.md", "tea")
    with make_engine(tmp_path, embeddings=FakeEmbeddings(8)) as engine:
        engine.sync()
        engine.add_texts(["tea", "coffee"], actor=Actor("bob"))
        stats = engine.stats()
        assert (stats.files, stats.chunks, stats.embeddings) == (1, 3, 3)
        assert stats.embedding_model == "FakeEmbeddings/bag-of-words"
        engine.delete(["unknown"])
        assert engine.stats() == stats
        engine.add_texts(["milk"])
        assert engine.stats().change_counter == stats.change_counter + 1


# Closing


def test_closing_twice_is_fine(tmp_path):
    engine = make_engine(tmp_path)
    engine.close()
    engine.close()


async def test_async_context_manager_closes(tmp_path):
    async with make_engine(tmp_path) as engine:
        engine.add_texts(["tea"])
        engine.record_access(engine.search("tea").hits)
    with make_engine(tmp_path) as engine:
        assert engine.search("tea").hits[0].receipt.access_count == 1


# Reading only


def contents(root: Path) -> dict[str, bytes]:
    """Return all files but those that SQLite itself keeps beside an open database."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and not path.name.endswith(("-wal", "-shm"))
    }


def test_read_only_engine_searches_and_never_writes(tmp_path):
    write(tmp_path, "a.md", "tea")
    write(tmp_path, "MEMORY.md", "pinned")
    with make_engine(tmp_path, embeddings=FakeEmbeddings()) as engine:
        engine.sync()
        counter = engine.stats().change_counter
    write(tmp_path, "b.md", "more tea")
    before = contents(tmp_path)
    with make_engine(tmp_path, embeddings=FakeEmbeddings(), read_only=True) as engine:
        result = engine.search("tea")
        assert texts(result) == ["tea"]
        assert (result.auto_synced, result.degraded) == (False, ())
        assert result.hits[0].cosine == pytest.approx(1.0)
        assert engine.recall("tea").pinned == "pinned"
        assert engine.explain("tea", result.hits[0].id).found
        assert engine.sync(dry_run=True).indexed == 1
        engine.record_access(result.hits * 200)
        for writing in (
            lambda: engine.add_texts(["x"]),
            lambda: engine.delete([]),
            engine.sync,
            lambda: engine.index_file("b.md"),
            engine.reembed,
            lambda: engine.append_daily("x", "x"),
            lambda: engine.write_task_summary("x", "x", "x"),
            lambda: engine.promote_facts("x", []),
        ):
            _refuses(writing)
        assert engine.stats().change_counter == counter
    assert contents(tmp_path) == before


def _refuses(writing: Callable[[], object]) -> None:
    with pytest.raises(ReadOnlyError, match="nothing was changed"):
        writing()


def test_read_only_needs_a_store_and_makes_none(tmp_path):
    with pytest.raises(ConfigurationError, match="no folder"):
        make_engine(tmp_path / "missing", read_only=True)
    with pytest.raises(StorageError):
        make_engine(tmp_path, read_only=True)
    (tmp_path / ".memengine").mkdir()
    with pytest.raises(StorageError):
        make_engine(tmp_path, read_only=True)
    assert [path.name for path in tmp_path.rglob("*")] == [".memengine"]


def test_read_only_engine_sees_what_another_one_writes(tmp_path):
    with make_engine(tmp_path) as writer, make_engine(tmp_path, read_only=True) as reader:
        writer.add_texts(["tea"])
        assert texts(reader.search("tea")) == ["tea"]


# Threads


@pytest.mark.parametrize("place", ["memory", "disk"])
def test_threads_add_delete_sync_and_search_at_once(tmp_path, place):
    root = tmp_path if place == "disk" else None
    start = threading.Barrier(4)

    def work(number):
        start.wait()
        for i in range(8):
            engine.add_texts([f"tea by{number} no{i}"], ids=[f"{number}-{i}"])
            if i % 2:
                engine.delete([f"{number}-{i - 1}"])
            engine.append_daily("note", f"entry by{number}")
            found = texts(engine.search(f"by{number}", 50))
            assert f"tea by{number} no{i}" in found
            assert f"tea by{number} no{i - 1}" not in found or i % 2 == 0
            engine.record_access(engine.search("tea").hits)
        return number

    with make_engine(root, embeddings=FakeEmbeddings()) as engine:
        with ThreadPoolExecutor(4) as pool:
            assert sorted(pool.map(work, range(4))) == [0, 1, 2, 3]
        left = {f"tea by{number} no{i}" for number in range(4) for i in (1, 3, 5, 7)}
        assert set(texts(engine.search("tea", 99))) == left
        fresh = {hit.id for hit in engine.search("tea entry", 99).hits}
    if root is not None:
        with make_engine(root, embeddings=FakeEmbeddings()) as engine:
            assert {hit.id for hit in engine.search("tea entry", 99).hits} == fresh


def test_no_access_is_lost_between_threads():
    with make_engine() as engine:
        engine.add_texts(["tea"])
        hits = engine.search("tea").hits
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _: engine.record_access(hits), range(450)))
        engine.write_accesses()
        assert engine.search("tea").hits[0].receipt.access_count == 450


@pytest.mark.parametrize(
    "use",
    [
        lambda engine: engine.search("tea"),
        lambda engine: engine.add_texts(["tea"]),
        lambda engine: engine.stats(),
    ],
)
def test_a_closed_engine_says_so(use):
    engine = make_engine()
    engine.close()
    with pytest.raises(StorageError, match="was closed"):
        use(engine)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"chunk_tokenz": 5}, "there is 'chunk_tokens'"),
        ({"chunk_tokens": 3}, "chunk_tokens: .*greater than or equal to 16"),
        ({"ranking": "best"}, "Unknown ranking preset 'best'"),
    ],
)
def test_a_copy_of_settings_that_cannot_work_is_refused(tmp_path, change, told):
    copied = MemEngineConfig().model_copy(update=change)
    with pytest.raises(ConfigurationError, match=told):
        MemoryEngine(tmp_path / "memory", copied, embeddings=None)
    assert list(tmp_path.iterdir()) == []
