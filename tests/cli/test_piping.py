"""What other programs send and read, whatever the locale says."""

import io
import sys
from types import SimpleNamespace

import pytest

from langchain_memengine.cli.failing import UsageProblem
from langchain_memengine.cli.piping import read_input, write_output


class Terminal(io.StringIO):
    def isatty(self):
        return True


def piped_in(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))


def piped_out(monkeypatch):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, "ascii"))
    return raw


def test_input_is_utf_8_without_its_byte_order_mark(monkeypatch):
    piped_in(monkeypatch, b"\xef\xbb\xbft\xc3\xa9\r\n")
    assert read_input() == "té\r\n"


def test_input_that_is_no_utf_8_says_what_to_do(monkeypatch):
    piped_in(monkeypatch, b"t\xe9")
    with pytest.raises(UsageProblem, match="not UTF-8 text"):
        read_input()


def test_input_of_a_stream_of_text_is_taken_as_it_is(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("té"))
    assert read_input() == "té"


def test_output_has_every_character_as_it_is(monkeypatch):
    raw = piped_out(monkeypatch)
    print("before")  # noqa: T201  # waits in the text layer, and must come first
    write_output("té \x1b[31m\n")
    assert raw.getvalue() == b"before\nt\xc3\xa9 \x1b[31m\n"


def test_output_spells_out_what_utf_8_cannot_hold(monkeypatch):
    raw = piped_out(monkeypatch)
    write_output("\ud800")
    assert raw.getvalue() == b"\\ud800"


def test_a_terminal_is_not_steered_by_what_is_printed(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    write_output("red\x1b[31m\n")
    assert "\x1b" not in screen.getvalue()
    assert screen.getvalue().startswith("red")
    assert screen.getvalue().count("\n") == 1
