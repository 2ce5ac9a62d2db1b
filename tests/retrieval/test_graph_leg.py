"""The graph leg: questions that need two memories joined."""

from contextlib import contextmanager

import numpy as np
import pytest
from langchain_core.documents import Document

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.faces.retriever import MemEngineRetriever
from langchain_memengine.graph.documents import GraphDocument
from langchain_memengine.rankings import RANKINGS
from langchain_memengine.retrieval import graph_leg, visibility
from langchain_memengine.retrieval.fusion import Candidates
from langchain_memengine.retrieval.graph_leg import GraphQuery, nearness
from langchain_memengine.storage.graph_values import Entity, Relation, entity_id
from langchain_memengine.types import (
    LOCAL_ADMIN,
    Actor,
    Filter,
)
from tests.fakes.clock import START
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine, texts

MEMORIES = {
    "a": "Anna shares an office with Bert.",
    "b": "Bert picked the storage layer for the shop.",
    "c": "The canteen serves soup.",
    "d": "Dora feeds the cat.",
}
TRIPLES = {
    "a": [("Anna", "shares an office with", "Bert")],
    "b": [("Bert", "picked", "storage layer")],
    "d": [("Dora", "feeds", "cat")],
}


READABLE = visibility.readable_partitions(LOCAL_ADMIN)


@pytest.fixture(params=[None, FakeEmbeddings()])
def engine(request):
    with make_engine(embeddings=request.param) as engine:
        engine.add_texts(list(MEMORIES.values()), ids=list(MEMORIES))
        for evidence, triples in TRIPLES.items():
            engine.graph.add_triples(triples, evidence=evidence)
        yield engine


@pytest.mark.parametrize("ranking", sorted(RANKINGS))
def test_two_memories_are_joined_if_asked(engine, ranking):
    asked = "What is Anna doing?"
    flat = texts(engine.search(asked, ranking=ranking))
    assert MEMORIES["b"] not in flat[:1]
    result = engine.search(asked, ranking=ranking, graph_hops=2)
    if ranking != "decsr":  # which scores keyword matches alone
        assert set(texts(result)[:2]) == {MEMORIES["a"], MEMORIES["b"]}
    joined = {hit.text: hit.receipt.graph_rank for hit in result.hits}
    assert joined[MEMORIES["a"]] is not None
    assert joined.get(MEMORIES["d"]) is None
    assert not result.degraded


def test_hops_bound_the_walk(engine):
    engine.add_texts(["The shop sells tea."], ids=["e"])
    engine.graph.add_triples([("storage layer", "serves", "shop")], evidence="b")
    engine.graph.add_triples([("shop", "sells", "tea")], evidence="e")
    reached = {}
    for hops in (1, 2):
        hits = engine.search("Anna", 9, graph_hops=hops).hits
        reached[hops] = {hit.text for hit in hits if hit.receipt.graph_rank}
    assert reached[1] == {MEMORIES["a"], MEMORIES["b"]}
    assert reached[2] == {MEMORIES["a"], MEMORIES["b"], "The shop sells tea."}


def test_a_later_hop_goes_on_from_what_most_relations_led_to(engine, monkeypatch):
    monkeypatch.setattr(graph_leg, "MAX_FRONTIER", 1)
    engine.graph.add_triples([("Anna", "greets", "Carl"), ("Anna", "likes", "Carl")])
    for one, text in (("e", "Carl sells tea."), ("f", "Anna met Ed, who sells rice.")):
        engine.add_texts([text], ids=[one])
    engine.graph.add_triples([("Carl", "sells", "tea")], evidence="e")
    engine.graph.add_triples([("Ed", "sells", "rice")], evidence="f")
    engine.graph.add_triples([("Anna", "met", "Ed")])
    (anna,), _ = engine._searcher._graph.named("Anna", READABLE, by_vector=False)
    query = GraphQuery("Anna", 2, READABLE, START, (anna,), 6)
    with engine.graph._store.get().read() as tx:
        rows = engine._searcher._graph._rows(tx, tx, query, [anna])
    # Two relations lead to Carl and one to each of Bert and Ed: only Carl's are followed.
    assert [(row.hop, row.type) for row in sorted(rows, key=lambda row: (row.hop, row.type))] == [
        (0, "greets"),
        (0, "likes"),
        (0, "met"),
        (0, "shares an office with"),
        (1, "sells"),
    ]
    assert rows[-1].target == entity_id("tea")


