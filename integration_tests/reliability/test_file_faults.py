"""What a file system refuses: no space, no permission, no writing; and two processes at once."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from langchain_memengine.answers import (
    FileProblem,
)
from langchain_memengine.errors import ConfigurationError, StorageError, StorageFullError
from langchain_memengine.types import (
    Fact,
)
from langchain_memengine.workspace.files import read_text, scan, update_text, write_atomic
from tests.fakes.engines import make_engine, texts, write

IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
NOBODY = 65534

needs_root = pytest.mark.skipif(not IS_ROOT, reason="mounting and giving files away need root")


@contextmanager
def without_rights() -> Iterator[None]:
    """Be a user whom permissions stop: root is stopped by none."""
    if not IS_ROOT:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def folder():
    """A folder that every user reaches; pytest's own is closed to others."""
    with tempfile.TemporaryDirectory(prefix="memengine-") as name:
        path = Path(name)
        path.chmod(0o755)
        yield path
        for closed in [path, *path.rglob("*")]:
            if closed.is_dir():
                closed.chmod(0o755)  # else it cannot be removed without root's rights


def owned(path: Path) -> Path:
    """Give a folder and what is in it to the user of `without_rights`."""
    if IS_ROOT:
        for entry in (path, *path.rglob("*")):
            os.chown(entry, NOBODY, NOBODY)
    return path


@pytest.fixture
def mounted(tmp_path):
    """A file system of eight megabytes."""
    place = tmp_path / "mounted"
    place.mkdir()
    if not mount("-t", "tmpfs", "-o", "size=8m", "tmpfs", place):
        pytest.skip("mounting is not allowed here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", place], check=True)  # noqa: S603, S607  # as in `mount`


def mount(*arguments: object) -> bool:
    """Return whether it was done."""
    command = ["mount", *map(str, arguments)]
    return subprocess.run(command, check=False).returncode == 0  # noqa: S603  # our own arguments


def fill(place: Path) -> Path:
    """Leave no byte free; removing the file that is returned makes room again."""
    ballast = place / "ballast"
    with ballast.open("wb", buffering=0) as handle, suppress(OSError):
        while True:
            handle.write(b"x" * 4096)
    return ballast


# No space


@needs_root
def test_a_full_disk_keeps_every_note_as_it_was(mounted):
    state = mounted / "elsewhere.sqlite"
    root = mounted / "memory"
    with make_engine(root, database_url=f"sqlite:///{state}", sync_on_search=False) as engine:
        engine.promote_facts("task", [Fact("plan.md", "pinned before")])
        daily = engine.append_daily("note", "tea before")
        engine.sync()
        names = sorted(path.name for path in root.rglob("*"))
        before = {name: (root / name).read_bytes() for name in (daily, "MEMORY.md")}
        ballast = fill(mounted)
        for attempt in (
            lambda: engine.append_daily("note", "tea after " * 1000),
            lambda: engine.promote_facts("task", [Fact("plan.md", "pinned after " * 1000)]),
            lambda: engine.write_task_summary("new", "t", "tea " * 1000),
            lambda: write_atomic(root / "MEMORY.md", "x" * 9000),
        ):
            with pytest.raises(StorageFullError, match="disk is full"):
                attempt()
        assert {name: (root / name).read_bytes() for name in before} == before
        assert [n for n in sorted(p.name for p in root.rglob("*")) if n != "tasks"] == names
        with pytest.raises(StorageFullError):
            engine.add_texts(["word " * 20_000])
        assert texts(engine.search("tea")) == ["## 12:00 — note\n\ntea before"]
        ballast.unlink()
        engine.append_daily("note", "tea after")
        engine.sync()
        assert len(engine.search("tea").hits) == 2


@needs_root
def test_a_sync_that_meets_a_full_disk_says_so_and_is_made_up_for(mounted):
    root = mounted / "memory"
    write(root, "a.md", "tea of a")
    with make_engine(root) as engine:
        engine.sync()
        write(root, "b.md", "tea of b " + "word " * 30_000)
        ballast = fill(mounted)
        with pytest.raises(StorageFullError):
            engine.sync()
        result = engine.search("tea")
        assert texts(result) == ["tea of a"]
        assert "full" in result.degraded[0]
        ballast.unlink()
        assert engine.sync().indexed == 1
        assert {hit.path for hit in engine.search("tea").hits} == {"a.md", "b.md"}


# No permission


def test_what_may_not_be_read_is_reported_and_retried(folder):
    for name in ("a.md", "b.md", "sub/c.md"):
        write(folder, name, f"tea of {name}")
    owned(folder)
    with without_rights(), make_engine(folder) as engine:
        assert engine.sync().indexed == 3
        write(folder, "b.md", "coffee of b.md")
        (folder / "b.md").chmod(0)
        (folder / "sub").chmod(0)
        report = engine.sync()
        problems = [FileProblem(name, "Permission denied") for name in ("sub/", "b.md")]
        assert (report.failed, report.skipped) == (tuple(problems), ())
        assert (report.removed, report.complete) == (0, False)
        result = engine.search("tea")
        assert len(result.hits) == 3  # what was known stays known
        assert result.degraded == (
            "sync: sub/: Permission denied",
            "sync: b.md: Permission denied",
        )
        (folder / "b.md").chmod(0o644)
        (folder / "sub").chmod(0o755)
        assert engine.sync().complete
        assert min(texts(engine.search("tea coffee", 9))) == "coffee of b.md"


