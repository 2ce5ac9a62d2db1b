"""Text on its way to a terminal."""

import io
import json
import sys

from langchain_memengine.cli.terminal import (
    prepare_streams,
    print_json,
    say,
)


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
