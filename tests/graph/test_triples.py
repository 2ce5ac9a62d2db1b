"""Replies of every shape that was seen in the wild keep what they tell."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.graph.triples import read_triples, salvage
from langchain_memengine.storage.graph_values import Entity, Relation

ANNA = {"name": "Anna", "type": "Person"}
WORKS = {"source": "Anna", "type": "works at", "target": "ACME"}
BOTH = {"entities": [ANNA, {"name": "ACME", "type": "Company"}], "relations": [WORKS]}


def told(reply):
    found = salvage(reply)
    return [str(relation) for relation in found.relations], len(found.rejected)


@pytest.mark.parametrize(
    "reply",
    [
        BOTH,
        json.dumps(BOTH),
        f"Here you are:\n```json\n{json.dumps(BOTH)}\n```\nAnything else?",
        [WORKS],
        json.dumps([WORKS]),
        WORKS,
        [["Anna", "works at", "ACME"]],
        {"entities": json.dumps(BOTH["entities"]), "relations": json.dumps([WORKS])},
        {"entities": BOTH["entities"], "relations": WORKS},
        {"relations": json.dumps(WORKS)},
        {"relations": [json.dumps(WORKS)]},
        {"nodes": [{"id": "Anna"}], "relationships": [WORKS]},
        {"triples": [{"subject": "Anna", "predicate": "works at", "object": "ACME"}]},
        {"edges": [{"from": "Anna", "relation": "works at", "to": "ACME"}]},
        {"relations": [{"head": "Anna", "relation": {"type": "works at"}, "tail": "ACME"}]},
        {"relations": [{**WORKS, "source": ANNA, "target": {"id": "ACME", "type": "Company"}}]},
        {"facts": [{"source_node_id": "Anna", "label": "works at", "target_node_id": "ACME"}]},
        {"relations": [{"Subject": "Anna", "Relation": "works at", "Object": "ACME"}]},
        {"relations": [{**WORKS, "confidence": "rather sure", "since": 2020}]},
    ],
)
def test_a_reply_of_another_shape_is_read(reply):
    assert told(reply) == (["Anna —works at→ ACME"], 0)


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ({**WORKS, "source": None}, "has no source"),
        ({"source": "Anna", "type": "works at"}, "has no target"),
        ({**WORKS, "type": None}, "has no relation"),
        ({**WORKS, "source": {"id": None, "type": "Person"}}, "has no source"),
        ({**WORKS, "target": ["ACME"]}, "has a target that is no name"),
        ({**WORKS, "target": "..."}, "has a target without a letter"),
        ({**WORKS, "target": "x" * 256}, "has a target of more than 255 characters"),
        (["Anna", "works at"], "has 2 parts instead of 3"),
        ("Anna works at ACME", "is no triple"),
        (7, "is no triple"),
        (None, "is no triple"),
    ],
)
def test_only_the_bad_triple_is_lost_and_told_why(bad, reason):
    found = salvage({"relations": [WORKS, bad, ["Bert", "knows", "Anna"]]})
    assert [str(one) for one in found.relations] == ["Anna —works at→ ACME", "Bert —knows→ Anna"]
    (rejected,) = found.rejected
    assert rejected.reason == reason
    assert json.dumps(bad)[:200] == rejected.part


def test_a_null_node_id_loses_that_node_only():
    found = salvage({"nodes": [{"id": None, "type": "Person"}, ANNA], "relations": []})
    assert [entity.name for entity in found.entities] == ["Anna"]
    assert [one.reason for one in found.rejected] == ["has no entity"]


def test_listed_entities_give_the_ends_their_types_and_aliases():
    listed = [{"id": "ACME", "type": "Company", "aliases": ["Acme Inc.", "acme", None]}]
    (relation,) = salvage({"entities": [ANNA, *listed], "relations": [WORKS]}).relations
    assert relation.source == Entity("Anna", "Person")
    assert relation.target == Entity("ACME", "Company", ("Acme Inc.",))


@pytest.mark.parametrize(
    ("sure", "confidence"), [(0.25, 0.25), ("0.5", 0.5), (7, 1.0), (-1, 0.0), ("nan", 1.0)]
)
def test_confidence_is_a_number_from_0_to_1(sure, confidence):
    (relation,) = salvage([{**WORKS, "confidence": sure}]).relations
    assert relation.confidence == confidence


@pytest.mark.parametrize("reply", [None, "", "I cannot do that.", 7, {"answer": 1}, "{", "[1"])
def test_what_is_no_answer_says_so(reply):
    found = salvage(reply)
    assert not found.is_reply
    assert (found.entities, found.relations, len(found.rejected)) == ((), (), 1)


@pytest.mark.parametrize("reply", [[], {"entities": []}, '{"relations": []}'])
def test_an_empty_answer_is_an_answer(reply):
    found = salvage(reply)
    assert (found.is_reply, found.relations, found.rejected) == (True, (), ())


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["source", "type", "target", "id", "relations", "nodes", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(_json)
def test_nothing_that_a_model_says_raises(reply):
    good = salvage({"relations": [WORKS, reply]}).relations
    assert str(good[0]) == "Anna —works at→ ACME"
    salvage(reply)
    salvage(json.dumps(reply))


def test_triples_of_an_application_are_read_or_refused():
    relation = Relation(Entity("Anna"), "knows", Entity("Bert"), confidence=0.5)
    assert read_triples([relation, ("Anna", "knows", "Bert"), WORKS]) == [
        relation,
        Relation(Entity("Anna"), "knows", Entity("Bert")),
        Relation(Entity("Anna"), "works at", Entity("ACME")),
    ]
    with pytest.raises(ConfigurationError, match="Triple 1 cannot be read: has 2 parts"):
        read_triples([("a", "b", "c"), ("a", "b")])
    with pytest.raises(ConfigurationError, match="Triple 0 cannot be read: has a source without"):
        read_triples([Relation(Entity("!"), "knows", Entity("Bert"))])


class Statement(BaseModel):
    source: str
    type: str
    target: str
    valid_from: str = ""


def test_values_of_a_clients_own_classes_are_read_and_told():
    works = Statement(**WORKS, valid_from="2026-05-19")
    (relation,) = salvage({"relations": [works]}).relations
    assert (str(relation), relation.valid_from) == (
        "Anna —works at→ ACME",
        datetime(2026, 5, 19, tzinfo=UTC),
    )
    lost = salvage({"relations": [Statement(source="...", type="is", target="ACME")]})
    assert lost.relations == ()
    assert '"target": "ACME"' in str(lost.rejected)


def test_what_is_no_time_is_none():
    (relation,) = salvage({"relations": [{**WORKS, "valid_from": "some day"}]}).relations
    assert relation.valid_from is None


def test_a_type_beside_an_end_is_that_of_the_end():
    (relation,) = salvage({"relations": [{**WORKS, "source_type": "Person"}]}).relations
    assert relation.source == Entity("Anna", "Person")
