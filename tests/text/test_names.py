"""Names of entities."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.text.names import display_name, entity_key, keys_in, phrases_in


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Anna", " ANNA, "),
        ("Anna  Smith", "anna\nsmith."),
        ("O’Neill", "o'neill"),
        ("ＡＣＭＥ", "acme"),
        ("Straße", "STRASSE"),
        ("“Dune”", "Dune"),
    ],
)
def test_spellings_of_one_name(one, other):
    assert entity_key(one) == entity_key(other)


@pytest.mark.parametrize(("one", "other"), [("C", "C++"), ("C", "C#"), ("Москва", "Moskva")])
def test_names_that_differ(one, other):
    assert entity_key(one) != entity_key(other)


@given(st.text())
def test_a_key_is_its_own_key(text):
    assert entity_key(entity_key(text)) == entity_key(text)


def test_a_name_is_shown_on_one_line():
    assert display_name(" St.\n Paul ") == "St. Paul"


def test_runs_of_words_are_keys_longest_first_and_without_the_possessive():
    assert keys_in("Is Anna Smith's boss in?", max_words=2) == [
        "is anna", "anna smith's", "anna smith", "smith's boss", "boss in",
        "is", "anna", "smith's", "smith", "boss", "in",
    ]  # fmt: skip
    assert keys_in(" ?! ") == []


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ("who maintains the Postgres database?", ["maintains", "postgres database"]),
        ("Is Oslo, Norway the home of Anna's cat", ["oslo", "norway", "home", "anna's cat"]),
        ("the home of ANNA’S", ["home", "anna"]),
        ("Кто знает Анну", ["кто знает анну"]),
        ("one two three four five six seven", ["one two three four five six", "seven"]),
        ("who is the of", []),
        ("", []),
    ],
)
def test_phrases_are_what_stands_between_stop_words_and_punctuation(text, phrases):
    stop_words = {"who", "is", "the", "of"}
    assert phrases_in(text, lambda word: word.casefold() not in stop_words) == phrases
