"""Parts of URIs: read back where they are short, and told apart where they are long."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.text.uris import MAX_PART_CHARS, uri_part


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", ""),
        ("a-b_c.d~1", "a-b_c.d~1"),
        ("a/b#c*", "a%2Fb%23c%2A"),
        ("чай", "%D1%87%D0%B0%D0%B9"),
        ("x" * 255, "x" * 255),
    ],
)
def test_what_fits_is_quoted(text, part):
    assert uri_part(text) == part


def test_what_does_not_fit_begins_alike_and_ends_with_a_hash():
    one, other = uri_part("ы" * 100), uri_part("ы" * 99 + "я")
    assert one[:222] == other[:222] == "%D1%8B" * 37
    assert one[222] == other[222] == "~"
    assert one != other


@given(st.text(st.characters(), max_size=120))
def test_every_part_is_plain_and_bounded(text):
    part = uri_part(text)
    assert len(part) <= MAX_PART_CHARS
    assert part.isascii()
    assert not set(part) & set("/#*")