def test_whom_everybody_speaks_of_leads_nowhere():
    said = [f"{word} is what Ann says" for word in ("tea", "rain", "snow", "wind", "fog", "sun")]
    with make_engine() as engine:
        engine.add_texts([*said, "Ann plays chess"], ids=list("abcdefg"))
        for one, text in zip("abcdef", said, strict=True):
            engine.graph.add_triples([("Ann", "says", text.split()[0])], evidence=one)
        joined = engine.search("does Ann play chess", 9, graph_hops=2)
        assert texts(joined)[0] == "Ann plays chess"
        assert joined.hits[0].receipt.graph_rank is None
        assert {hit.receipt.graph_rank for hit in joined.hits[1:]} != {None}


def test_the_ranking_may_ask_for_it_and_a_weight_of_0_only_adds_candidates(engine):
    ranking = RANKINGS["balanced"].model_copy(update={"graph_hops": 2})
    joined = engine.search("Anna", ranking=ranking)
    assert joined.hits == engine.search("Anna", graph_hops=2).hits
    assert joined.hits[1].text == MEMORIES["b"]
    retriever = MemEngineRetriever(engine=engine, graph_hops=2)
    assert [one.page_content for one in retriever.invoke("Anna")] == texts(joined)
    why = engine.explain("Anna", joined.hits[1].id, ranking=ranking)
    assert "the graph leads to it" in why.reason
    weightless = ranking.model_copy(update={"graph_weight": 0.0})
    assert engine.search("Anna", ranking=weightless).hits[1].score < joined.hits[1].score / 2
    with pytest.raises(ConfigurationError):
        engine.search("Anna", graph_hops=-1)


def test_filters_and_owners_hold_for_the_graph_too(engine):
    engine.add_texts(["Bert owes Carl money."], ids=["p"], actor=Actor("carl"))
    engine.graph.add_triples([("Bert", "owes", "Carl")], evidence="p", actor=Actor("carl"))
    found = engine.search("Anna", 9, graph_hops=2, actor=Actor("carl"))
    assert "Bert owes Carl money." in texts(found)
    assert "Bert owes Carl money." not in texts(engine.search("Anna", 9, graph_hops=2))
    narrow = Filter(source="doc:/a")
    assert texts(engine.search("Anna", 9, graph_hops=2, filter=narrow)) == [MEMORIES["a"]]


def test_a_forgotten_memory_is_no_way_any_more(engine):
    engine.delete(["a"])
    assert MEMORIES["b"] not in texts(engine.search("Anna", graph_hops=2))


def test_what_is_quarantined_is_no_way_until_it_is_released(engine):
    engine.add_texts(["Bert owes Anna."], ids=["e"])
    engine.graph.add_triples([("Bert", "owes", "Anna")], evidence="e")
    engine.quarantine(["a", "e"])
    led = {hit.text: hit.receipt.graph_rank for hit in engine.search("Anna", graph_hops=2).hits}
    assert led.get(MEMORIES["b"]) is None
    engine.graph.add_triples([("Anna", "trusts", "Bert")])  # that, nobody set aside
    assert engine.search("Anna", graph_hops=2).hits[0].text == MEMORIES["b"]
    engine.release(["a"])
    assert set(texts(engine.search("Anna", graph_hops=2))) == {MEMORIES["a"], MEMORIES["b"]}


def test_a_memory_that_another_process_deleted_is_no_way_either(tmp_path):
    with make_engine(tmp_path) as one, make_engine(tmp_path) as other:
        one.add_texts(
            ["Anna likes tea.", "Bert sits near Anna.", "Bert hums."], ids=["a", "b", "c"]
        )
        one.graph.add_triples([("Bert", "sits near", "Anna")], evidence="b")
        one.graph.add_triples([("Bert", "hums", "songs")], evidence="c")
        assert "Bert hums." in texts(one.search("Anna", graph_hops=2))
        other._indexer.delete(["doc:/b"])  # and it ends before its graph catches up
        assert texts(one.search("Anna", graph_hops=2)) == ["Anna likes tea."]


def test_what_is_read_does_not_grow_with_memories_that_nothing_leads_to(engine):
    few, many = (_steps_with_strangers(engine, number) for number in (20, 120))
    assert few > 100
    assert many < few + 50  # one more look at each of them would be 100 steps or more


