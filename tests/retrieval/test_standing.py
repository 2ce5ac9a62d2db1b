"""What a memory told in the graph holds as long as the memory does."""

from datetime import timedelta

import pytest
from langchain_core.messages import HumanMessage

from langchain_memengine.conversation.lineage import join_heads
from langchain_memengine.errors import NotFoundError
from langchain_memengine.retrieval.record_chunks import record_source
from langchain_memengine.storage.graph_values import Entity, GraphCounts, Relation
from langchain_memengine.types import Actor
from tests.fakes.clock import START
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine

ANN, ADMIN = Actor("ann"), Actor("root", is_admin=True)
DAY = timedelta(days=1)


@pytest.fixture
def engine(clock):
    with make_engine(embeddings=FakeEmbeddings(), clock=clock) as engine:
        yield engine


def told(engine, city, actor=ANN, **options):
    """Remember where Ann lives, as a memory that the graph has read."""
    record = engine.remember(f"Ann lives in {city}.", actor=actor, **options)
    hits = engine.search(f"Ann lives in {city}", actor=actor).hits
    (evidence,) = [hit.id for hit in hits if hit.source == record_source(record.id)]
    engine.graph.add_triples([("Ann", "lives in", city)], evidence=evidence, actor=actor)
    return record


def homes(engine, actor=ANN, **options):
    around = engine.graph.neighbours("Ann", actor=actor, **options)
    return [one.target.name for one in around.relations]


def test_what_a_contradicted_fact_told_ends_and_an_undo_brings_it_back(engine, clock):
    rome = told(engine, "Rome")
    clock.pass_days(2)
    bern = told(engine, "Bern")
    assert homes(engine) == ["Bern", "Rome"]
    engine.supersede(rome.id, bern.id, actor=ANN)
    assert homes(engine) == ["Bern"]
    assert engine.graph.paths("Ann", "Rome", actor=ANN) == []
    assert homes(engine, as_of=START + DAY) == ["Bern", "Rome"]  # it held then
    assert {
        one["target"]["name"]: one["valid_to"]
        for one in engine.graph.export(actor=ANN)["relations"]
    } == {"Bern": None, "Rome": (START + 2 * DAY).isoformat()}
    assert [one.name for one in engine.graph.find_entities("rome", actor=ANN)] == ["Rome"]
    *_, revision = engine.revisions(rome.id, actor=ANN)
    engine.undo(revision.id, actor=ANN)
    assert homes(engine) == ["Bern", "Rome"]


def test_what_another_memory_tells_as_well_goes_on(engine):
    rome, bern = told(engine, "Rome", id="1"), told(engine, "Bern")
    again = told(engine, "Rome", id="2")
    engine.supersede(rome.id, bern.id, actor=ANN)
    (relation,) = engine.graph.neighbours("Rome", actor=ANN).relations
    assert (len(relation.evidence), relation.valid_to) == (2, None)
    engine.supersede(again.id, bern.id, actor=ANN)
    assert homes(engine) == ["Bern"]


def test_what_is_set_aside_contradicts_nothing(engine):
    rome, bern = told(engine, "Rome"), told(engine, "Bern")
    engine.supersede(rome.id, bern.id, actor=ANN)
    engine.quarantine([bern.id], actor=ADMIN)
    assert homes(engine) == ["Rome"]


def test_what_was_merged_holds_as_long_as_what_says_the_same(engine, clock):
    for _ in range(2):
        notes = told(engine, "Rome", scope="agent_notes", origin="assistant", actor=ADMIN)
        clock.pass_days(1)
    (merged,) = engine.consolidate().entries
    assert merged.kept_id == notes.id
    assert homes(engine, ADMIN) == ["Rome"]
    later = engine.remember("Ann lives in Bern.", scope="agent_notes", origin="assistant")
    engine.supersede(notes.id, later.id)
    assert homes(engine, ADMIN) == []
    engine.undo(engine.revisions(notes.id)[-1].id)
    assert homes(engine, ADMIN) == ["Rome"]


def test_what_was_folded_into_the_pinned_facts_holds_on(tmp_path, clock):
    with make_engine(tmp_path, embeddings=FakeEmbeddings(), clock=clock) as engine:
        told(engine, "Rome", actor=ADMIN)
        clock.pass_days(40)
        assert engine.consolidate(fold=True).counts["folded"] == 1
        assert homes(engine, ADMIN) == ["Rome"]


def archived(engine, clock, text, head):
    """Archive a message on a branch of a conversation; return the branch's new head."""
    message = HumanMessage(text, id=text)
    update = engine.archive.commit("t", head, "archive", [message], owner="ann", now=clock.now)
    return join_heads(head, update)


def test_an_abandoned_branch_told_nothing(engine, clock):
    archived(engine, clock, "Ann lives in Rome", "")
    (hit,) = engine.search("Rome", 1, actor=ANN).hits
    engine.graph.add_triples([("Ann", "lives in", "Rome")], evidence=hit.id, actor=ANN)
    assert homes(engine) == ["Rome"]
    clock.pass_days(1)
    archived(engine, clock, "Ann lives in Bern", "")  # it went on from its beginning
    assert engine.search("Rome", 1, actor=ANN).hits == ()
    with pytest.raises(NotFoundError, match="no entity called 'Ann'"):
        homes(engine)


def test_no_name_is_known_from_an_abandoned_branch_until_it_goes_on(engine, clock):
    told(engine, "Rome")
    head = archived(engine, clock, "Ann, called Nan, lives in Bern", "")
    (hit,) = engine.search("Nan", 1, actor=ANN).hits
    nan = Entity("Ann", aliases=("Nan",))
    told_there = [Relation(nan, "lives in", Entity("Bern"))]
    engine.graph.add_triples(told_there, evidence=hit.id, actor=ANN)
    names = ["Ann", "Bern", "Rome"]

    def known():
        found = [engine.graph.find_entities(name, actor=ANN) for name in (*names, "nan")]
        return [[(one.name, *one.aliases) for one in some] for some in found]

    everything = [[("Ann", "Nan")], [("Bern",)], [("Rome",)], [("Ann", "Nan")]]
    assert known() == everything
    assert engine.graph.counts(actor=ANN) == GraphCounts(entities=3, relations=2, evidence=2)
    archived(engine, clock, "Ann is silent", "")
    assert known() == [[("Ann",)], [], [("Rome",)], []]
    assert engine.graph.counts(actor=ANN) == GraphCounts(entities=2, relations=1, evidence=1)
    assert [one.name for one in engine.graph.neighbours("ann", 3, actor=ANN).entities] == [
        "Ann",
        "Rome",
    ]
    archived(engine, clock, "Ann speaks", head)
    assert known() == everything
