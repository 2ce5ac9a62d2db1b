"""The Markdown that the engine writes, on disk and in the database."""

from datetime import timedelta

import pytest

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.types import (
    Actor,
    Fact,
)
from tests.fakes.clock import START, FixedClock
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine, texts


@pytest.fixture(params=["folder", "database"])
def engine(request, tmp_path):
    root = tmp_path if request.param == "folder" else None
    with make_engine(root, clock=FixedClock(), embeddings=FakeEmbeddings()) as engine:
        yield engine


def test_daily_entry_is_found_by_the_next_search(engine):
    assert engine.append_daily("build", "The kiln cracked.") == "daily/2026-05-19.md"
    result = engine.search("kiln")
    (hit,) = result.hits
    assert hit.text == "## 12:00 — build\n\nThe kiln cracked."
    assert (hit.path, hit.receipt.age_days, result.auto_synced) == (
        "daily/2026-05-19.md",
        0.0,
        True,
    )


def test_log_of_a_day_is_read_as_it_stands(engine):
    engine.append_daily("build", "The kiln cracked.")
    engine.append_daily("build", "Anna wept.", owner="anna")
    assert engine.read_daily(START.date()) == "## 12:00 — build\n\nThe kiln cracked.\n"
    assert engine.read_daily(START.date(), "anna") == "## 12:00 — build\n\nAnna wept.\n"
    assert engine.read_daily(START.date() + timedelta(days=1)) == ""


def test_entry_of_a_record_is_added_once_a_day_and_not_searched(engine):
    engine.append_daily("build", "The kiln is cold.")
    for _ in range(2):
        name = engine.append_daily("flush", "The kiln cracked.", record="a --> ## forged")
    assert engine._notes.read(name).split("\n", 4)[4] == (
        "<!-- record:a_--__##_forged -->\n"
        "## 12:00 — flush\n\nThe kiln cracked.\n"
        "<!-- /record:a_--__##_forged -->\n"
    )
    engine.append_daily("build", "The kiln hums.")
    found = [(hit.text.splitlines()[-1], hit.start_line) for hit in engine.search("kiln").hits]
    assert sorted(found) == [("The kiln hums.", 11), ("The kiln is cold.", 1)]
    engine.append_daily("flush", "The kiln hums.", record="b", owner="anna")
    engine._clock.pass_days(1)
    engine.append_daily("flush", "The kiln hums.", record="b")
    assert engine.list_files() == ["daily/2026-05-20.md", "daily/2026-05-19.md"]
    assert engine.list_files("anna") == ["users/anna/daily/2026-05-19.md"]


def test_rewritten_task_summary_replaces_the_old_one(engine):
    assert engine.write_task_summary("T 1", "Kiln", "cracked") == engine.write_task_summary(
        "T 1", "Kiln", "was repaired"
    )
    assert texts(engine.search("kiln")) == ["# Kiln\n\nwas repaired"]
    engine._clock.pass_days(1)
    engine.write_task_summary("T 1", "Kiln", "was replaced")
    assert texts(engine.search("kiln")) == ["# Kiln\n\nwas replaced"]


def test_facts_are_pinned_once_and_never_age(engine):
    facts = [Fact("a.md#Decisions", "Deploys happen on Tuesdays."), Fact("", "Tea is free.")]
    assert engine.promote_facts("t", facts) == 2
    assert engine.promote_facts("t", facts) == 0
    assert "- Deploys happen on Tuesdays. (a.md#Decisions)" in engine.read_memory()
    (hit,) = engine.search("deploys").hits
    assert (hit.path, hit.receipt.age_days) == ("MEMORY.md", None)
    assert engine.recall("deploys").pinned == engine.read_memory()


def test_notes_of_an_owner_are_personal(engine):
    engine.append_daily("note", "secret kiln", owner="Alice")
    engine.promote_facts("t", [Fact("", "Alice likes tea.")], owner="Alice")
    engine.append_daily("note", "public kiln")
    assert len(engine.search("kiln", actor=Actor("Alice")).hits) == 2
    assert len(engine.search("kiln", actor=Actor("alice")).hits) == 1
    assert "likes tea" in engine.read_memory("Alice")
    assert engine.read_memory() == ""
    assert "likes tea" in engine.recall("x", actor=Actor("Alice")).pinned
    assert engine.recall("x", actor=Actor("bob")).pinned == ""


def test_files_are_listed_memory_first_dailies_newest_first(engine):
    engine.write_task_summary("b", "B", "x")
    engine.write_task_summary("a", "A", "x")
    engine.append_daily("note", "x")
    engine._clock.pass_days(1)
    engine.append_daily("note", "x")
    engine.promote_facts("t", [Fact("", "x")])
    engine.append_daily("note", "x", owner="bob")
    assert engine.list_files() == [
        "MEMORY.md",
        "daily/2026-05-20.md",
        "daily/2026-05-19.md",
        "tasks/a.md",
        "tasks/b.md",
    ]
    assert engine.list_files("bob") == ["users/bob/daily/2026-05-20.md"]


def test_what_no_file_and_no_table_holds_does_not_keep_a_note_from_being_written(engine):
    engine.append_daily("build", "tea \ud800 at\0 four")
    (hit,) = engine.search("tea four").hits
    assert hit.text == engine.read_daily(START.date()).strip()
    hit.text.encode()
    assert "\0" not in hit.text


def test_notes_are_indexed_files(engine):
    engine.append_daily("note", "tea")
    report = engine.sync()
    assert (report.indexed, report.embedded) == (1, 1)
    assert engine.indexed_files() == ["daily/2026-05-19.md"]
    assert engine.sync().unchanged == 1
    assert engine.index_file("daily/2026-05-19.md") is False
    with pytest.raises(ConfigurationError, match="does not exist"):
        engine.index_file("daily/2026-01-01.md")


def test_notes_of_a_store_in_a_database_file_survive(tmp_path):
    url = f"sqlite:///{tmp_path / 'state.sqlite'}"
    with make_engine(database_url=url) as engine:
        engine.append_daily("note", "kiln")
    with make_engine(database_url=url) as engine:
        assert len(engine.search("kiln").hits) == 1
        assert engine.list_files() == ["daily/2026-05-19.md"]
