"""Groups of slots, and neighbours within conversations."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.retrieval.surroundings import NOBODY, Surroundings


def around(surroundings, *slots):
    before, after = surroundings.neighbours(np.asarray(slots, np.int64))
    return list(zip(before.tolist(), after.tolist(), strict=True))


def test_messages_have_neighbours_in_order_of_their_time():
    surroundings = Surroundings()
    surroundings.add(["thread a", "thread a", "thread b", "thread a"], [30.0, 10.0, 20.0, 20.0])
    assert around(surroundings, 0, 1, 2, 3) == [(3, NOBODY), (NOBODY, 3), (NOBODY, NOBODY), (1, 0)]


def test_messages_of_the_same_time_are_in_order_of_slots():
    surroundings = Surroundings()
    surroundings.add(["thread a"] * 3, [0.0, 0.0, 0.0])
    assert around(surroundings, 1) == [(0, 2)]


def test_chunks_of_a_file_are_a_group_without_neighbours():
    surroundings = Surroundings()
    surroundings.add(["file a", "file a", "", ""], [None, None, None, None])
    assert surroundings.codes.tolist() == [0, 0, 1, 2]
    assert surroundings.has_groups
    assert around(surroundings, 0, 1, 2) == [(NOBODY, NOBODY)] * 3


def test_what_is_in_no_group_makes_none():
    surroundings = Surroundings()
    surroundings.add(["", ""], [None, None])
    assert not surroundings.has_groups
    assert surroundings.groups == 2


def test_a_removed_message_is_nobodys_neighbour():
    surroundings = Surroundings()
    surroundings.add(["thread a"] * 3, [1.0, 2.0, 3.0])
    surroundings.remove([1, 1])
    assert around(surroundings, 0, 2) == [(NOBODY, 2), (0, NOBODY)]


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 5)), max_size=30),
    st.sets(st.integers(0, 29)),
)
def test_neighbours_are_those_of_a_sorted_list(messages, removed):
    surroundings = Surroundings()
    for thread, time in messages:
        surroundings.add([thread], [float(time)])
    gone = [slot for slot in removed if slot < len(messages)]
    surroundings.remove(gone)
    for thread in "abc":
        living = sorted(
            (time, slot)
            for slot, (name, time) in enumerate(messages)
            if name == thread and slot not in gone
        )
        slots = [slot for _, slot in living]
        expected = list(zip([NOBODY, *slots[:-1]], [*slots[1:], NOBODY], strict=True))
        if slots:
            assert around(surroundings, *slots) == expected
