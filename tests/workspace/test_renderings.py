"""What only renders a record is blank to the index, and nothing else is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.workspace.renderings import (
    opening,
    rendered,
    unmarked,
    without_entries,
    without_rendered,
)

OPEN, CLOSE = "<!-- record:a1 -->", "<!-- /record:a1 -->"


def test_entry_stands_between_marks():
    assert rendered("## x\n\ny\n", "a1") == f"{OPEN}\n## x\n\ny\n{CLOSE}\n"
    assert opening("a -->\nb") == "<!-- record:a_--__b -->"


def test_entries_of_records_are_taken_out_with_their_marks():
    other = rendered("d\n", "a 2")
    text = f"a\r\n{OPEN}\r\nb\r\n{CLOSE}\r\nc\n{other}{OPEN}\ne"
    assert without_entries(text, ["a1"]) == f"a\r\nc\n{other}{OPEN}\ne"
    assert without_entries(text, ["a 2"]) == f"a\r\n{OPEN}\r\nb\r\n{CLOSE}\r\nc\n{OPEN}\ne"
    assert without_entries(text, ["a3"]) == without_entries(text, []) == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"a\n{OPEN}\nb\n{CLOSE}\nc", "a\n\n\n\nc"),
        (f"a\r\n{OPEN}\r\nb\r\n{CLOSE}\r\nc", "a\r\n\r\n\r\n\r\nc"),
        (f"{OPEN}\nb\n{CLOSE}", "\n\n"),
        (f"{OPEN}\nb\n{CLOSE}\nc\n{OPEN}\nd\n{CLOSE}\n", "\n\n\nc\n\n\n\n"),
        # A person cut a mark away, wrote on its line, or copied one: nothing of theirs is lost.
        (f"{OPEN}\nb\n", None),
        (f"b\n{CLOSE}\n", None),
        (f"{OPEN} b\n{CLOSE}\n", None),
        (f"{OPEN}\nb\n<!-- /record:a2 -->\n", None),
        (f"{OPEN}\nb\n{OPEN}\nc\n{CLOSE}\nd", f"{OPEN}\nb\n\n\n\nd"),
        (f"{OPEN}\nb\n{CLOSE}\nc\n{CLOSE}\n", f"\n\n\nc\n{CLOSE}\n"),
    ],
)
def test_marked_entries_are_blank_where_they_stand(text, left):
    assert without_rendered(text) == (text if left is None else left)


LINES = st.lists(
    st.sampled_from([OPEN, CLOSE, "<!-- record:b -->", "<!-- /record:b -->", "tea", "", "# x"])
)


@given(LINES)
def test_lines_keep_their_places_and_the_rest_stays(lines):
    text = "\n".join(lines)
    left = without_rendered(text).split("\n")
    assert len(left) == len(text.split("\n"))
    assert all(now in {was, ""} for was, now in zip(text.split("\n"), left, strict=True))


@given(LINES, LINES)
def test_body_can_hide_nothing_but_itself(body, after):
    rest = unmarked("\n".join(after))
    text = rendered(unmarked("\n".join(body)) + "\n", "a1") + rest
    assert without_rendered(text) == "\n" * (max(len(body), 1) + 2) + rest
    plain = unmarked("\n".join(body))
    assert without_rendered(plain) == plain