def test_a_note_in_a_folder_that_may_be_entered_but_not_listed_is_read(folder):
    write(folder, "users/bob/MEMORY.md", "pinned")
    (folder / "users").chmod(0o711)
    with without_rights():
        assert read_text(folder, "users/bob/MEMORY.md", None).text == "pinned"


def test_a_folder_without_write_permission_is_named_and_left_as_it_is(folder):
    write(folder, "memory/MEMORY.md", "pinned")
    with make_engine(folder / "memory") as engine:
        engine.sync()
    write(folder, "plain/a.md", "tea")
    for path in folder.rglob("*"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    with without_rights():
        with pytest.raises(ConfigurationError, match=r"plain.*may write"):
            make_engine(folder / "plain")
        with pytest.raises(StorageError, match="read_only=True"):
            make_engine(folder / "memory")
        with pytest.raises(StorageError, match="this user may not write there"):
            make_engine(folder / "memory", read_only=True)
        with pytest.raises(StorageError, match="cannot be written: Permission denied"):
            write_atomic(folder / "memory/MEMORY.md", "x")
        with pytest.raises(StorageError, match="cannot be written: Permission denied"):
            update_text(folder / "memory/MEMORY.md", str.upper, lock=folder / "memory/lock")
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before
    assert (folder / "memory/MEMORY.md").read_text() == "pinned"


def test_notes_that_may_not_be_written_do_not_stop_the_search(folder):
    write(folder, "a.md", "tea")
    (folder / ".memengine").mkdir()
    owned(folder)
    folder.chmod(0o555)
    with without_rights(), make_engine(folder) as engine:
        assert texts(engine.search("tea")) == ["tea"]
        with pytest.raises(StorageError, match=r"daily.*Permission denied"):
            engine.append_daily("note", "x")
        engine.add_texts(["tea added"])
        assert len(engine.search("tea").hits) == 2


@needs_root
def test_a_read_only_file_system_is_read(mounted):
    root = mounted / "what? 100%"
    write(root, "a.md", "tea")
    write(root, "MEMORY.md", "pinned")
    with make_engine(root) as engine:
        engine.sync()
    assert mount("-o", "remount,ro", mounted)
    with make_engine(root, read_only=True) as engine:
        assert texts(engine.search("tea")) == ["tea"]
        assert engine.recall("tea").pinned == "pinned"
        with pytest.raises(StorageError, match="read_only=True"):
            engine.add_texts(["x"])
    with pytest.raises(StorageError, match="read_only=True"):
        make_engine(root)


@needs_root
def test_a_file_that_root_changes_stays_with_its_owner(tmp_path):
    path = write(tmp_path, "MEMORY.md", "theirs\n")
    os.chown(path, NOBODY, NOBODY)
    path.chmod(0o640)
    update_text(path, lambda old: old + "ours\n", lock=tmp_path / "lock")
    status = path.stat()
    assert (status.st_uid, status.st_gid, status.st_mode & 0o777) == (NOBODY, NOBODY, 0o640)
    assert path.read_text() == "theirs\nours\n"


@needs_root
def test_devices_are_never_opened(tmp_path):
    os.mknod(tmp_path / "zero.md", 0o644 | 0o020000, os.makedev(1, 5))
    found = scan(tmp_path, ["*.md"], [], 1000)
    assert (found.files, found.skipped) == ([], [FileProblem("zero.md", "not a regular file")])
    with pytest.raises(Exception, match="not a regular file"):
        read_text(tmp_path, "zero.md", 1000)


# Huge


def test_a_single_line_of_megabytes_is_indexed_or_reported(tmp_path):
    write(tmp_path, "fits.md", "word " * 900_000 + "needle")
    write(tmp_path, "unbroken.md", "x" * 2_000_000)
    write(tmp_path, "large.md", "word " * 2_000_000)
    with make_engine(tmp_path) as engine:
        started = time.perf_counter()
        report = engine.sync()
        assert time.perf_counter() - started < 60  # about 4 seconds; quadratic would be hours
        assert report.indexed == 2
        assert [problem.path for problem in report.skipped] == ["large.md"]
        hit = engine.search("needle").hits[0]
        assert (hit.path, hit.start_line, hit.end_line) == ("fits.md", 1, 1)


# Two processes

APPENDING = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from langchain_memengine.workspace.notes import (DiskNotes,)
from langchain_memengine.workspace.entries import (Workspace,)
from langchain_memengine.types import (Fact,)
workspace = Workspace(DiskNotes(Path(sys.argv[1])))
now = datetime(2026, 5, 19, tzinfo=UTC)
for number in range(40):
    workspace.append_daily(now, "note", f"{sys.argv[2]} {number}")
    workspace.promote_facts(now, "t", [Fact("plan.md", f"fact {number}")])
"""


def test_processes_that_write_the_same_notes_lose_nothing_and_repeat_nothing(tmp_path):
    writers = [
        subprocess.Popen(  # noqa: S603  # this interpreter
            [sys.executable, "-c", APPENDING, tmp_path, name]
        )
        for name in ("one", "two")
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    daily = (tmp_path / "daily/2026-05-19.md").read_text()
    for name in ("one", "two"):
        told = [line for line in daily.splitlines() if line.startswith(f"{name} ")]
        assert told == [f"{name} {number}" for number in range(40)]
    facts = [line for line in (tmp_path / "MEMORY.md").read_text().splitlines() if "- fact" in line]
    assert len(facts) == 40
