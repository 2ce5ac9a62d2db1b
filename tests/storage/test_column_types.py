"""How long a name may be."""

import pytest

from langchain_memengine.storage.column_types import KeyLimit

LIMIT = KeyLimit(chars=4, utf8_bytes=8)


@pytest.mark.parametrize("name", ["", "abcd", "🙂🙂", "äöüß"])
def test_names_within_the_limit_have_no_problem(name):
    assert LIMIT.problem(name) is None


@pytest.mark.parametrize(
    ("name", "told"),
    [("abcde", "5 characters (5 bytes)"), ("a🙂🙂", "3 characters (9 bytes)")],
)
def test_longer_names_are_told_both_their_sizes_and_both_limits(name, told):
    problem = LIMIT.problem(name)
    assert told in problem
    assert problem.endswith("holds 4 (8 bytes)")
