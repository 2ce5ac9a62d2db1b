"""The graph of an engine: what it answers, to whom, and how it follows the memory."""

import json
import threading
from datetime import UTC, datetime

import numpy as np
import pytest

from langchain_memengine.errors import ConfigurationError, NotFoundError, ScopeError, StorageError
from langchain_memengine.graph.documents import GraphDocument, Node
from langchain_memengine.graph.learning import Told
from langchain_memengine.graph.resolution import NameMerge
from langchain_memengine.storage import graph_reading
from langchain_memengine.storage.graph_values import Entity, Evidence, GraphCounts, Relation
from langchain_memengine.types import (
    Actor,
)
from tests.fakes.engines import make_engine, write

ANNA, BERT = Actor("anna"), Actor("bert")
TRIPLES = [
    ("Anna", "works with", "Bert"),
    ("Bert", "chose", "PostgreSQL"),
    ("Carl", "chose", "PostgreSQL"),
]


@pytest.fixture
def graph(engine):
    engine.graph.add_triples(TRIPLES)
    return engine.graph


def told(subgraph):
    return [str(relation) for relation in subgraph.relations]


def test_a_graph_nobody_made_is_empty_and_makes_no_file(tmp_path):
    write(tmp_path, "a.md", "tea")
    with make_engine(tmp_path) as engine:
        engine.sync()
        engine.search("tea")
        assert not (tmp_path / ".memengine" / "kg.sqlite").exists()
        assert engine.graph.counts() == GraphCounts(0, 0, 0)
        engine.graph.add_triples(TRIPLES)
        assert (tmp_path / ".memengine" / "kg.sqlite").exists()
    with make_engine(tmp_path, read_only=True) as engine:
        assert told(engine.graph.neighbours("carl")) == ["Carl —chose→ PostgreSQL"]


def test_a_reader_of_a_graph_nobody_made_finds_it_empty_until_somebody_makes_it(tmp_path):
    with make_engine(tmp_path) as engine:
        engine.add_texts(["Carl chose PostgreSQL."])
        with make_engine(tmp_path, read_only=True) as reader:
            assert reader.graph.counts() == GraphCounts(0, 0, 0)
            assert reader.graph.find_entities("carl") == []
            with pytest.raises(NotFoundError, match="no entity called 'carl'"):
                reader.graph.neighbours("carl")
            with pytest.raises(StorageError, match="read_only"):
                reader.graph.add_triples(TRIPLES)
            assert not (tmp_path / ".memengine" / "kg.sqlite").exists()
            engine.graph.add_triples(TRIPLES)
            assert told(reader.graph.neighbours("carl")) == ["Carl —chose→ PostgreSQL"]


def test_neighbours_and_subgraphs_are_found_by_name_in_any_case(graph):
    assert told(graph.neighbours(" ANNA ")) == ["Anna —works with→ Bert"]
    assert told(graph.neighbours("anna", hops=2)) == [
        "Anna —works with→ Bert",
        "Bert —chose→ PostgreSQL",
    ]
    assert len(told(graph.subgraph(["Anna", "Carl"], hops=1))) == 2


def test_an_unknown_name_is_refused_with_similar_ones(graph):
    with pytest.raises(NotFoundError, match=r"no entity called 'Postgres'\. Similar: PostgreSQL"):
        graph.neighbours("Postgres")
    with pytest.raises(ConfigurationError, match="names is a single text"):
        graph.subgraph("Anna")


def test_paths_are_the_shortest_ones(graph):
    graph.add_triples([("Anna", "likes", "Bert"), ("Dora", "knows", "Emil")])
    paths = [[str(one) for one in path] for path in graph.paths("Anna", "Carl")]
    rest = ["Bert —chose→ PostgreSQL", "Carl —chose→ PostgreSQL"]
    assert paths == [["Anna —likes→ Bert", *rest], ["Anna —works with→ Bert", *rest]]
    assert graph.paths("Anna", "Carl", max_hops=2) == []
    assert graph.paths("Anna", "Dora") == []
    assert graph.paths("Anna", "Anna") == []
    assert len(graph.paths("Anna", "Carl", max_paths=1)) == 1


def test_what_held_then_is_asked_for_by_time(graph):
    end = datetime(2020, 1, 1, tzinfo=UTC)
    graph.add_triples([Relation(Entity("Anna"), "led", Entity("ACME"), valid_to=end)])
    assert "Anna —led→ ACME" not in told(graph.neighbours("Anna"))
    assert "Anna —led→ ACME" in told(
        graph.neighbours("Anna", as_of=datetime(2019, 1, 1, tzinfo=UTC))
    )


