"""What a job carries of a person's words."""

import json

import pytest

from langchain_memengine.errors import JobError
from langchain_memengine.knowledge.own_lines import MAX_CHARS, OwnLine, OwnLines, own_lines

KEY = "sk-proj-a1B2c3D4e5F6g7H8i9J0"


def test_lines_hold_nothing_of_others_and_no_secrets():
    said = [("1", "> quoted\nI like tea"), ("2", "<file>I like rum</file>"), ("3", f"It is {KEY}")]
    (lines,) = own_lines("ann", said)
    assert lines == OwnLines("ann", (OwnLine("1", "I like tea"), OwnLine("3", "It is [redacted]")))


def test_payload_comes_back_as_it_was():
    (lines,) = own_lines("Анна", [("1", "Я живу в Москве")])
    assert OwnLines.from_payload(json.loads(json.dumps(lines.to_payload()))) == lines


def test_long_talk_is_cut_into_parts_that_fit_and_loses_no_word():
    words = [f"word{n}" for n in range(5_000)]
    said = [("1", " ".join(words[:4_000])), ("2", " ".join(words[4_000:])), ("3", "x" * 30_000)]
    parts = own_lines("ann", said)
    assert all(sum(len(line.text) for line in part.lines) <= MAX_CHARS for part in parts)
    text = " ".join(line.text for part in parts for line in part.lines)
    assert [word for word in text.split() if word.startswith("word")] == words
    assert text.count("x") == 30_000


def test_nothing_said_is_no_line():
    assert own_lines("ann", [("1", " "), ("2", "> quoted")]) == []


def test_key_tells_apart_who_said_what():
    keys = {
        own_lines(person, [(message, text)])[0].key
        for person in "ab"
        for message in "12"
        for text in ("tea", "rum")
    }
    assert len(keys) == 8


@pytest.mark.parametrize(
    "payload",
    [{}, {"person": "a"}, {"person": "a", "messages": [5]}, {"person": "a", "messages": [{}]}],
)
def test_damaged_payload_is_the_jobs_end(payload):
    with pytest.raises(JobError):
        OwnLines.from_payload(payload)
