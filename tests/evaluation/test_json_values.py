"""Values of a JSON file that say where they stand when they are wrong."""

import pytest

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.evaluation.json_values import read_json


@pytest.fixture
def value(tmp_path):
    def read(text):
        path = tmp_path / "questions.json"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_json(path, '{"a": [...]}')

    return read


def test_values_are_found_by_key_and_place(value):
    (first, second) = value('{"a": [{"b": "tea"}, {"b": null, "n": 2}]}').key("a").elements()
    assert first.key("b").some_text() == "tea"
    assert second.text_or_empty("b") == second.text_or_empty("c") == ""
    assert second.key("n").index(3) == 2
    assert [name for name, _ in second.pairs()] == ["b", "n"]


@pytest.mark.parametrize(
    ("read", "problem"),
    [
        (lambda v: v.key("x"), "the file has no key 'x'"),
        (lambda v: v.elements(), "the file is no list"),
        (lambda v: v.key("list").mapping(), "list is no mapping"),
        (lambda v: v.key("empty").elements(), "empty is empty"),
        (lambda v: v.key("list").elements()[1].text(), r"list\[1\] is no text"),
        (lambda v: v.key("deep").key("blank").some_text(), r"deep\.blank is blank"),
        (lambda v: v.key("yes").number(), "yes is no whole number"),
        (lambda v: v.key("half").number(), "half is no whole number"),
        (lambda v: v.key("huge").number(), "huge is too large a number"),
        (lambda v: v.key("list").elements()[1].index(2), "is 2, and there are 2 documents"),
        (lambda v: v.key("minus").index(2), "minus is -1, and there are 2 documents"),
        (lambda v: v.key("yes").at("questions").text(), "questions is no text"),
    ],
)
def test_a_wrong_value_is_named_with_its_place_and_the_right_shape(value, read, problem):
    found = value(
        '{"list": ["a", 2], "empty": [], "deep": {"blank": " "}, "yes": true, "half": 0.5,'
        ' "huge": 9007199254740993, "minus": -1}'
    )
    with pytest.raises(ConfigurationError, match=problem) as error:
        read(found)
    assert 'The right shape: {"a": [...]}' in str(error.value)


def test_a_text_is_storable(value):
    assert value('"a\\u0000b"').text() == "ab"


@pytest.mark.parametrize("text", ["{", b"\xff", "[" * 100_000])
def test_what_is_no_json_says_what_would_be(value, text):
    with pytest.raises(ConfigurationError, match="cannot be read as JSON"):
        value(text)


def test_a_byte_order_mark_does_not_matter_and_a_missing_file_is_named(value, tmp_path):
    assert value(b"\xef\xbb\xbf1").number() == 1
    with pytest.raises(ConfigurationError, match=r"missing\.json cannot be read: No such file"):
        read_json(tmp_path / "missing.json", "…")