def test_export_is_read_back(graph):
    with make_engine() as other:
        end = datetime(2020, 1, 1, tzinfo=UTC)
        graph.add_triples([Relation(Entity("Anna"), "led", Entity("ACME"), 0.5, valid_to=end)])
        other.graph.add_triples(json.loads(json.dumps(graph.export()))["relations"])
        assert other.graph.export() == graph.export()


def test_personal_triples_are_the_owners_alone(engine, graph):
    graph.add_triples([("Anna", "fears", "Bert")], actor=ANNA)
    assert told(graph.neighbours("Bert", actor=ANNA))[0] == "Anna —fears→ Bert"
    assert "Anna —fears→ Bert" not in told(graph.neighbours("Bert", actor=BERT))
    assert graph.forget_evidence(["app"], actor=BERT) == 0
    assert graph.forget_evidence(["app"], actor=ANNA) == 1
    assert told(graph.neighbours("Anna", actor=ANNA)) == ["Anna —works with→ Bert"]
    with pytest.raises(ScopeError):
        graph.add_triples([("a", "b", "c")], scope="global", actor=BERT)


def test_the_same_evidence_id_of_two_owners_is_two_memories(graph):
    graph.add_triples([("Anna", "knows", "a secret")], evidence="note 1", actor=ANNA)
    graph.add_triples([("Anna", "knows", "a secret")], evidence="note 1", actor=BERT)
    graph.forget_evidence(["note 1"], actor=BERT)
    assert [entity.name for entity in graph.find_entities("secret", actor=ANNA)] == ["a secret"]
    assert graph.find_entities("secret", actor=BERT) == []


def test_what_a_stored_memory_tells_is_as_visible_as_the_memory(engine):
    engine.add_texts(["Anna fears Bert."], ids=["mine"], actor=ANNA)
    engine.add_texts(["Bert chose tea."], ids=["ours"])
    engine.graph.add_triples([("Anna", "fears", "Bert")], evidence="mine", actor=ANNA)
    engine.graph.add_triples([("Bert", "chose", "tea")], evidence="ours")
    engine.graph.add_triples([("Bert", "hates", "tea")], evidence="ours", actor=BERT)
    assert told(engine.graph.neighbours("Bert", actor=Actor("carl"))) == ["Bert —chose→ tea"]
    (chunk,) = engine.search("chose tea").hits
    (relation,) = engine.graph.neighbours("tea", actor=ANNA).relations
    assert relation.evidence == (chunk.id,)
    assert len(told(engine.graph.neighbours("tea", actor=BERT))) == 2


def test_evidence_is_the_chunk_that_names_an_end(engine):
    text = "# One\n\n" + "Anna sings. " * 150 + "\n\n# Two\n\n" + "Bert cooks. " * 150
    engine.add_texts([text], ids=["long"])
    engine.graph.add_triples([("Bert", "is a", "cook"), ("Carl", "is a", "ghost")], evidence="long")
    by_source = {
        one.source.name: set(one.evidence)
        for name in ("Bert", "Carl")
        for one in engine.graph.neighbours(name).relations
    }
    holding = {hit.id for hit in engine.search("Bert cooks", 20).hits if "Bert" in hit.text}
    everything = {hit.id for hit in engine.search("Anna Bert", 20).hits}
    assert by_source == {"Bert": holding, "Carl": everything}
    assert holding < everything


def test_a_deleted_memory_takes_along_what_only_it_told(engine):
    engine.add_texts(["Anna knows Bert. Anna knows Carl.", "Anna knows Bert."], ids=["a", "b"])
    engine.graph.add_triples([("Anna", "knows", "Bert"), ("Anna", "knows", "Carl")], evidence="a")
    engine.graph.add_triples([("Anna", "knows", "Bert")], evidence="b")
    engine.delete(["a"])
    assert told(engine.graph.neighbours("Anna")) == ["Anna —knows→ Bert"]
    assert engine.graph.counts() == GraphCounts(2, 1, 1)
    engine.delete(["b"])
    assert engine.graph.counts() == GraphCounts(0, 0, 0)


def test_a_file_that_is_gone_or_changed_takes_along_what_it_told(tmp_path):
    path = write(tmp_path, "a.md", "Anna knows Bert.")
    write(tmp_path, "b.md", "Carl knows Dora.")
    with make_engine(tmp_path) as engine:
        engine.sync()
        for words in ("Anna knows Bert", "Carl knows Dora"):
            source, kind, target = words.split()
            hit = engine.search(words, 1).hits[0]
            engine.graph.add_triples([(source, kind, target)], evidence=hit.id)
        path.unlink()
        write(tmp_path, "b.md", "Carl knows nobody.")
        engine.sync()
        assert engine.graph.counts() == GraphCounts(0, 0, 0)


