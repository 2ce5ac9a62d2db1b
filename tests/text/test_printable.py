"""What steers a terminal does not reach it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.text.printable import clean, clean_line


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("a\x1b[31;1mb\x1b[0mc", "abc"),
        ("a\x1b]8;;http://x\x1b\\link\x1b]8;;\x07b", "alinkb"),
        ("a\x1b]0;title without an end\nb", "a\nb"),
        ("a\x9b2Jb\x1bcd\x1b(Be", "abde"),
        ("one\r\ntwo\rthree\u2028four", "one\ntwo\nthree\nfour"),
        ("a\tb\0c\x08\x7f\x85d\u202ee\u2066f", "a\tbcdef"),
        ("naïve 中文 👩\u200d💻", "naïve 中文 👩\u200d💻"),
    ],
)
def test_what_steers_a_terminal_is_removed(text, cleaned):
    assert clean(text) == cleaned


@given(st.text(st.sampled_from("\x1b[]0;m\x07\\\x9b\x9c\n\rax\u202e")))
def test_cleaned_text_never_steers_a_terminal(text):
    assert not set(clean(text)) & set("\x1b\x07\x9b\x9c\r\u202e")
    assert "\n" not in clean_line(text)
