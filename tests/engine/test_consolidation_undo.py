"""Whatever is merged and hidden: undone in any order, every row is what it was."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from langchain_memengine.knowledge import consolidating
from langchain_memengine.storage.graph_schema import (
    graph_entities,
    graph_evidence,
    graph_names,
    graph_relations,
)
from langchain_memengine.storage.hiding_schema import hidden_chunks
from langchain_memengine.storage.schema import (
    chunks,
    embeddings,
    memories,
    supersessions,
)
from tests.fakes.clock import FixedClock
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine

TABLES = (memories, chunks, embeddings, supersessions, hidden_chunks)
GRAPH = (graph_entities, graph_names, graph_relations, graph_evidence)
WORDS = ("build", "deploy", "backup", "release", "review", "report", "budget", "office")


def rows(engine):
    """Return every column of every row of the tables, and what the graph answers."""
    found = {"neighbours": engine.graph.neighbours("build")}
    for database, tables in ((engine._database, TABLES), (engine.graph._store.get(), GRAPH)):
        with database.read() as tx:
            for table in tables:
                rows = tx.connection.execute(select(table)).all()
                found[table.name] = sorted(map(repr, rows))
    return found


def said(number: int, spelling: int) -> str:
    """Return one of several spellings of one of many sentences."""
    first, second = WORDS[number % len(WORDS)], WORDS[number // len(WORDS) % len(WORDS)]
    text = f"The {first} of the {second} takes {number} minutes and needs somebody to watch it."
    return (text, f"- {text.upper()}", f"**{text}**", f"{text} It is so.")[spelling % 4]


def fill(engine, drawn):
    engine.add_texts([said(number, spelling) for number, spelling, is_note in drawn if not is_note])
    for number, spelling, is_note in drawn:
        if is_note:
            note = engine.remember(said(number, spelling), scope="agent_notes", origin="assistant")
            first, second = WORDS[number % len(WORDS)], WORDS[number // len(WORDS) % len(WORDS)]
            engine.graph.add_triples([(first, "of", second)], evidence=note.id)


def consolidated_and_undone(drawn, order):
    """Consolidate half, then all, undo everything; return how much there was to undo."""
    half, clock, revisions = len(drawn) // 2, FixedClock(), []
    with make_engine(embeddings=FakeEmbeddings(), clock=clock) as engine:
        engine.graph.add_triples([("build", "of", "house")])
        for part in (drawn[:half], drawn[half:]):
            fill(engine, part)
            before = rows(engine)
            revisions += [one.revision for one in engine.consolidate().entries]
            clock.pass_days(1)
        order(revisions)
        for revision in revisions:
            engine.undo(revision)
        nothing = {"supersessions": [], "hidden_chunks": []}
        assert rows(engine) == {**before, **nothing}
        return len(revisions)


def test_merges_of_several_batches_are_undone_in_any_order(monkeypatch):
    monkeypatch.setattr(consolidating, "BATCH", 15)
    chance = random.Random(8)  # noqa: S311  # a shuffle, no secret
    drawn = [(i, spelling, i % 2 == 0) for i in range(40) for spelling in range(3)]
    chance.shuffle(drawn)
    assert consolidated_and_undone(drawn, chance.shuffle) == 80


@settings(max_examples=15)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), st.booleans()), max_size=10),
    st.randoms(use_true_random=False),
)
def test_any_merges_are_undone_in_any_order(drawn, chance):
    consolidated_and_undone(drawn, chance.shuffle)