def test_another_process_that_deleted_is_followed_by_the_next_question(tmp_path):
    with make_engine(tmp_path) as one, make_engine(tmp_path) as other:
        one.add_texts(["Anna knows Bert."], ids=["a"])
        one.graph.add_triples([("Anna", "knows", "Bert")], evidence="a")
        other.delete(["a"])
        with pytest.raises(NotFoundError, match="What fills it: "):
            one.graph.neighbours("Anna")


def test_a_name_means_what_is_called_so_already(graph):
    known = {"name": "Robert Smith", "type": "Person", "aliases": ["Bob"]}
    graph.add_triples([{"source": known, "type": "likes", "target": "tea"}])
    graph.add_triples([{"source": "bob", "type": "hates", "target": "coffee"}])
    assert len(told(graph.neighbours("Robert Smith"))) == 2
    graph.add_triples([{"source": {"name": "Bob", "type": "Dog"}, "type": "bites", "target": "x"}])
    assert len(told(graph.neighbours("Robert Smith"))) == 2
    assert len(told(graph.neighbours("Bob"))) == 3


def test_a_private_nickname_is_not_what_others_texts_mean(graph):
    boss = {"name": "Carla Stone", "aliases": ["Boss"]}
    graph.add_triples([{"source": boss, "type": "likes", "target": "tea"}], actor=ANNA)
    graph.add_triples([("Boss", "likes", "rum")])
    assert [one.name for one in graph.find_entities("boss", actor=BERT)] == ["Boss"]
    assert told(graph.neighbours("Carla Stone", actor=ANNA)) == ["Carla Stone —likes→ tea"]


@pytest.mark.parametrize("merge", [None, NameMerge(lambda names: np.ones((len(names), 2)))])
def test_what_is_set_aside_has_no_say_in_who_is_called_so(engine, merge):
    mallory = Entity("Mallory Boss", "Person", ("Boss",))
    (hostile,) = engine.add_texts(["The boss is Mallory Boss."], ids=["h"])
    engine.graph.add_triples([Relation(mallory, "likes", Entity("rum"))], evidence=hostile)
    engine.quarantine([hostile])
    boss = Relation(Entity("Boss", "Person"), "signs", Entity("cheques"))
    engine.graph.learn([Told(Evidence("e", "shared"), (), (boss,))], merge)
    engine.release([hostile])
    assert told(engine.graph.neighbours("Mallory Boss")) == ["Mallory Boss —likes→ rum"]
    assert {one.name for one in engine.graph.find_entities("boss")} == {"Boss", "Mallory Boss"}


def test_what_was_forgotten_gave_no_name_to_what_says_the_same_as_another(engine):
    engine.add_texts(["Anna likes tea.", "Anna is Boss."], ids=["a", "h"])
    likes = Relation(Entity("Anna"), "likes", Entity("tea"))
    boss = Relation(Entity("Anna", "", ("Boss",)), "likes", Entity("rum"))
    engine.graph.learn([Told(Evidence("a", "shared"), (), (likes,), "hash")])
    engine.graph.learn([Told(Evidence("h", "shared"), (), (boss,))])
    again = engine.graph.known_texts({Evidence("b", "shared"): "hash"})
    engine.graph.learn(list(again.values()))
    engine.graph.forget_evidence(["h"])
    assert engine.graph.find_entities("Boss") == []
    assert told(engine.graph.neighbours("Anna")) == ["Anna —likes→ tea"]


def test_a_node_without_a_name_is_refused():
    with make_engine() as engine:
        with pytest.raises(ConfigurationError, match="An entity cannot be read"):
            engine.graph.add_graph_documents(
                [GraphDocument(nodes=[Node(id=" ")], relationships=[])]
            )
        assert engine.graph.counts().entities == 0


def test_whoever_looks_for_paths_reads_one_database_at_a_time(engine, graph, monkeypatch):
    around, inside, found = graph_reading.around, threading.Event(), []

    def search():  # as a search does: the graph while the state is read
        with engine._database.read():
            inside.set()
            with graph._store.get().read():
                pass

    def around_meanwhile(*arguments, **options):
        if not inside.is_set():
            threading.Thread(target=search, daemon=True).start()
            inside.wait()
        return around(*arguments, **options)

    monkeypatch.setattr(graph_reading, "around", around_meanwhile)
    asking = threading.Thread(target=lambda: found.extend(graph.paths("Anna", "Carl")), daemon=True)
    asking.start()
    asking.join(10)
    assert len(found) == 1
