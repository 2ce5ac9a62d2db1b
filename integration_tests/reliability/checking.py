"""What must hold of a store whose process was killed."""

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from integration_tests.reliability.journal import State, Told, read, text_of
from integration_tests.reliability.user import EVERYTHING, open_engine, utc_now, words_of
from langchain_memengine.engine.memory_engine import MemoryEngine

SENTINEL = "uniquesentinelx"


def check_database(root: Path) -> None:
    with closing(sqlite3.connect(root / ".memengine/memory.sqlite")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def hits(engine: MemoryEngine, query: str) -> list[tuple[Any, ...]]:
    found = engine.search(query, EVERYTHING).hits
    return sorted((hit.id, hit.text, round(hit.score, 9), hit.cosine) for hit in found)


def check_index(engine: MemoryEngine, root: Path, queries: Sequence[str], now: datetime) -> None:
    """Compare with an engine that has no derived files and builds its indexes from the database."""
    url = f"sqlite:///{root}/.memengine/memory.sqlite"
    with open_engine(None, lambda: now, database_url=url, sync_on_search=False) as fresh:
        for query in queries:
            assert hits(engine, query) == hits(fresh, query), query


def check(folder: Path) -> tuple[Told, State]:
    """Open the store of a folder, compare it with the journal, and use it.

    Returns:
        What the journal tells, and what the store holds: the journal begins anew from there.
    """
    root = folder / "store"
    told = read(folder / "journal", json.loads((folder / "state").read_text()))
    assert told.wrong == []
    if (root / ".memengine/memory.sqlite").exists():
        check_database(root)
    now = utc_now()
    with open_engine(root, lambda: now, sync_on_search=False) as engine:
        report = engine.sync()
        assert report.failed == ()
        state = told.settled(words_of(engine.search("common", EVERYTHING)))
        words = sorted(state.values())
        check_index(engine, root, ["common tea", *words[:1]], now)
        engine.add_texts([text_of(SENTINEL)], ids=["sentinel"])
        assert words_of(engine.search(SENTINEL, 1)) == {SENTINEL}
        assert engine.delete(["sentinel"]) == 1
        assert SENTINEL not in words_of(engine.search(SENTINEL))
    begin_anew(folder, state)
    return told, state


def begin_anew(folder: Path, state: State) -> None:
    (folder / "state").write_text(json.dumps(state))
    (folder / "journal").write_text("")


def check_in_the_end(folder: Path) -> None:
    """Let the jobs make up for every embedding, and the doctor look at all of it."""
    later = utc_now() + timedelta(days=1)
    with open_engine(folder / "store", lambda: later) as engine:
        engine.sync()
        engine.run_jobs()
        stats = engine.stats()
        assert (stats.embeddings, stats.jobs_ready, stats.jobs_dead) == (stats.chunks, 0, 0)
        found = {check.name: check.status for check in engine.doctor(thorough=True).checks}
        assert "failed" not in found.values(), found
        assert {name for name, status in found.items() if status != "ok"} <= {"leftovers", "chroma"}
        repaired = engine.doctor(repair=True)
        assert repaired["leftovers"].status == "ok"
