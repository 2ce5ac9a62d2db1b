"""A watcher over real files, in real time: everything that happens to them gets into the index."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from langchain_memengine import MemEngineConfig, MemoryEngine
from langchain_memengine.retrieval import file_plan, file_reader
from langchain_memengine.retrieval.file_reader import MANY_FILES
from langchain_memengine.storage.schema import (
    chunks,
)
from langchain_memengine.workspace import folder_events
from tests.doc_pages import run
from tests.fakes.embeddings import FakeEmbeddings

SCRIPTS = int(os.environ.get("MEMENGINE_EDIT_SCRIPTS", "20"))
PATIENCE_SECONDS = 20.0


def open_engine(root, *, embeddings=None, debounce_ms=100, **settings):
    config = MemEngineConfig(watch_debounce_ms=debounce_ms, worker="off", **settings)
    return MemoryEngine.open(root, config=config, embeddings=embeddings)


@contextmanager
def watched(root, **settings):
    """An engine that watches, and the reports of its syncs; nothing is left to index."""
    reports = []
    with open_engine(root, **settings) as engine, engine.watch(on_sync=reports.append):
        wait_until(lambda: is_settled(engine))
        yield engine, reports


def wait_until(holds):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.01)


def is_settled(engine):
    state = engine.watch_state()
    return state.watching and not state.dirty and not state.syncing


def rows(engine):
    """What is indexed, but for what a fresh index may number or date in another way."""
    names = ("id", "path", "ord", "start_line", "end_line", "text", "heading", "text_hash")
    columns = [chunks.c[name] for name in names]
    with engine._database.read() as tx:
        return sorted(
            map(tuple, tx.connection.execute(chunks.select().with_only_columns(*columns)))
        )


def fresh_rows(root):
    """What another engine makes of the same files; it has to be the same workspace, for the ids."""
    state = root / ".memengine"
    config = MemEngineConfig(database_url=f"sqlite:///{root.parent}/fresh-{time.time_ns()}.sqlite")
    with MemoryEngine.open(root, config=config, embeddings=None) as engine:
        assert state.is_dir()
        return rows(engine)


def hits(engine, query):
    return sorted(hit.path for hit in engine.search(query, 50).hits)


def test_an_edit_is_found_without_any_sync_of_ones_own(tmp_path):
    with watched(tmp_path, sync_on_search=False) as (engine, reports):
        (tmp_path / "a.md").write_text("tea")
        wait_until(lambda: hits(engine, "tea") == ["a.md"])
        state = engine.watch_state()
        assert (state.watching, state.watched_files) == (True, 1)
        assert state.last_sync_at is not None
        (tmp_path / "a.md").unlink()
        wait_until(lambda: hits(engine, "tea") == [])
        assert [(r.indexed, r.removed) for r in reports] == [(1, 0), (0, 1)]
    assert not engine.watch_state().watching


def test_a_thousand_edits_become_one_sync_for_each_quiet_period(tmp_path):
    generator = random.Random(8)  # noqa: S311  # reproducible, no secret
    names = [f"folder{i % 7}/note{i}.md" for i in range(200)]
    with watched(tmp_path, debounce_ms=1000, sync_on_search=False) as (engine, reports):
        for burst in range(2):
            for number in range(500):
                path = tmp_path / generator.choice(names)
                path.parent.mkdir(exist_ok=True)
                path.write_text(f"# {path.stem}\n\nedit {number} of burst {burst}\n")
                time.sleep(0.002)
            wait_until(lambda n=burst + 1: len(reports) >= n and is_settled(engine))
        assert len(reports) == 2
        assert rows(engine) == fresh_rows(tmp_path)


def test_a_renamed_file_and_a_renamed_folder_keep_their_embeddings(tmp_path):
    (tmp_path / "old").mkdir()
    for number in range(3):
        (tmp_path / f"old/{number}.md").write_text(f"tea number{number}")
    embeddings = FakeEmbeddings()
    with watched(tmp_path, embeddings=embeddings, sync_on_search=False) as (engine, reports):
        before = len(embeddings.texts)
        (tmp_path / "old/0.md").rename(tmp_path / "zero.md")
        wait_until(lambda: "zero.md" in engine.indexed_files())
        (tmp_path / "old").rename(tmp_path / "new")
        wait_until(lambda: engine.indexed_files() == ["new/1.md", "new/2.md", "zero.md"])
        (tmp_path / "new/1.md").write_text("tea, edited where it is now")
        wait_until(lambda: hits(engine, "edited") == ["new/1.md"])
        assert len(embeddings.texts) - before == 2  # the edited text, and the query
        assert sum(report.reused for report in reports) == 3


def saved_by_rename(path):
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text("coffee")
    temporary.replace(path)


def saved_as_vim_does(path):
    (path.parent / "4913").write_text("")
    (path.parent / "4913").unlink()
    swap = path.with_name(f".{path.name}.swp")
    swap.write_bytes(b"b0VIM\0")
    path.rename(f"{path}~")
    path.write_text("coffee")
    Path(f"{path}~").unlink()
    swap.unlink()


@pytest.mark.parametrize("save", [saved_by_rename, saved_as_vim_does])
def test_editors_save_in_ways_of_their_own(tmp_path, save):
    (tmp_path / "a.md").write_text("tea")
    with watched(tmp_path, sync_on_search=False) as (engine, reports):
        save(tmp_path / "a.md")
        wait_until(lambda: hits(engine, "coffee") == ["a.md"])
        wait_until(lambda: is_settled(engine))
        assert engine.indexed_files() == ["a.md"]
        assert (len(reports), reports[0].indexed, reports[0].failed) == (1, 1, ())


def test_what_is_no_memory_wakes_nobody(tmp_path):
    (tmp_path / "node_modules").mkdir()
    outside = tmp_path / "outside"
    root = tmp_path / "root"
    outside.mkdir()
    root.mkdir()
    (root / "link").symlink_to(outside)
    (root / "round").symlink_to(root)
    with watched(root, sync_on_search=False) as (engine, reports):
        before = engine.watch_state().last_sync_at
        for name in ("a.md.swp", "a.md~", "4913", "picture.png"):
            (root / name).write_text("x")
            (root / name).unlink()
        (outside / "b.md").write_text("tea")
        (root / ".memengine/c.md").write_text("tea")
        time.sleep(0.5)
        assert not engine.watch_state().dirty
        assert (engine.watch_state().last_sync_at, reports) == (before, [])


def test_a_source_that_goes_away_comes_back(tmp_path, monkeypatch):
    monkeypatch.setattr(folder_events, "RETRY_SECONDS", 0.2)
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("tea")
    with watched(tmp_path / "root", sources={"notes": notes}, sync_on_search=False) as (
        engine,
        told,
    ):
        assert hits(engine, "tea") == ["a.md"]
        shutil.rmtree(notes)
        wait_until(lambda: any(report.degraded for report in told))
        assert hits(engine, "tea") == ["a.md"]  # unplugged is not deleted
        notes.mkdir()
        (notes / "b.md").write_text("tea")
        wait_until(lambda: hits(engine, "tea") == ["b.md"])


def write_text(path, other, text):
    path.write_text(text)


def append(path, other, text):
    with path.open("a") as file:
        file.write(f"\n\n# more\n\n{text}")


def replace(path, other, text):
    path.with_suffix(".tmp").write_text(text)
    path.with_suffix(".tmp").replace(path)


def delete(path, other, text):
    path.unlink(missing_ok=True)


def rename(path, other, text):
    if path.exists():
        path.replace(other)


def drop_folder(path, other, text):
    if path.parent != other.parent:
        shutil.rmtree(path.parent)


def move_folder(path, other, text):
    moved = other.parent / "moved"
    if not (moved.exists() or moved.is_relative_to(path.parent)):
        path.parent.rename(moved)


def pause(path, other, text):
    time.sleep(0.02)


EDITS = (write_text, write_text, append, replace, delete, rename, drop_folder, move_folder, pause)


def edit_at_random(root, generator, steps):
    """Do to files and folders what people and programs do to them."""
    folders = ["one", "one/two", "three"]
    for step in range(steps):
        path, other = (
            root / generator.choice(folders) / f"{generator.choice('abcd')}.md" for _ in range(2)
        )
        for each in (path, other):
            each.parent.mkdir(parents=True, exist_ok=True)
        generator.choice(EDITS)(path, other, f"step {step} of {path.name}")


def test_no_change_of_random_edit_scripts_is_missed(tmp_path):
    root = tmp_path / "root"
    with watched(root, debounce_ms=20, sync_on_search=False) as (engine, _):
        for seed in range(SCRIPTS):
            edit_at_random(root, random.Random(seed), 25)  # noqa: S311  # reproducible, no secret
            expected = fresh_rows(root)
            wait_until(lambda expected=expected: rows(engine) == expected)


def test_searches_wait_for_no_large_sync_and_end_equal_to_a_fresh_index(tmp_path):
    number = 2 * MANY_FILES
    with watched(tmp_path, debounce_ms=300, stat_interval_seconds=0) as (engine, reports):
        engine.search("warm up")
        for i in range(number):
            (tmp_path / f"{i}.md").write_text(f"# Note {i}\n\ntea number{i} " + "word " * 150)
        answers = []
        while not (reports and is_settled(engine)):
            answers.append(engine.search("tea"))
            time.sleep(0.005)
        assert len(answers) > 10
        assert any("are being indexed" in note for each in answers for note in each.degraded)
        assert max(each.timings["sync"] for each in answers) < 2000
        assert engine.search("number7", 1).hits[0].path == "7.md"
        assert engine.search("tea").degraded == ()
        assert sum(report.indexed for report in reports) == number
        assert rows(engine) == fresh_rows(tmp_path)


def test_another_process_prepares_what_this_one_would(tmp_path, monkeypatch, caplog):
    here = []

    def prepared_here(*arguments):
        here.append(arguments)
        return file_plan.prepare_file(*arguments)

    monkeypatch.setattr(file_reader, "prepare_file", prepared_here)
    (tmp_path / "users/anna/daily").mkdir(parents=True)
    (tmp_path / "users/anna/daily/2026-05-19.md").write_text("## 10:15 deploy\n\ntea of Anna\n")
    (tmp_path / "front.md").write_text("---\ntags: [a, b]\ndate: 2026-01-02\n---\n\ntea [[link]]\n")
    (tmp_path / "binary.md").write_bytes(b"\0\1")
    (tmp_path / "猫.md").write_text("猫が好き", encoding="utf-16")
    for i in range(MANY_FILES):
        (tmp_path / f"{i}.md").write_text(f"# Note {i}\n\ntea\n")
    found = []
    for mode in ("auto", "off"):
        config = MemEngineConfig(
            database_url=f"sqlite:///{tmp_path}-{mode}.sqlite", file_process=mode, worker="off"
        )
        with MemoryEngine.open(tmp_path, config=config, embeddings=None) as engine:
            with engine._database.read() as tx:
                columns = [c for c in chunks.c if c.name not in {"num", "created_at", "seq"}]
                query = chunks.select().with_only_columns(*columns)
                found.append(sorted(map(tuple, tx.connection.execute(query)), key=str))
            assert engine.sync().skipped[0].path == "binary.md"
        assert len(here) == (0 if mode == "auto" else MANY_FILES + 4)
    assert found[0] == found[1]
    assert len(found[0]) == MANY_FILES + 3
    assert caplog.text == ""


@pytest.mark.parametrize("executable", ["", "/bin/false", "/bin/cat"])
def test_without_another_process_the_files_are_read_here(tmp_path, monkeypatch, caplog, executable):
    for i in range(MANY_FILES):
        (tmp_path / f"{i}.md").write_text(f"tea number{i}")
    monkeypatch.setattr(sys, "executable", executable)
    with open_engine(tmp_path) as engine:
        assert engine.stats().files == MANY_FILES
    assert "read in this process" in caplog.text


def test_a_script_without_a_main_guard_may_index_many_files(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    for i in range(MANY_FILES):
        (root / f"{i}.md").write_text(f"tea number{i}")
    script = tmp_path / "script.py"
    script.write_text(
        "from langchain_memengine import MemoryEngine\n"
        f"engine = MemoryEngine.open({str(root)!r}, embeddings=None)\n"
        "print(engine.stats().files)\n"
        "engine.close()\n"
    )
    done = subprocess.run(  # noqa: S603  # this interpreter and a script of the test's
        [sys.executable, script], capture_output=True, text=True, timeout=60, check=True
    )
    assert (done.stdout, done.stderr) == (f"{MANY_FILES}\n", "")


async def test_async_block_watches_and_ends(tmp_path):
    async with open_engine(tmp_path) as engine:
        async with engine.awatch():
            wait_until(lambda: is_settled(engine))
        assert not engine.watch_state().watching


def test_closing_an_engine_that_watches_ends_its_thread(tmp_path):
    config = MemEngineConfig(watch_debounce_ms=50)
    engine = MemoryEngine.open(tmp_path, config=config, embeddings=None, watch=True)
    wait_until(lambda: is_settled(engine))
    engine.close()
    assert "memengine-watcher" not in {thread.name for thread in threading.enumerate()}


def test_the_command_prints_a_line_a_sync_and_ends_with_ctrl_c(tmp_path):
    command = [sys.executable, "-c", "from langchain_memengine.cli.main import main; main()"]
    environment = {**os.environ, "MEMENGINE_WATCH_DEBOUNCE_MS": "50"}
    process = subprocess.Popen(  # noqa: S603  # this interpreter and this package
        [*command, "watch", "--json", "--root", str(tmp_path), "--embeddings", "none"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    with process:
        (tmp_path / "a.md").write_text("tea")
        first = json.loads(process.stdout.readline())
        (tmp_path / "b.md").write_text("tea")
        second = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=20)
    assert (first["indexed"], second["indexed"]) == (1, 1)
    assert (rest, errors, process.returncode) == ("", "", 0)


def test_what_the_page_shows_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run("docs/sync.md")
    assert capsys.readouterr().out.startswith("Files\n\n watching ")
