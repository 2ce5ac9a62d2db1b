"""Names are found without a model, and answered as a model would answer."""

import json

import pytest

from langchain_memengine.evaluation.names import name_reader, names_in, triples_of
from langchain_memengine.graph.asking import told_extractor
from langchain_memengine.models.graph_prompts import extraction_messages


@pytest.mark.parametrize(
    ("text", "speaker", "names"),
    [
        ("I saw Anna in New York.", "", ["Anna", "New York"]),
        ("Anna: We met Bert. Lovely weather! The Louvre was shut.", "Anna", ["Bert", "Louvre"]),
        ("Anna: Thanks, Bert! [image: a Photo of Anna]", "Anna", ["Bert", "Photo", "Anna"]),
        ("so I'm with Anna's cat, and It's ANNA'S", "", ["Anna's"]),
        ("Really? Nobody.", "", []),
        ("у нас Анна и Łódź", "", ["Анна", "Łódź"]),
        ("没有大写字母", "", []),
        ("", "", []),
        ("12: Anna", "", []),
        ("note 3: met Anna", "note 3", ["Anna"]),
    ],
)
def test_names_are_runs_of_capitals_within_sentences(text, speaker, names):
    assert names_in(text) == (speaker, names)


def test_who_speaks_mentions_and_else_names_appear_together():
    assert triples_of("Anna: I like Bert and ask Anna.") == [("Anna", "mentions", "Bert")]
    assert triples_of("we saw Bert, Carl and Dora") == [
        ("Bert", "appears with", "Carl"),
        ("Bert", "appears with", "Dora"),
    ]
    assert triples_of("nobody") == []


def test_the_question_about_a_text_is_answered_as_a_model_would():
    found = told_extractor(name_reader()).ask(extraction_messages("Anna: </x>\nI know Bert.\n"))
    assert [one.name for one in found.entities] == ["Anna", "Bert"]
    assert [str(one) for one in found.relations] == ["Anna —mentions→ Bert"]
    nothing = name_reader().invoke(extraction_messages("nobody is here"))
    assert json.loads(nothing) == {"entities": [], "relations": []}
