"""Access counts: written in batches, and no change."""

import sqlite3
from contextlib import closing

import pytest

from langchain_memengine.errors import StoreBusyError
from tests.fakes.engines import make_engine


def test_accesses_are_seen_after_reopening_and_are_no_change(tmp_path):
    with make_engine(tmp_path) as engine:
        engine.add_texts(["tea", "coffee"])
        counter = engine.stats().change_counter
        hits = engine.search("tea").hits
        engine.record_access(hits)
        engine.record_access(hits)
        assert engine.search("tea").hits[0].receipt.access_count == 0  # still buffered
    with make_engine(tmp_path) as engine:
        assert engine.search("tea").hits[0].receipt.access_count == 2
        assert engine.search("coffee").hits[0].receipt.access_count == 0
        assert engine.stats().change_counter == counter


def test_accesses_are_written_by_the_hundred():
    with make_engine() as engine:
        engine.add_texts(["tea"])
        hits = engine.search("tea").hits
        engine.record_access(hits * 99)
        assert engine.search("tea").hits[0].receipt.access_count == 0
        engine.record_access(hits)
        hit = engine.search("tea", ranking="goclaw").hits[0]
        assert hit.receipt.access_count == 100
        assert hit.receipt.access_bonus == pytest.approx(0.02)  # ten are counted


def test_searching_alone_counts_no_access():
    with make_engine() as engine:
        engine.add_texts(["tea"])
        engine.search("tea")
        engine.write_accesses()
        assert engine.search("tea").hits[0].receipt.access_count == 0


def test_counts_that_cannot_be_written_cost_nothing_and_are_written_later(tmp_path, caplog):
    with make_engine(tmp_path, busy_timeout_ms=0) as engine:
        engine.add_texts(["tea"])
        hits = engine.search("tea").hits
        with closing(sqlite3.connect(tmp_path / ".memengine" / "memory.sqlite")) as another:
            another.execute("BEGIN IMMEDIATE")
            engine.record_access(hits * 100)
            assert "access counts are written later" in caplog.text
            engine.record_access(hits * 99)  # not enough for another try
            assert len(caplog.records) == 1
            with pytest.raises(StoreBusyError):
                engine.write_accesses()
        engine.write_accesses()
        assert engine.search("tea").hits[0].receipt.access_count == 199
