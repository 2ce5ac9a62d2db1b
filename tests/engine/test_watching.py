"""What a search does about changed files, with and without a watcher; no thread watches here."""

import os
from pathlib import Path

import pytest

from langchain_memengine.engine import syncing_first
from langchain_memengine.engine.syncing_first import BEING_INDEXED
from langchain_memengine.errors import ConfigurationError, ReadOnlyError
from langchain_memengine.retrieval import sources
from langchain_memengine.storage import graph
from langchain_memengine.workspace import walk
from langchain_memengine.workspace.watcher import Watcher
from tests.fakes.engines import make_engine, texts, write


class Watching(Watcher):
    """A watcher whose events the test is."""

    def __init__(self, engine):
        super().__init__(None, engine._pending, engine.sync, clock=lambda: 0.0)
        self.is_watching = True


@pytest.fixture
def looks(monkeypatch):
    """Counts of folders listed, files stat'ed and files opened from now on."""
    seen = {"listed": [], "stat": [], "opened": []}

    class Entry:
        def __init__(self, entry):
            self._entry = entry
            self.name = entry.name

        def stat(self, *, follow_symlinks=True):
            seen["stat"].append(self.name)
            return self._entry.stat(follow_symlinks=follow_symlinks)

        def is_dir(self):
            return self._entry.is_dir()

        def is_symlink(self):
            return self._entry.is_symlink()

    original_entries, original_read = walk._entries, sources.read_text

    def entries(root, folder, failed):
        seen["listed"].append(folder)
        return [Entry(entry) for entry in original_entries(root, folder, failed)]

    def read(root, path, max_bytes):
        seen["opened"].append(path)
        return original_read(root, path, max_bytes)

    monkeypatch.setattr(walk, "_entries", entries)
    monkeypatch.setattr(sources, "read_text", read)
    return seen


def test_a_clean_search_costs_one_stat_pass_and_opens_no_file(tmp_path, looks):
    for name in ("a.md", "b.md", "sub/c.md"):
        write(tmp_path, name, "tea")
    with make_engine(tmp_path) as engine:
        engine.sync()
        for names in looks.values():
            names.clear()
        assert not engine.search("tea").auto_synced
        assert sorted(looks["stat"]) == ["a.md", "b.md", "c.md"]
        assert sorted(looks["listed"]) == ["", "sub/"]
        assert looks["opened"] == []


def test_within_the_interval_a_search_does_not_look_at_all(tmp_path, looks, monkeypatch):
    write(tmp_path, "a.md", "tea")
    seconds = [100.0]
    monkeypatch.setattr(syncing_first.time, "monotonic", lambda: seconds[0])
    with make_engine(tmp_path, stat_interval_seconds=2.0) as engine:
        assert engine.search("tea").auto_synced
        looks["listed"].clear()
        write(tmp_path, "b.md", "tea")
        for seconds[0] in (100.1, 101.9):
            assert not engine.search("tea").auto_synced
        assert looks["listed"] == []
        seconds[0] = 102.0
        assert engine.search("tea").auto_synced


def test_looking_can_be_turned_off(tmp_path, looks):
    write(tmp_path, "a.md", "tea")
    with make_engine(tmp_path, sync_on_search=False) as engine:
        assert engine.search("tea").hits == ()
        assert looks["listed"] == []


def test_with_a_watcher_a_search_looks_only_after_an_event(tmp_path, looks):
    write(tmp_path, "a.md", "tea")
    with make_engine(tmp_path) as engine:
        engine.sync()
        engine._watcher = Watching(engine)
        looks["listed"].clear()
        write(tmp_path, "b.md", "more tea")
        assert texts(engine.search("tea")) == ["tea"]
        assert looks["listed"] == []
        engine._pending.note(0.0)
        assert engine.watch_state().dirty
        result = engine.search("tea")
        assert (result.auto_synced, len(result.hits)) == (True, 2)
        assert not engine.watch_state().dirty


def test_a_search_leaves_many_files_to_the_watcher(tmp_path, monkeypatch):
    monkeypatch.setattr(syncing_first, "MANY_FILES", 3)
    write(tmp_path, "a.md", "tea")
    with make_engine(tmp_path) as engine:
        engine.sync()
        engine._watcher = Watching(engine)
        for name in ("b.md", "c.md", "d.md"):
            write(tmp_path, name, "tea")
        engine._pending.note(0.0)
        result = engine.search("tea")
        assert (len(result.hits), result.auto_synced) == (1, False)
        assert result.degraded == (BEING_INDEXED,)
        assert engine.watch_state().dirty
        engine.sync()
        assert len(engine.search("tea").hits) == 4


