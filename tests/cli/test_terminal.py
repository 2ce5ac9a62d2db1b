"""Text on its way to a terminal."""

import io
import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.cli.terminal import (
    clean,
    clean_line,
    prepare_streams,
    print_json,
    say,
)


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


def ascii_stdout(monkeypatch):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, "ascii", write_through=True))
    prepare_streams()
    return raw


def test_any_text_can_be_printed_on_an_ascii_terminal(monkeypatch):
    raw = ascii_stdout(monkeypatch)

    say("█░ … é 中 😀 \ud800")

    assert raw.getvalue() == b"#. . \\xe9 \\u4e2d \\U0001f600 \\ud800\n"


def test_json_stays_valid_on_an_ascii_terminal(monkeypatch):
    raw = ascii_stdout(monkeypatch)

    print_json({"é": "中 😀 \x9b \x7f"})

    assert json.loads(raw.getvalue()) == {"é": "中 😀 \x9b \x7f"}


def test_json_has_readable_letters_but_no_control_characters(capsys):
    print_json(["é\x9b31m\u202e\x1b"])

    assert capsys.readouterr().out == '[\n  "é\\u009b31m\\u202e\\u001b"\n]\n'
