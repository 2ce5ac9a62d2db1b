"""Lists cut into statements."""

from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.storage.statements import MAX_PARAMETERS, batches


@given(st.integers(0, 3 * MAX_PARAMETERS + 1))
def test_batches_hold_everything_in_order_and_are_never_too_long(size):
    values = list(range(size))
    cut = list(batches(values))
    assert [value for batch in cut for value in batch] == values
    assert all(0 < len(batch) <= MAX_PARAMETERS for batch in cut)