def test_without_a_watcher_a_search_indexes_however_many_there_are(tmp_path, monkeypatch):
    monkeypatch.setattr(syncing_first, "MANY_FILES", 3)
    for name in ("b.md", "c.md", "d.md"):
        write(tmp_path, name, "tea")
    with make_engine(tmp_path) as engine:
        result = engine.search("tea")
        assert (len(result.hits), result.auto_synced, result.degraded) == (3, True, ())


@pytest.mark.parametrize("is_at_many", [False, True])
def test_a_search_answers_while_somebody_else_indexes(tmp_path, monkeypatch, is_at_many):
    monkeypatch.setattr(syncing_first, "SYNC_PATIENCE_SECONDS", 60.0 if is_at_many else 0.0)
    write(tmp_path, "a.md", "tea")
    with make_engine(tmp_path) as engine:
        engine.sync()
        write(tmp_path, "b.md", "tea")
        with engine._sync_lock:
            engine._indexer._at_many += is_at_many
            result = engine.search("tea")
            engine._indexer._at_many -= is_at_many
        assert (texts(result), result.degraded) == (["tea"], (BEING_INDEXED,))
        assert len(engine.search("tea").hits) == 2


@pytest.mark.parametrize("index", [lambda engine: engine.search("tea"), lambda e: e.sync()])
def test_what_a_changed_file_told_is_forgotten_before_anyone_asks_the_graph(tmp_path, index):
    write(tmp_path, "a.md", "Ann likes tea.")
    with make_engine(tmp_path) as engine:
        engine.sync()
        evidence = engine.search("tea").hits[0].id
        engine.graph.add_triples([("Ann", "likes", "tea")], evidence=evidence)
        write(tmp_path, "a.md", "Ann likes coffee.")
        assert engine.sync(dry_run=True).indexed == 1
        assert known(engine) == 2
        index(engine)
        assert known(engine) == 0


def known(engine):
    """Return how many entities the graph holds, without asking it to catch up."""
    with engine.graph._store.get().read() as tx:
        return graph.counts(tx).entities


def test_a_folder_that_cannot_be_listed_keeps_its_rows_and_a_watcher_tries_again(
    tmp_path, monkeypatch
):
    write(tmp_path, "a.md", "tea")
    write(tmp_path, "deep/b.md", "more tea")
    with make_engine(tmp_path) as engine:
        engine.sync()
        scandir = os.scandir

        def refuse(path):
            if Path(path).name == "deep":
                raise PermissionError(13, "Permission denied")
            return scandir(path)

        monkeypatch.setattr(os, "scandir", refuse)
        result = engine.search("tea")
        assert (len(result.hits), result.degraded) == (2, ("sync: deep/: Permission denied",))
        report = engine.sync()
        assert (report.removed, report.complete) == (0, False)
        assert engine.watch_state().dirty
        monkeypatch.undo()
        assert engine.sync().complete
        assert not engine.watch_state().dirty


def test_indexing_makes_the_index_in_memory_follow(tmp_path):
    write(tmp_path, "a.md", "tea")
    with make_engine(tmp_path, sync_on_search=False) as engine:
        engine.sync()
        engine.search("tea")
        write(tmp_path, "b.md", "more tea")
        engine.sync()
        (everyone,) = [p for k, p in engine._searcher._partitions._loaded.items() if k == "shared"]
        assert everyone.keyword.corpus_size == 2
        assert len(engine.search("tea").hits) == 2


def test_a_search_between_two_steps_sees_a_whole_view(tmp_path):
    with make_engine(tmp_path, embeddings=None) as engine:
        for number in range(30):
            write(tmp_path, f"{number}.md", f"tea number{number}")
            engine.sync()
            assert len(engine.search("tea", 50).hits) == number + 1


def test_what_cannot_be_watched_says_why(tmp_path):
    with make_engine() as engine, pytest.raises(ConfigurationError, match="no folder to watch"):
        engine.start_watching()
    with make_engine(tmp_path):
        pass
    with (
        make_engine(tmp_path, read_only=True) as engine,
        pytest.raises(ReadOnlyError, match="read_only=True"),
    ):
        engine.start_watching()


def test_an_engine_that_does_not_watch_says_so(tmp_path):
    with make_engine(tmp_path) as engine:
        state = engine.watch_state()
        assert (state.watching, state.watched_files, state.last_sync_at) == (False, 0, None)
        engine.sync()
        assert engine.watch_state().last_sync_at == engine._clock()
        engine.stop_watching()


def test_watched_files_are_those_of_this_engines_folders(tmp_path):
    write(tmp_path / "one", "a.md", "tea")
    write(tmp_path / "two", "b.md", "tea")
    write(tmp_path / "two", "c.md", b"\x00 no text")
    url = f"sqlite:///{tmp_path}/shared.sqlite"
    for name in ("one", "two"):
        with make_engine(tmp_path / name, database_url=url) as engine:
            engine.sync()
            engine._watcher = Watching(engine)
            assert (engine.watch_state().watched_files, engine.watch_state().watching) == (1, True)
