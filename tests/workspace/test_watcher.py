"""When a watcher syncs: events from a script, time from a fake clock, no thread."""

from datetime import timedelta

import pytest

from langchain_memengine.answers import (
    FileProblem,
    IndexReport,
)
from langchain_memengine.errors import StorageError
from langchain_memengine.workspace.watcher import (
    CHECK_SECONDS,
    LONGEST_UNREST,
    RETRY_AFTER,
    PendingChanges,
    Watcher,
)
from tests.fakes.clock import START

DEBOUNCE = 2.0
FOUND = IndexReport(indexed=1)
BROKEN = IndexReport(failed=(FileProblem("a.md", "Input/output error"),))


class Script:
    """Ticks every half second; something changes at the given times, as they are looked up."""

    def __init__(self, *changes: float, until: float, report=FOUND, during=None):
        self.now = 0.0
        self.until = until
        self.changes = set(changes)
        self.syncs: list[float] = []
        self.told: list[IndexReport] = []
        self.reports = report if isinstance(report, list) else [report] * 1000
        self.during = during
        self.pending = PendingChanges(DEBOUNCE)
        self.watcher = Watcher(
            self.events, self.pending, self.sync, clock=lambda: self.now, on_sync=self.told.append
        )

    def events(self, stop):
        while self.now < self.until:
            yield self.now in self.changes
            self.now += 0.5

    def sync(self):
        self.syncs.append(self.now)
        with self.pending.syncing() as succeed:
            assert self.pending.is_syncing
            if self.during:
                self.during(self)
            report = self.reports[len(self.syncs) - 1]
            if isinstance(report, Exception):
                raise report
            succeed(report, self.now, START + timedelta(seconds=self.now))
            return report

    def run(self):
        self.watcher.run()
        return self.syncs


def test_one_change_is_indexed_when_it_was_quiet_for_the_debounce():
    script = Script(1.0, until=20)
    assert script.run() == [3.0]
    assert script.told == [FOUND]
    assert not script.pending.is_dirty
    assert script.pending.last_sync_at == START + timedelta(seconds=3)


def test_many_changes_become_one_sync_for_each_quiet_period():
    first, second = [i / 2 for i in range(2, 21)], [i / 2 for i in range(40, 51)]
    # Changes from 1 to 10 s and from 20 to 25 s, half a second apart: quiet at 12 and 27 s.
    assert Script(*first, *second, until=50).run() == [12.0, 27.0]


def test_a_folder_that_is_never_quiet_is_indexed_all_the_same():
    every = [i / 2 for i in range(400)]
    assert LONGEST_UNREST * DEBOUNCE == 60
    # The changes begin at 0; what comes during the sync at 60 s is left for the next one.
    assert Script(*every, until=130).run() == [60.0, 120.5]


def test_a_change_during_a_sync_is_not_lost():
    def change_once(script):
        if len(script.syncs) == 1:
            script.pending.note(script.now)

    script = Script(1.0, until=20, during=change_once)
    assert script.run() == [3.0, 5.0]
    assert not script.pending.is_dirty


def test_a_sync_by_somebody_else_settles_what_was_noted():
    script = Script(until=10)
    script.pending.note(0.0)
    assert script.pending.is_dirty
    script.sync()
    assert not script.pending.is_dirty
    assert script.run() == [0.0]


def test_a_file_that_fails_stays_dirty_and_is_tried_again():
    script = Script(1.0, until=60, report=[BROKEN, BROKEN, FOUND])
    assert RETRY_AFTER * DEBOUNCE == 20
    assert script.run() == [3.0, 23.0, 43.0]
    assert script.told == [BROKEN, FOUND]  # the same failure is told once
    assert not script.pending.is_dirty


def test_a_sync_that_fails_as_a_whole_is_reported_and_tried_again(caplog):
    script = Script(1.0, until=40, report=[StorageError("locked."), FOUND])
    assert script.run() == [3.0, 23.0]
    assert script.told == [IndexReport(degraded=("sync: locked.",)), FOUND]
    assert "locked" in caplog.text


def test_without_events_files_are_looked_at_every_minute_and_nobody_hears_of_it():
    script = Script(until=150, report=IndexReport(unchanged=3))
    assert CHECK_SECONDS == 60
    assert script.run() == [60.0, 120.0]
    assert script.told == []


def test_an_unexpected_error_ends_the_watch_and_is_logged(caplog):
    script = Script(1.0, until=20, report=[ZeroDivisionError()])
    script.run()
    assert not script.watcher.is_watching
    assert "the watcher ended" in caplog.text
    assert script.pending.is_dirty  # so that a search looks


def test_it_stops_between_two_events_and_may_be_asked_from_within():
    script = Script(1.0, until=20)
    script.during = lambda script: script.watcher.stop()
    script.changes.add(10.0)
    assert script.run() == [3.0]
    assert script.now == 3.5


@pytest.mark.parametrize("times", [1, 2])
def test_stopping_a_watcher_that_never_started_is_fine(times):
    script = Script(until=1)
    for _ in range(times):
        script.watcher.stop()
    assert script.run() == []
