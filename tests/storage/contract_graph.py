"""What every database must do with the graph."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from langchain_memengine.storage import (
    graph,
    graph_entities,
    graph_meta,
    graph_reading,
    graph_vectors,
)
from langchain_memengine.storage.graph_values import Entity, Evidence, GraphCounts, Relation

NOW = datetime(2026, 5, 19, 12, 0, tzinfo=UTC)
ALL = ("shared", "personal/anna")
ANNA = Entity("Anna", "Person")
BERT = Entity("Bert", "Person")
CARL = Entity("Carl", "Person")
DB = Entity("PostgreSQL", "Database")
SHARED = Evidence("e1", "shared")


def learn(database, evidence, *relations, entities=()):
    with database.write() as tx:
        graph.learn(tx, [(evidence, entities, relations)], now=NOW)


def around(database, entity, hops, partitions=ALL, at=NOW, **limits):
    with database.read() as tx:
        return graph_reading.around(tx, [entity.id], hops, partitions=partitions, at=at, **limits)


def told(subgraph):
    return [str(relation) for relation in subgraph.relations]


def size(database, partitions=None):
    with database.read() as tx:
        return graph.counts(tx, partitions=partitions)


class GraphContract:
    """Entities, relations and their evidence."""

    @pytest.fixture
    def database(self, graph_database):
        return graph_database

    @pytest.fixture
    def chain(self, database):
        """Anna knows Bert, Bert knows Carl, Carl chose PostgreSQL."""
        learn(database, SHARED, Relation(ANNA, "knows", BERT))
        learn(database, Evidence("e2", "shared"), Relation(BERT, "knows", CARL))
        learn(database, Evidence("e3", "shared"), Relation(CARL, "chose", DB))
        return database

    def test_a_new_graph_is_empty(self, database):
        assert size(database) == GraphCounts(0, 0, 0)
        assert around(database, ANNA, 2).entities == ()

    @pytest.mark.parametrize("hops", [0, 1, 2, 3, 9])
    def test_hops_are_relations_followed_in_either_direction(self, chain, hops):
        found = around(chain, BERT, hops)
        expected = [
            [],
            ["Anna —knows→ Bert", "Bert —knows→ Carl"],
            ["Anna —knows→ Bert", "Bert —knows→ Carl", "Carl —chose→ PostgreSQL"],
        ]
        assert told(found) == expected[min(hops, 2)]
        distance = {entity.name: found.hops[entity.id] for entity in found.entities}
        everyone = {"Bert": 0, "Anna": 1, "Carl": 1, "PostgreSQL": 2}
        assert distance == {name: hop for name, hop in everyone.items() if hop <= hops}
        assert not found.is_cut

    def test_a_circle_ends(self, chain):
        learn(chain, Evidence("e4", "shared"), Relation(DB, "suits", ANNA), Relation(DB, "is", DB))
        assert len(told(around(chain, ANNA, 6))) == 5

    def test_learning_the_same_again_adds_nothing(self, chain):
        before = size(chain), around(chain, ANNA, 3)
        learn(chain, SHARED, Relation(Entity("ANNA ", "person"), "Knows", BERT))
        after = size(chain), around(chain, ANNA, 3)
        assert after[0] == before[0] == GraphCounts(4, 3, 3)
        assert [r.evidence for r in after[1].relations] == [r.evidence for r in before[1].relations]

    def test_the_surest_evidence_tells_the_confidence(self, database):
        learn(database, SHARED, Relation(ANNA, "knows", BERT, confidence=0.4))
        learn(database, Evidence("e2", "shared"), Relation(ANNA, "knows", BERT, confidence=0.9))
        (relation,) = around(database, ANNA, 1).relations
        assert (relation.confidence, relation.evidence) == (0.9, ("e1", "e2"))

    def test_equal_names_of_different_types_stay_apart(self, database):
        fruit, company = Entity("Apple", "Fruit"), Entity("Apple", "Company")
        learn(database, SHARED, Relation(ANNA, "eats", fruit), Relation(BERT, "leads", company))
        assert told(around(database, fruit, 2)) == ["Anna —eats→ Apple"]
        with database.read() as tx:
            called = graph_entities.ids_called(tx, ["apple", "pear"], partitions=ALL)
        assert {one: sorted(ids) for one, ids in called.items()} == {
            "apple": sorted([fruit.id, company.id])
        }

    def test_an_alias_finds_the_entity_and_is_listed(self, database):
        learn(database, SHARED, entities=[Entity("Robert Smith", "Person", ("Bob",))])
        with database.read() as tx:
            (ids,) = graph_entities.ids_called(tx, ["bob"], partitions=ALL).values()
            known = graph_entities.entities(tx, ids, partitions=ALL)
        (entity,) = known.values()
        assert (entity.name, entity.type, entity.aliases) == ("Robert Smith", "Person", ("Bob",))

    def test_names_are_searched_by_their_parts_literally(self, database):
        names = ["100% Cotton", "1000 Cottons", "Cotton", "Under_score"]
        learn(database, SHARED, entities=[Entity(name) for name in names])
        with database.read() as tx:
            found = {
                text: [
                    entity.name
                    for entity in graph_entities.search_names(tx, text, partitions=ALL, limit=2)
                ]
                for text in ("COTTON", "0% c", "r_s", "!")
            }
        assert found == {
            "COTTON": ["Cotton", "100% Cotton"],
            "0% c": ["100% Cotton"],
            "r_s": ["Under_score"],
            "!": [],
        }

    def test_what_is_anothers_is_neither_walked_nor_named(self, chain):
        mine = Evidence("p1", "personal/anna")
        learn(chain, mine, Relation(DB, "bores", ANNA), entities=[Entity("Carl", "Person", ("C",))])
        assert "PostgreSQL —bores→ Anna" in told(around(chain, ANNA, 1))
        seen = around(chain, ANNA, 6, partitions=("shared", "personal/bert"))
        assert told(seen) == [
            "Anna —knows→ Bert",
            "Bert —knows→ Carl",
            "Carl —chose→ PostgreSQL",
        ]
        with chain.read() as tx:
            assert not graph_entities.ids_called(tx, ["c"], partitions=("shared",))
            assert graph_entities.ids_called(tx, ["c"], partitions=("personal/anna",))
        assert size(chain, ("shared",)) == GraphCounts(4, 3, 3)
        assert size(chain, ("personal/bert",)) == GraphCounts(0, 0, 0)

    def test_a_relation_known_to_two_partitions_is_one(self, database):
        learn(database, SHARED, Relation(ANNA, "knows", BERT))
        learn(database, Evidence("p1", "personal/anna"), Relation(ANNA, "knows", BERT))
        (relation,) = around(database, ANNA, 1).relations
        assert relation.evidence == ("e1", "p1")
        (relation,) = around(database, ANNA, 1, partitions=("shared",)).relations
        assert relation.evidence == ("e1",)

    @pytest.mark.parametrize(
        ("days", "names"),
        [(-1, ["Carl"]), (0, ["Bert", "Carl"]), (9, ["Bert", "Carl"]), (10, ["Carl"])],
    )
    def test_a_relation_is_there_while_it_holds(self, database, days, names):
        end = NOW + timedelta(days=10)
        held = Relation(ANNA, "leads", BERT, valid_from=NOW, valid_to=end)
        learn(database, SHARED, held, Relation(ANNA, "leads", CARL))
        found = around(database, ANNA, 1, at=NOW + timedelta(days=days))
        assert [relation.target.name for relation in found.relations] == names

    def test_a_walk_reads_the_nearest_up_to_its_limit(self, chain):
        found = around(chain, ANNA, 3, max_relations=2)
        assert told(found) == ["Anna —knows→ Bert", "Bert —knows→ Carl"]
        assert found.is_cut

    def test_a_relation_counts_once_however_often_a_walk_meets_it(self, database):
        learn(database, SHARED, *(Relation(ANNA, "knows", one) for one in (BERT, CARL)))
        learn(database, SHARED, Relation(CARL, "chose", DB))
        for hops in (2, 6):
            found = around(database, ANNA, hops, max_relations=3)
            assert (len(found.relations), found.is_cut) == (3, False)

    def test_forgetting_the_only_evidence_forgets_all_of_it(self, chain):
        learn(chain, Evidence("e4", "shared"), Relation(ANNA, "knows", BERT))
        with chain.write() as tx:
            assert graph.forget_evidence(tx, ["e1", "e3", "unknown"]) == 2
        assert told(around(chain, ANNA, 6)) == ["Anna —knows→ Bert", "Bert —knows→ Carl"]
        assert around(chain, ANNA, 1).relations[0].evidence == ("e4",)
        assert size(chain) == GraphCounts(3, 2, 2)
        with chain.read() as tx:
            assert not graph_entities.ids_called(tx, ["postgresql"], partitions=ALL)

    def test_a_name_goes_with_the_memory_that_used_it(self, database):
        learn(database, SHARED, entities=[Entity("Robert Smith", "Person", ("Bobby Secret",))])
        learn(database, Evidence("e2", "shared"), entities=[Entity("Robert Smith", "Person")])
        with database.write() as tx:
            graph.forget_evidence(tx, ["e1"])
        with database.read() as tx:
            assert not graph_entities.ids_called(tx, ["bobby secret"], partitions=ALL)
            (entity,) = graph_entities.search_names(tx, "smith", partitions=ALL, limit=9)
        assert entity.aliases == ()

    def test_content_is_noted_until_its_memory_is_forgotten(self, database):
        mine = Evidence("p1", "personal/anna")
        with database.write() as tx:
            graph.note_extracted(tx, {SHARED: "h1", mine: "h1", Evidence("e2", "shared"): "h2"})
        with database.read() as tx:
            assert graph.extracted(tx, ["h1", "h9"], partitions=ALL) == {"h1": ["e1", "p1"]}
            assert graph.extracted(tx, ["h1"], partitions=("shared",)) == {"h1": ["e1"]}
        with database.write() as tx:
            assert graph.forget_evidence(tx, ["e1"]) == 1
        with database.read() as tx:
            assert graph.extracted(tx, ["h1", "h2"], partitions=("shared",)) == {"h2": ["e2"]}

    def test_evidence_is_outdated_once_its_text_has_another_hash(self, database):
        mine = Evidence("e1", "personal/anna")
        with database.write() as tx:
            graph.note_extracted(tx, {SHARED: "h1"})
            assert graph.outdated(tx, {SHARED: "h1", mine: "h2"}) == []
            assert graph.outdated(tx, {SHARED: "h2", mine: "h2"}) == [SHARED]

    def test_what_a_memory_told_is_told_again(self, chain):
        with chain.read() as tx:
            named, relations = graph_reading.told_by(tx, "e1", partitions=("shared",))
            assert graph_reading.told_by(tx, "e1", partitions=("personal/anna",)) == ([], [])
        assert sorted(entity.name for entity in named) == ["Anna", "Bert"]
        assert [str(relation) for relation in relations] == ["Anna —knows→ Bert"]

    def test_all_relations_are_listed_whatever_their_number(self, database):
        many = [Relation(ANNA, f"calls {i}", BERT) for i in range(1203)]
        learn(database, SHARED, *many)
        with database.read() as tx:
            listed = list(graph_reading.relations_of(tx, partitions=ALL))
        assert {one.type for one in listed} == {one.type for one in many}
        assert len(listed) == 1203

    def test_notes_are_kept(self, database):
        with database.write() as tx:
            graph_meta.set_meta(tx, "synced", "1")
            graph_meta.set_meta(tx, "synced", "2")
        with database.read() as tx:
            assert (graph_meta.get_meta(tx, "synced"), graph_meta.get_meta(tx, "x")) == ("2", None)

    def test_names_have_one_vector_each_and_lose_it_with_their_last_memory(self, database):
        learn(database, SHARED, Relation(ANNA, "knows", BERT))
        learn(database, Evidence("e2", "personal/anna"), Relation(BERT, "knows", CARL))

        def lacking(model, limit=9):
            with database.read() as tx:
                return graph_vectors.missing(tx, model, limit=limit)

        def known(model):
            with database.read() as tx:
                return graph_vectors.version(tx), *graph_vectors.of_model(tx, model)

        assert lacking("m", limit=2) == ["anna", "bert"]
        assert known("m")[0] == 0
        vectors = {name: np.full(2, i, np.float32) for i, name in enumerate(lacking("m"))}
        with database.write() as tx:
            graph_vectors.put(tx, vectors, "m")
        assert lacking("m") == []
        version, keys, matrix = known("m")
        assert (version, keys, matrix.tolist()) == (
            1,
            ["anna", "bert", "carl"],
            [[0, 0], [1, 1], [2, 2]],
        )
        assert (lacking("other"), known("other")[1:][0]) == (["anna", "bert", "carl"], [])
        with database.write() as tx:
            graph.forget_evidence(tx, ["e2"])
        assert known("m")[:2] == (2, ["anna", "bert"])
        with database.write() as tx:
            graph_vectors.put(tx, {"anna": np.ones(3, np.float32)}, "other")
        assert (known("m")[1], known("other")[1]) == (["bert"], ["anna"])
        assert known("other")[2].shape == (1, 3)
