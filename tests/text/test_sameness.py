"""Whether one text says everything that another one says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.text.sameness import says_all, sentences, similarity


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The office is in Berlin.", "office is in BERLIN"),
        ("- The **office** is in\n  Berlin", "The office\nis in Berlin."),
        ("# Office\nIt is in Berlin", "## Office\n\nIt is in `Berlin`!"),
        ("We use “C++”.", "We use the C++"),
        ("Ａｎｎ likes tea", "Ann likes  tea"),
        ("猫は好きです。", "猫は好きです"),
        ("one\r\n\r\ntwo", "one\n\ntwo"),
    ],
)
def test_layout_makes_no_difference(one, other):
    assert sentences(one) == sentences(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("It costs 5", "It costs 50"),
        ("It is 5 degrees", "It is -5 degrees"),
        ("It costs 5%", "It costs 5"),
        ("It costs $5", "It costs €5"),
        ("It is version 1.2", "It is version 12"),
        ("Ann is at home", "Ann is not at home"),
        ("Ann can come", "Ann can't come"),
        ("We use C", "We use C++"),
        ("Is Ann at home?", "Is Ann at home"),
        ("Backups run before the deploy", "Backups run after the deploy"),
        ("Ann went from Rome to Bern", "Ann went from Bern to Rome"),
        ("Ann likes tea. Bob hates it.", "Bob likes tea. Ann hates it."),
        ("x < 5", "x > 5"),
        ("[ ] write the tests", "[x] write the tests"),
        ("He takes vitamin A daily", "He takes vitamin daily"),
        ("delete *.py", "delete .py"),
        ("猫が好き", "猫が好きではない"),
        ("Ann lives in Rome", "Anna lives in Rome"),
    ],
)
def test_what_may_mean_something_else_makes_one(one, other):
    assert sentences(one) != sentences(other)
    assert not (says_all(sentences(one), sentences(other)) and len(one) < len(other))


def test_a_text_says_all_of_another_one_when_it_has_its_sentences_in_order():
    more = sentences("Ann likes tea. Bob hates coffee. Cid sleeps.")
    assert says_all(more, sentences("Ann likes tea. Cid sleeps."))
    assert not says_all(more, sentences("Cid sleeps. Ann likes tea."))
    assert not says_all(more, sentences("Ann hates coffee."))
    assert not says_all(more, sentences("Cid sleeps. Cid sleeps."))


def test_similarity_is_the_share_of_common_shingles():
    # abcdef has abcde and bcdef, abcdeg has abcde and bcdeg: one of three.
    assert similarity(sentences("abcdef"), sentences("abcdeg")) == pytest.approx(1 / 3)
    assert similarity(sentences("tea"), sentences("tea")) == 1.0
    assert similarity(sentences("tea"), sentences("cup")) == 0.0
    assert similarity((), ()) == 1.0


@pytest.mark.parametrize("text", ["." * 200_000 + "a", '"' * 200_000, "*." * 100_000 + "a"])
def test_no_text_takes_long(text):
    assert says_all(sentences(text), sentences(text))


@given(st.text(), st.text())
def test_any_text_says_all_it_says_and_order_of_two_does_not_matter(one, other):
    first, second = sentences(one), sentences(other)
    assert says_all(first, first)
    assert similarity(first, second) == similarity(second, first)
    assert (similarity(first, second) == 1.0) or first != second
    assert all(word and not word.isspace() for sentence in first for word in sentence)
