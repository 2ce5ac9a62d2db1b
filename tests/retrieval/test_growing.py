"""Arrays that grow at the end."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.retrieval.growing import GrowingArray


def test_values_that_were_not_given_are_zero():
    array = GrowingArray(np.int64)
    array.extend(np.asarray([7]))
    array.grow_to(3)
    assert array.values.tolist() == [7, 0, 0]
    assert array.values.dtype == np.int64


def test_it_never_shrinks():
    array = GrowingArray(np.int64)
    array.extend(np.arange(5))
    array.grow_to(2)
    assert len(array) == 5


def test_values_are_a_view_to_write_to():
    array = GrowingArray(np.int64)
    array.grow_to(2)
    array.values[1] = 9
    assert array.values.tolist() == [0, 9]


@given(st.lists(st.one_of(st.lists(st.integers(1, 99), max_size=40), st.integers(0, 120))))
def test_it_is_a_list_with_padding(operations):
    array, model = GrowingArray(np.int64), []
    for operation in operations:
        if isinstance(operation, int):
            array.grow_to(operation)
            model += [0] * (operation - len(model))
        else:
            array.extend(np.asarray(operation, np.int64))
            model += operation
        assert array.values.tolist() == model
        assert len(array) == len(model)
