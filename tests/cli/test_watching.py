"""What `memengine watch` shows."""

from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from langchain_memengine.answers import (
    FileProblem,
    IndexReport,
)
from langchain_memengine.cli.watching import problems, summary, view
from langchain_memengine.workspace.watcher import WatchState

NOON = datetime(2026, 5, 19, 12, tzinfo=UTC)


def state(**changed):
    known = {"dirty": False, "syncing": False, "last_sync_at": NOON, "watched_files": 3}
    return WatchState(**{**known, "watching": True, **changed})


def shown(state, report=None):
    console = Console(width=100, color_system=None)
    with console.capture() as captured:
        console.print(view(Path("memory"), state, None if report is None else (NOON, report)))
    return captured.get()


def test_view_shows_what_is_watched_and_the_last_sync():
    text = shown(state(), IndexReport(indexed=1, removed=2, embedded=1, reused=4))
    assert "root       memory" in text
    assert "watching   yes" in text
    assert "up to date" in text
    assert "files      3" in text
    assert "1 file indexed, 2 removed, 1 text embedded, 4 reused" in text
    assert "problem" not in text


def test_view_tells_the_states_apart():
    assert "waiting until it is quiet" in shown(state(dirty=True))
    assert "indexing" in shown(state(dirty=True, syncing=True))
    assert "not yet, or no longer" in shown(state(watching=False))
    assert "last sync" not in shown(state())


def test_problems_are_shown_without_what_could_steer_a_terminal():
    report = IndexReport(failed=(FileProblem("a\x1b[2Jb.md", "broken\nhere"),))
    text = shown(state(), report)
    assert "ab.md: broken here" in text
    assert "\x1b" not in text


def test_only_the_first_problems_are_listed():
    failed = tuple(FileProblem(f"{i}.md", "denied") for i in range(7))
    found = problems(IndexReport(degraded=("sync: late",), failed=failed))
    assert found[:2] == ("sync: late", "0.md: denied")
    assert found[5:] == ("and 3 more; --json lists all",)  # 8 problems, 5 of them shown
    assert problems(IndexReport()) == ()


def test_summary_counts_in_words():
    report = IndexReport(indexed=2, embedded=3)
    assert summary(report) == "2 files indexed, 0 removed, 3 texts embedded, 0 reused"
