"""Which texts are remembered twice."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.knowledge import consolidation
from langchain_memengine.knowledge.consolidation import (
    Duplicate,
    Passage,
    confirmed,
    find_duplicates,
)
from langchain_memengine.text.sameness import says_all, sentences

NOW = datetime(2026, 5, 19, tzinfo=UTC)
LONG = "The staging server runs in Frankfurt and has eight cores and forty gigabytes of memory."


def passage(one, text, *, group="", trust=0, days=0):
    return Passage(one, text, group, trust, NOW + timedelta(days=days))


def found(*passages):
    return [(one.id, one.kept_id) for one in find_duplicates(passages).found]


def test_the_newer_of_two_that_say_the_same_is_kept():
    old, new = passage("old", "Ann likes tea."), passage("new", "- Ann likes **tea**", days=1)
    assert find_duplicates([old, new]).found == (Duplicate("old", "new", 1.0, is_same=True),)
    assert found(new, old) == [("old", "new")]


def test_equal_ones_are_kept_by_their_id():
    assert found(passage("b", "Ann likes tea"), passage("a", "Ann likes tea")) == [("a", "b")]


def test_a_text_gives_way_to_one_that_says_more_if_that_is_not_much_more():
    longer = passage("more", f"{LONG} Ask Bob.")
    assert found(passage("less", LONG), longer) == [("less", "more")]
    much_more = passage("more", f"{LONG} Ask Bob, who set it up, or anybody in the third floor.")
    assert found(passage("less", LONG), much_more) == []


def test_nothing_gives_way_to_what_is_trusted_less_or_stands_elsewhere():
    mine = passage("a", LONG, trust=2)
    assert found(mine, passage("b", LONG, trust=0, days=1)) == [("b", "a")]
    assert found(mine, passage("b", f"{LONG} Ask Bob.", trust=0)) == []
    assert found(mine, passage("b", LONG, trust=2, group="another")) == []


def test_short_texts_are_left_alone():
    assert found(passage("a", "See below."), passage("b", "See below.")) == []


@pytest.mark.parametrize("change", [("eight", "eighty"), ("has", "has not"), ("eight", "-8")])
def test_what_differs_is_kept(change):
    assert found(passage("a", LONG), passage("b", LONG.replace(*change))) == []


def test_not_every_pair_is_compared():
    # 1,000 notes with a sentence of their own under a common one, and one of them said again.
    texts = [f"Notes of the weekly meeting follow. We met {i} people." for i in range(1000)]
    many = [passage(str(i), text) for i, text in enumerate(texts)]
    again = passage("again", f"{texts[7]} We left.")
    answer = find_duplicates([*many, again])
    assert [(one.id, one.kept_id) for one in answer.found] == [("7", "again")]
    assert answer.compared == 1
    assert find_duplicates([passage(str(i), LONG) for i in range(1000)]).compared == 0


def test_embeddings_confirm_what_is_not_the_same_word_by_word():
    same = Duplicate("a", "x", 1.0, is_same=True)
    near, far, unknown = (Duplicate(one, "x", 0.9, is_same=False) for one in "bcd")
    cosines = {"a": 0.2, "b": 0.95, "c": 0.89}
    agreed, left = confirmed([same, near, far, unknown], lambda one, _: cosines.get(one))
    assert [(one.id, one.cosine) for one in agreed] == [("a", 0.2), ("b", 0.95)]
    assert left == 1


TEXTS = st.lists(
    st.sampled_from(
        ["Ann likes tea.", "Bob likes the coffee.", "It costs 5.", "It costs 50.", "x"]
    ),
    max_size=6,
).map(" ".join)


@given(st.lists(st.tuples(TEXTS, st.integers(0, 2), st.integers(0, 3)), max_size=12))
def test_whatever_gives_way_is_said_by_one_that_stays(drawn):
    passages = {
        str(i): passage(str(i), text, trust=trust, days=days)
        for i, (text, trust, days) in enumerate(drawn)
    }
    gone = {one.id: one.kept_id for one in find_duplicates(passages.values()).found}
    for one in gone:
        kept = one
        while kept in gone:
            kept = gone[kept]
        assert says_all(sentences(passages[kept].text), sentences(passages[one].text))
        assert passages[kept].trust >= passages[one].trust


@pytest.mark.parametrize(("number", "compared"), [(20, 190), (21, 0)])
def test_passages_of_a_stock_phrase_are_not_all_compared(number, compared, monkeypatch):
    monkeypatch.setattr(consolidation, "MAX_HOLDERS", 20)
    # Each is longer than the one before it, so that 0 + 1 + … + 19 pairs can be told apart.
    many = [passage(str(i), "Nothing new on the kiln. " * (i + 1)) for i in range(number)]
    assert find_duplicates(many).compared == compared
