"""Which code is left open."""

import pytest

from langchain_memengine.text.code_fences import closing_fence
from langchain_memengine.text.markdown import split_lines


@pytest.mark.parametrize(
    ("text", "closing"),
    [
        ("", ""),
        ("```\ncode\n```", ""),
        ("```\ncode", "```"),
        ("~~~~ py\n~~~\n```", "~~~~"),
        ("a `b` c\n\n    ```\ncode", "```"),
    ],
)
def test_what_is_left_open_can_be_closed(text, closing):
    assert closing_fence(split_lines(text)) == closing
    assert closing_fence(split_lines(f"{text}\n{closing}")) == ""