def _steps_with_strangers(engine, number):
    """Return the steps of SQLite's machine that a search takes beside so many strangers."""
    names = [f"stranger {i}" for i in range(number)]
    engine.add_texts([f"{name} waves." for name in names], ids=names)
    told = [
        GraphDocument.of([], [Relation(Entity(name), "waves at", Entity(f"ship {name}"))], one)
        for name in names
        if (one := Document("", id=name))
    ]
    engine.graph.add_graph_documents(told)
    engine.search("Anna", graph_hops=2)  # the indexes catch up
    steps = []
    for database in (engine._database, engine.graph._store.get()):
        with database.read() as tx:
            driver = tx.connection.connection.dbapi_connection
            driver.set_progress_handler(lambda: steps.append(1), 1)
    assert engine.search("Anna", graph_hops=2).hits[1].text == MEMORIES["b"]
    return len(steps)


def test_a_store_without_a_graph_answers_as_ever():
    with make_engine() as engine:
        engine.add_texts(list(MEMORIES.values()))
        assert engine.search("Anna", graph_hops=2).hits == engine.search("Anna").hits


def test_a_graph_that_fails_degrades_the_answer(engine):
    engine.graph.counts()
    engine._searcher._graph._store.get().close()
    result = engine.search("Anna", graph_hops=2)
    assert texts(result) == [MEMORIES["a"]]
    assert [one.partition(":")[0] for one in result.degraded] == ["graph"]


def test_a_name_that_is_spelt_otherwise_is_a_start_once_it_is_embedded():
    carl = Actor("carl")
    with make_engine(embeddings=FakeEmbeddings()) as engine:
        engine.graph.add_triples([("acme trading company", "employs", "Bert")])
        engine.graph.add_triples([("acme trading inc", "owes", "Carl")], actor=carl)

        def named(text, actor=LOCAL_ADMIN, *, by_vector=True):
            partitions = visibility.readable_partitions(actor)
            return engine._searcher._graph.named(text, partitions, by_vector=by_vector)

        def meant(*names):
            return tuple(entity_id(name) for name in names), ()

        both = "Who is Bert to trading company acme, please?"
        assert named(both) == meant("Bert")
        engine.run_jobs()
        assert named(both) == meant("Bert", "acme trading company")
        assert named(both, by_vector=False) == meant("Bert")
        assert named("trading inc acme", carl) == meant("acme trading inc")
        assert named("trading inc acme") == meant()
        assert named("tea") == meant()


def test_names_are_compared_while_no_transaction_is_open(monkeypatch):
    embeddings = FakeEmbeddings()
    with make_engine(embeddings=embeddings) as engine:
        engine.add_texts(["Bert hums."], ids=["b"])
        engine.graph.add_triples([("acme company", "employs", "Bert")], evidence="b")
        engine.run_jobs()
        opened = []
        for database in (engine._database, engine.graph._store.get()):
            monkeypatch.setattr(database, "read", _counting(database.read, opened))
        asks = embeddings.embed_documents
        monkeypatch.setattr(
            embeddings, "embed_documents", lambda texts: asks(texts) if not opened else 1 / 0
        )
        assert not engine.search("company acme", graph_hops=1).degraded
        engine.graph.find_entities("company acme")


def test_an_embedder_that_fails_at_names_costs_the_other_spellings_only():
    embeddings = FakeEmbeddings()
    with make_engine(embeddings=embeddings) as engine:
        engine.add_texts(["Anna hums."], ids=["a"])
        engine.graph.add_triples([("Anna", "hums", "songs")], evidence="a")
        engine.run_jobs()
        embeddings._faults = [None, *[ConnectionError()] * 9]  # the query itself comes first
        result = engine.search("Anna with Carlo", graph_hops=1)
        assert [one.partition(":")[0] for one in result.degraded] == ["graph"]
        assert result.hits[0].receipt.graph_rank == 1


def test_nearness_is_the_cosine_beyond_chance_or_else_what_was_ranked_by():
    def candidates(cosine):
        none = np.zeros(3, np.int64)
        return Candidates(
            np.array([7, 8, 9]), none, np.zeros(3), none, np.array(cosine), *[none] * 2
        )

    order, fused = np.array([2, 0, 1]), np.array([1.0, 0.5, 2.0])
    nan = float("nan")
    # 0.6 and 0.3 exceed 0.2 by 0.4 and 0.1; without any cosine 1, 0.5 and 2 are shares of 2.
    near = nearness(candidates([0.6, nan, 0.3]), order, fused, 0.2)
    assert near == pytest.approx({9: 0.25, 7: 1.0, 8: 0.0})
    assert nearness(candidates([nan] * 3), order, fused, 0.2) == {9: 1.0, 7: 0.5, 8: 0.25}
    assert nearness(candidates([nan] * 3), order[:0], fused, 0.2) == {}


def _counting(read, opened):
    @contextmanager
    def counted():
        with read() as tx:
            opened.append(tx)
            try:
                yield tx
            finally:
                opened.pop()

    return counted
