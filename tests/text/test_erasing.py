"""Words taken out of Markdown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.text.erasing import MIN_CHARS, Erasure

HIDDEN = "The key is under the mat"


@pytest.mark.parametrize(
    ("markdown", "left"),
    [
        ("", ""),
        ("Nothing of it.\n", "Nothing of it.\n"),
        (HIDDEN, ""),
        ("the  KEY is\nunder the mat\n", ""),
        (f"Before.\n\nWell: {HIDDEN}!\n\nAfter.\n", "Before.\n\nAfter.\n"),
        (f"- tea\n- {HIDDEN} (chat)\n- milk\n", "- tea\n- milk\n"),
        (f"# A\n\n{HIDDEN}\n\n# B\n\nb\n", "# B\n\nb\n"),
        (f"# A\n\n{HIDDEN}\n\n## A.1\n\na\n", "# A\n\n## A.1\n\na\n"),
        (f"# A\n\n## A.1\n\n{HIDDEN}\n\n# B\n", "# B\n"),
        (f"# Of {HIDDEN}\n\nb\n", "b\n"),
        ("# Empty\n\n# A\n\nb\n", "# Empty\n\n# A\n\nb\n"),
        (f"```\n# no heading\n{HIDDEN}\n```\n\nb\n", "b\n"),
        (f"a\r\n\r\n{HIDDEN}\r\n\r\nb\r\n", "a\r\n\r\nb\r\n"),
    ],
)
def test_what_holds_the_words_goes_and_the_rest_stays(markdown, left):
    assert Erasure([HIDDEN]).erase(markdown) == left


def test_words_that_go_over_paragraphs_and_headings_take_all_of_them():
    said = "First part\n\n# a heading\n\nlast part"
    markdown = f"# Turn\n\n{said}\n\n# Next\n\nFirst part\n"
    assert Erasure([said]).erase(markdown) == "# Next\n\nFirst part\n"


def test_a_short_text_goes_only_where_it_stands_alone():
    erasure = Erasure(["tea"])
    markdown = "- tea\n- tea (chat) <!-- sha256:ab -->\n- green tea\n\ntea\n\nMore tea\n"
    assert erasure.erase(markdown) == "- green tea\n\nMore tea\n"
    assert (erasure.holds(" Tea\n"), erasure.holds("more tea")) == (True, False)


@pytest.mark.parametrize(
    "entry",
    [
        "- tea <!-- a --> <!-- b -->",
        "1. tea (chat (no, the note)) <!-- a -->",
        "tea (",
        "tea )",
        "tea <!-- a",
        "<!-- tea -->",
        "(tea)",
    ],
)
def test_of_an_entry_only_its_source_and_comments_are_left_aside(entry):
    markdown = f"- milk\n{entry}\n"
    is_tea = entry.startswith("- tea")
    assert Erasure(["tea"]).erase(markdown) == ("- milk\n" if is_tea else markdown)


def test_words_are_taken_where_the_fewest_paragraphs_hold_them():
    said = "one two three\n\nfour five six"
    markdown = f"one two three\n\nzero\n\none two three\n\n{said}\n\nfour five six\n"
    left = "one two three\n\nzero\n\none two three\n\nfour five six\n"
    assert Erasure([said]).erase(markdown) == "one two three\n\nzero\n\n"
    assert Erasure([said]).erase(left) == "one two three\n\nzero\n\n"


@pytest.mark.parametrize(
    "line", ["- " + "<!--" * 100_000, "- a" + " " * 500_000 + "b", "<!---->" * 100_000 + "x"]
)
def test_no_line_takes_long(line):
    assert Erasure([HIDDEN]).erase(f"{line}\n") == f"{line}\n"


def test_a_long_log_loses_only_its_entry():
    log = "".join(f"entry {number} of a long log\n\n" for number in range(20_000))
    assert Erasure([HIDDEN, "entry 9 of a log"]).erase(f"{log}{HIDDEN}\n\nend\n") == f"{log}end\n"


def test_words_said_very_often_go_in_one_look_at_each_paragraph():
    assert Erasure([HIDDEN]).erase(f"{HIDDEN}\n\ntea\n\n" * 20_000) == "tea\n\n" * 20_000


def test_json_is_looked_through_as_it_reads():
    erasure = Erasure(["Ключ лежит под ковром"])
    assert erasure.is_in_json(r'{"a": [1, {"b": "так: ' + "Ключ\\nлежит под ковром" + '."}]}')
    assert erasure.is_in_json('{"ключ лежит под ковром": null}')
    assert erasure.is_in_json("no JSON: Ключ лежит под ковром")
    assert not erasure.is_in_json('{"a": "Ключ"}')


def test_blank_texts_are_no_words():
    erasure = Erasure(["", " \n"])
    assert not erasure
    assert not erasure.holds("")
    assert erasure.erase("- \n\n# \n") == "- \n\n# \n"


WORDS = st.text("abé \n#-*`>ß1.", max_size=40)


@given(
    before=WORDS,
    secret=WORDS.filter(lambda t: len(" ".join(t.split()).casefold()) >= MIN_CHARS),
    after=WORDS,
)
def test_long_words_are_never_left_and_a_second_time_changes_nothing(before, secret, after):
    erasure = Erasure([secret])
    left = erasure.erase(before + secret + after)
    assert not erasure.holds(left)
    assert erasure.erase(left) == left


@given(text=WORDS, other=st.just("something else entirely"))
def test_text_without_the_words_stays_as_it_is(text, other):
    assert Erasure([other]).erase(text) == text
