"""Who wrote what, and who is called by a word."""

import numpy as np
import pytest

from langchain_memengine.retrieval.authors import Authors


def words(text):
    return text.lower().split()


def authors(*names):
    some = Authors(words)
    some.add(names)
    return some


def wrote(some, *names):
    slots = np.arange(len(some.to_arrays()[0]["authors"]))
    return some.wrote(slots, names).tolist()


def test_every_word_of_a_name_calls_its_author():
    some = authors("Anna Weber", "Bob", "", "Anna Schmidt")
    assert some.names == {"Anna Weber", "Bob", "Anna Schmidt"}
    assert some.called(["anna", "weber", "said"]) == {
        "Anna Weber": {"anna", "weber"},
        "Anna Schmidt": {"anna"},
    }
    assert some.called(["nobody"]) == {}


def test_slots_by_an_author():
    some = authors("Anna", "Bob", "", "Anna")
    assert wrote(some, "Anna") == [True, False, False, True]
    assert wrote(some, "Bob", "stranger") == [False, True, False, False]
    assert wrote(some) == [False] * 4


def test_author_whose_last_chunk_is_removed_is_unknown():
    some = authors("Anna", "Bob", "Bob")
    some.remove([1])
    assert some.names == {"Anna", "Bob"}
    some.remove([2])
    assert some.names == {"Anna"}
    assert some.called(["bob"]) == {}
    assert wrote(some, "Bob") == [False] * 3
    some.add(["Bob"])
    assert some.called(["bob"]) == {"Bob": {"bob"}}


def test_authors_come_back_from_their_arrays():
    some = authors("Anna", "", "Bob", "Carl")
    some.remove([2])
    again = Authors.from_arrays(*some.to_arrays(), words)
    assert again.names == {"Anna", "Carl"}
    assert again.called(["anna", "bob"]) == {"Anna": {"anna"}}
    again.add(["Bob", "Anna"])
    assert wrote(again, "Anna") == [True, False, False, False, False, True]


def test_arrays_that_name_nobody_are_rejected():
    with pytest.raises(ValueError, match="no name"):
        Authors.from_arrays({"authors": np.asarray([0, 2], np.int32)}, ["Anna"], words)
