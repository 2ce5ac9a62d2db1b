"""Consolidation: what is hidden, merged and pinned, and how it comes back."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import cycle

import pytest

from langchain_memengine.answers import as_json
from langchain_memengine.config import MemEngineConfig
from langchain_memengine.engine.background import NIGHTLY
from langchain_memengine.engine.memory_engine import MemoryEngine
from langchain_memengine.errors import NotFoundError, ScopeError, StorageError
from langchain_memengine.jobs.reports import JobsReport
from langchain_memengine.storage import schedules
from langchain_memengine.types import (
    Actor,
    Filter,
)
from tests.fakes.clock import START, FixedClock
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine, texts, write

ANN, BOB, ADMIN = Actor("ann"), Actor("bob"), Actor("root", is_admin=True)
STAGING = "The staging server runs in Frankfurt and has eight cores and forty gigabytes of memory."


@pytest.fixture(params=["keyword", "vectors"])
def engine(request, tmp_path, clock):
    embedder = FakeEmbeddings() if request.param == "vectors" else None
    with make_engine(tmp_path, embeddings=embedder, clock=clock) as engine:
        yield engine


def found(engine, query="staging server", **options):
    return sorted(hit.location for hit in engine.search(query, 50, **options).hits)


def write_twice(root, newer="a.md", older="b.md"):
    write(root, newer, f"{STAGING}\n")
    write(root, older, f"{STAGING}\n", at=START - timedelta(days=1))


def note(engine, text, *, origin="assistant", **options):
    return engine.remember(text, scope="agent_notes", origin=origin, **options)


def done(report):
    return [(one.action, one.place, one.kept_place) for one in report.entries]


# What is hidden


def test_a_chunk_that_says_the_same_is_hidden_until_that_is_undone(engine, tmp_path):
    write(tmp_path, "a.md", f"{STAGING}\n")
    write(tmp_path, "b.md", f"- {STAGING.upper()}\n", at=START - timedelta(days=1))
    assert found(engine) == ["a.md:1-1", "b.md:1-1"]
    report = engine.consolidate()
    assert done(report) == [("hidden", "b.md:1-1", "a.md:1-1")]
    assert report.counts == {"hidden": 1, "merged": 0, "folded": 0}
    assert found(engine) == ["a.md:1-1"]
    engine.undo(report.entries[0].revision)
    assert found(engine) == ["a.md:1-1", "b.md:1-1"]


def test_a_sync_does_not_bring_back_what_is_hidden_and_an_edit_does(engine, tmp_path):
    write_twice(tmp_path)
    engine.sync()
    engine.consolidate()
    write(tmp_path, "b.md", f"{STAGING}\n\n# Tea\n\nThere is tea.\n")
    assert found(engine) == ["a.md:1-1"]
    write(tmp_path, "b.md", f"{STAGING} It is called jupiter.\n")
    assert found(engine) == ["a.md:1-1", "b.md:1-1"]


def test_what_stays_alone_is_found_again(engine, tmp_path):
    write_twice(tmp_path)
    engine.sync()
    engine.consolidate()
    (tmp_path / "a.md").unlink()
    assert found(engine) == ["b.md:1-1"]


def test_only_who_sees_the_one_misses_the_other(engine, tmp_path):
    write_twice(tmp_path, "a.md", "old/b.md")
    engine.sync()
    engine.consolidate()
    assert found(engine, filter=Filter(path="old/**")) == ["old/b.md:1-1"]
    assert found(engine, filter=Filter(path="**")) == ["a.md:1-1"]
    assert found(engine, as_of=START - timedelta(seconds=1)) == ["a.md:1-1", "old/b.md:1-1"]


def test_explain_says_what_stands_in(engine, tmp_path):
    write_twice(tmp_path)
    engine.sync()
    (entry,) = engine.consolidate().entries
    reason = engine.explain("staging server", entry.id).reason
    assert reason == "It is hidden: a.md:1-1, which is ranked, says all it says."
    assert entry.kept_place == "a.md:1-1"


@pytest.mark.parametrize(("one", "other"), [("costs 5", "costs 50"), ("is", "is not")])
def test_a_number_or_a_not_is_never_lost(engine, one, other):
    engine.add_texts([STAGING.replace("has", word) for word in (one, other)])
    assert engine.consolidate().entries == ()
    assert len(engine.search("staging", 9).hits) == 2


def test_what_is_pinned_stands_in_for_nothing(engine, tmp_path):
    write(tmp_path, "a.md", f"{STAGING}\n")
    write(tmp_path, "MEMORY.md", f"{STAGING}\n")
    engine.sync()
    assert engine.consolidate().entries == ()


def test_what_is_quarantined_neither_gives_way_nor_stands_in(engine, tmp_path):
    write_twice(tmp_path)
    engine.sync()
    (hit,) = engine.search("staging", filter=Filter(path="a.md")).hits
    engine.quarantine(source=hit.source)
    assert engine.consolidate().entries == ()
    engine.release(source=hit.source)
    assert engine.consolidate().counts["hidden"] == 1
    engine.quarantine(source=hit.source)
    assert found(engine) == ["b.md:1-1"]


def test_a_text_never_gives_way_to_another_user_s(engine):
    engine.add_texts([STAGING])
    engine.add_texts([STAGING], actor=ANN, scope="personal")
    engine.add_texts([STAGING], actor=BOB, scope="personal")
    assert engine.consolidate().entries == ()


def test_a_pair_without_embeddings_is_left_alone_and_counted():
    embedder = FakeEmbeddings()
    with make_engine(embeddings=embedder) as engine:
        engine.add_texts(["first"])
        embedder._faults = [ConnectionError("nobody answers")] * 9
        engine.add_texts([STAGING, f"{STAGING} Ask Bob."])
        report = engine.consolidate()
        assert (report.entries, report.unconfirmed) == ((), 1)
        assert "want of embeddings: 1 pair." in report.degraded[0]
        embedder._faults = []
        engine.sync()
        assert [one.reason for one in engine.consolidate().entries] == ["says all of it and more"]


# Notes


def test_notes_that_say_the_same_become_one_that_knows_where_all_came_from(engine, clock):
    first = note(engine, "The build takes 5 minutes.", source="chat/1")
    clock.pass_days(1)
    second = note(engine, "The build takes 5 minutes", source="chat/2")
    other = note(engine, "The build takes 50 minutes", source="chat/3")
    report = engine.consolidate()
    assert done(report) == [("merged", f"record:{first.id}", f"record:{second.id}")]
    assert {one.id for one in engine.list_records()} == {second.id, other.id}
    assert sorted(texts(engine.search("build", 9))) == [second.text, other.text]
    assert engine.provenance(second.id, actor=ANN) == [second, first]
    engine.undo(report.entries[0].revision)
    assert engine.provenance(second.id) == [second]
    assert len(engine.list_records()) == 3


def test_a_trusted_note_never_gives_way_to_one_that_is_trusted_less(engine, clock):
    trusted = note(engine, "The build takes 5 minutes.")
    clock.pass_days(1)
    tool = note(engine, "The build takes 5 minutes.", origin="tool")
    engine.consolidate()
    assert [one.id for one in engine.list_records()] == [trusted.id]
    assert engine.provenance(trusted.id)[1:] == [tool]


def test_what_is_valid_for_a_time_only_is_left_alone(engine):
    note(engine, "The build takes 5 minutes.", expires_at=START + timedelta(days=1))
    note(engine, "The build takes 5 minutes.")
    assert engine.consolidate().entries == ()


def test_a_merge_counts_only_where_the_kept_note_is_seen(engine, clock):
    base = engine.commit("t", "", "fact", ["base"]).partition("<")[0]
    left = engine.commit("t", base, "fact", ["left"]).partition("<")[0]
    everywhere = note(engine, "The build takes 5 minutes.")
    clock.pass_days(1)
    learnt = replace(everywhere, id="learnt", thread_id="t", commit_id=left, created_at=clock.now)
    engine._records.change(
        {"learnt": lambda state: replace(state, record=learnt)}, "add", now=clock.now
    )
    engine.consolidate()
    assert [one.id for one in engine.list_records()] == ["learnt"]
    engine.commit("t", base, "fact", ["right"])  # the left branch is abandoned
    assert [one.id for one in engine.list_records()] == [everywhere.id]


# Who may


def test_only_an_admin_consolidates_and_learns_nothing_of_others(engine, tmp_path):
    with pytest.raises(ScopeError, match="admin"):
        engine.consolidate(actor=ANN)
    write_twice(tmp_path, "users/ann/a.md", "users/ann/b.md")
    engine.sync()
    report = engine.consolidate(actor=ADMIN)
    assert (report.entries, report.private) == ((), 1)
    assert "Frankfurt" not in str(as_json(report))
    digest = (tmp_path / "users/ann/DREAMS.md").read_text()
    assert "hidden users/ann/b.md:1-1" in digest
    assert not (tmp_path / "DREAMS.md").exists()
    revision = digest.rpartition("undo ")[2].partition(")")[0]
    with pytest.raises(NotFoundError):
        engine.undo(revision, actor=BOB)
    engine.undo(revision, actor=ANN)
    assert len(found(engine, actor=ANN)) == 2


def test_a_read_only_engine_shows_what_it_would_do(tmp_path):
    with make_engine(tmp_path) as engine:
        engine.add_texts([STAGING, STAGING])
    with make_engine(tmp_path, read_only=True) as engine:
        assert len(engine.consolidate(dry_run=True).entries) == 1
        with pytest.raises(StorageError, match="read_only"):
            engine.consolidate()


# What it tells


def test_a_dry_run_changes_nothing_and_shows_the_difference(engine, tmp_path, clock):
    write_twice(tmp_path)
    engine.remember("We use ruff.")
    clock.pass_days(31)
    engine.sync()
    before = engine.stats()
    report = engine.consolidate(dry_run=True, fold=True)
    assert report.diff().splitlines()[:4] == [
        "--- b.md:1-1",
        "+++ b.md:1-1",
        "@@ -1 +0,0 @@",
        f"-{STAGING}",
    ]
    assert report.diff().splitlines()[-1].startswith("+- We use ruff. (record:")
    assert all(one.revision == "" for one in report.entries)
    assert engine.stats() == before
    assert engine.list_files() == []
    assert len(found(engine)) == 2


def test_the_digest_names_what_was_done_and_what_was_undone_is_left_alone(engine, tmp_path):
    first = note(engine, "The build takes 5 minutes.")
    second = note(engine, "The build takes 5 minutes. <!-- no end")
    third = note(engine, "The build takes 5 minutes")
    (entry,) = engine.consolidate().entries
    assert {entry.id, entry.kept_id} == {first.id, third.id}
    digest = (tmp_path / "DREAMS.md").read_text()
    assert f"merged record:{entry.id}" in digest
    assert f"undo {entry.revision}): The build takes 5 minutes" in digest
    assert "<!-- no end" not in digest
    assert second.id not in digest
    assert engine.search("consolidation").hits == ()
    engine.undo(entry.revision)
    assert engine.consolidate().entries == ()
    assert (tmp_path / "DREAMS.md").read_text() == digest


class PowerCutError(BaseException):
    """What ends a process."""


def test_a_run_that_ended_before_its_digest_is_told_of_by_a_later_one(
    engine, tmp_path, clock, monkeypatch
):
    write_twice(tmp_path)
    engine.sync()
    for text in ("The build takes 5 minutes.", "The build takes 5 minutes"):
        note(engine, text)
    engine.add_texts([STAGING, STAGING], ids=["1", "2"], actor=ANN)
    engine.remember("We use ruff.")
    clock.pass_days(40)
    expected = engine.consolidate(dry_run=True, fold=True)
    assert expected.counts == {"hidden": 1, "merged": 1, "folded": 1}
    with monkeypatch.context() as broken:

        def cut(*_):
            raise PowerCutError

        broken.setattr(MemoryEngine, "_tell", cut)
        with pytest.raises(PowerCutError):
            engine.consolidate(fold=True)
    assert not (tmp_path / "DREAMS.md").exists()
    clock.pass_days(1 / 48)
    engine.consolidate()
    assert not (tmp_path / "DREAMS.md").exists()  # it may be at work still
    clock.pass_days(1)
    assert engine.consolidate().entries == ()
    told = (tmp_path / "DREAMS.md").read_text()
    for one in expected.entries:
        assert f"- {one.action} {one.place} ({one.kept_place} {one.reason}, simi" in told
    assert [line[:2] for line in told.splitlines()].count("- ") == 3
    mine = (tmp_path / "users" / "ann" / "DREAMS.md").read_text()
    assert [line[:2] for line in mine.splitlines()].count("- ") == expected.private == 1
    undo = told.partition("merged")[2].partition("undo ")[2].partition(")")[0]
    assert engine.undo(undo).text.startswith("The build")
    clock.pass_days(1)
    engine.consolidate()
    assert (tmp_path / "DREAMS.md").read_text() == told


def test_what_is_forgotten_is_no_longer_told(engine, tmp_path):
    note(engine, "The zebraquux opens the door.", id="one")
    note(engine, "The zebraquux opens the door.", id="two")
    (entry,) = engine.consolidate().entries
    engine.forget([entry.id])
    assert "zebraquux" not in (tmp_path / "DREAMS.md").read_text()
    with pytest.raises(NotFoundError, match="forgotten"):
        engine.undo(entry.revision)


# MEMORY.md


def test_old_records_are_folded_into_the_pinned_facts_only_when_asked(engine, tmp_path, clock):
    rule = engine.remember("We use ruff.", source="chat/1")
    hers = engine.remember("Ann likes tea.", actor=ANN)
    write(tmp_path, "daily/2026-05-19.md", "## 09:00 — plan\n\n### Decisions\n\n- Ship on Monday\n")
    log = (tmp_path / "daily/2026-05-19.md").read_bytes()
    clock.pass_days(31)
    young = engine.remember("We use mypy.")
    assert engine.consolidate().entries == ()
    assert engine.read_memory() == ""
    report = engine.consolidate(fold=True)
    assert done(report) == [("folded", f"record:{rule.id}", "MEMORY.md")]
    pinned = engine.read_memory()
    assert "- We use ruff. (chat/1) <!--" in pinned
    assert "- Ship on Monday (daily/2026-05-19.md) <!--" in pinned
    assert (tmp_path / "daily/2026-05-19.md").read_bytes() == log
    assert [one.id for one in engine.list_records()] == [young.id]
    assert engine.get(hers.id, actor=ANN) == hers
    assert "lines added to MEMORY.md: 2" in (tmp_path / "DREAMS.md").read_text()
    assert engine.undo(report.entries[0].revision) == rule
    assert engine.consolidate(fold=True).entries == ()
    assert engine.read_memory() == pinned


def test_a_log_that_cannot_be_read_is_named(engine, tmp_path, clock):
    engine.remember("We use ruff.")
    write(tmp_path, "daily/2026-05-19.md", b"\xff\xfe\x00")
    clock.pass_days(31)
    report = engine.consolidate(fold=True)
    assert report.counts["folded"] == 1
    assert report.degraded[0].startswith("daily/2026-05-19.md was not folded")


def test_folding_stops_where_a_recall_would_not_show_it(tmp_path, clock):
    with make_engine(tmp_path, clock=clock, pinned_cap=150) as engine:
        engine.remember("We use ruff.")
        engine.remember("We use mypy.")
        clock.pass_days(31)
        report = engine.consolidate(fold=True)
        assert (report.counts["folded"], report.no_room) == (1, 1)
        assert len(engine.list_records()) == 1


# At night


def test_two_workers_consolidate_once_a_day(tmp_path, clock):
    settings = {"timezone": "Europe/Berlin", "consolidate_at": "03:00"}
    with (
        make_engine(tmp_path, clock=clock, **settings) as one,
        make_engine(tmp_path, clock=clock, **settings) as other,
    ):
        one.add_texts([STAGING, STAGING])
        assert one.run_jobs() == other.run_jobs() == JobsReport()
        clock.now = datetime(2026, 5, 20, 0, 59, tzinfo=UTC)
        assert one.run_jobs() == JobsReport()
        clock.now = datetime(2026, 5, 20, 1, 0, tzinfo=UTC)  # 03:00 in Berlin
        assert other.run_jobs() == JobsReport(done=1)
        assert one.run_jobs() == JobsReport()
        assert len(one.search("staging", 9).hits) == 1
        clock.pass_days(5)  # nobody was there for four nights
        assert one.run_jobs() == JobsReport(done=1)
        assert other.run_jobs() == JobsReport()
        assert [job.dedupe_key for job in one.jobs()] == [
            f"{NIGHTLY}:2026-05-25",
            f"{NIGHTLY}:2026-05-20",
        ]


@pytest.mark.parametrize(
    ("zone", "at", "runs"),
    [
        # Berlin: on 29 March 02:30 does not exist, on 25 October it comes twice.
        ("Europe/Berlin", "02:30", ["2026-03-28T01:30", "2026-03-29T01:30", "2026-03-30T00:30"]),
        ("Europe/Berlin", "02:30", ["2026-10-24T00:30", "2026-10-25T00:30", "2026-10-26T01:30"]),
        # New York: the same on 8 March, and at 01:30 on 1 November.
        ("America/New_York", "02:30", ["2026-03-07T07:30", "2026-03-08T07:30", "2026-03-09T06:30"]),
        ("America/New_York", "01:30", ["2026-10-31T05:30", "2026-11-01T05:30", "2026-11-02T06:30"]),
    ],
)
def test_each_local_day_has_one_run_when_clocks_change(zone, at, runs):
    moments = [datetime.fromisoformat(run).replace(tzinfo=UTC) for run in runs]
    clock = FixedClock(moments[0] - timedelta(minutes=1))
    steps = cycle((timedelta(minutes=1), timedelta(minutes=59)))  # every hour at :29 and at :30
    ran = []
    with make_engine(clock=clock, timezone=zone, consolidate_at=at) as engine:
        while clock.now < moments[-1] + timedelta(hours=2):
            if engine.run_jobs().done:
                ran.append(clock.now)
            clock.now += next(steps)
    assert ran == moments


def test_the_schedule_follows_the_settings(tmp_path, clock):
    def scheduled(**settings):
        with make_engine(tmp_path, clock=clock, **settings) as engine:
            engine.run_jobs()
            with engine._database.read() as tx:
                found = schedules.get(tx, NIGHTLY)
        return found and (found.at, found.timezone, found.enabled)

    assert scheduled(consolidate_at=None) is None
    assert scheduled(consolidate_at="03:00", timezone="Asia/Tokyo") == ("03:00", "Asia/Tokyo", True)
    assert scheduled(consolidate_at="04:30") == ("04:30", "Asia/Tokyo", True)
    assert scheduled(consolidate_at=None)[2] is False
    clock.pass_days(2)
    with make_engine(tmp_path, clock=clock, consolidate_at=None) as engine:
        assert engine.run_jobs() == JobsReport()


def test_an_engine_that_does_jobs_wakes_for_the_night(tmp_path):
    config = MemEngineConfig(embeddings=None, vector_search="exact")
    with MemoryEngine.open(tmp_path, config=config) as engine:
        assert engine._worker_thread.is_running
