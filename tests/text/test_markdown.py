import json
from datetime import UTC, date, datetime, time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.text.markdown import (
    MAX_FRONT_MATTER_CHARS,
    FrontMatter,
    Heading,
    document_date,
    entry_time,
    extract_decisions,
    front_matter,
    headings,
    line_starts,
    split_lines,
    tags,
    wikilinks,
)

pieces = [
    "# a\n",
    "```\n",
    "---\n",
    "k: [1]\n",
    "- b\n",
    "[[l]]",
    "#t ",
    "\r",
    "!!int ",
    "*x",
    "\ud800",
]
any_markdown = st.text(st.characters()) | st.lists(st.sampled_from(pieces)).map("".join)


def test_only_cr_lf_and_crlf_end_lines():
    text = "a\u2028b\x0bc\x0cd\x85e\x1cf\ng\r\nh\ri"
    assert split_lines(text) == ["a\u2028b\x0bc\x0cd\x85e\x1cf", "g", "h", "i"]
    assert line_starts(text) == [0, 12, 15, 17]


def test_headings_have_level_title_and_line():
    text = "# One\ntext\n\n   ## Two ##\r\n#tag\n#### C#\n    # code\n####### seven\n#"
    assert headings(text) == [
        Heading(1, "One", 1),
        Heading(2, "Two", 4),
        Heading(4, "C#", 6),
        Heading(1, "", 9),
    ]


@pytest.mark.parametrize(
    "code",
    [
        "```\n# no\n```",
        "~~~ python\n# no\n```\n# no\n~~~",
        "````\n```\n# no\n````",
        "- item\n  ```\n# no\n  ```",
        "```\n# no\n``` x\n# no\n```",
    ],
)
def test_fenced_code_holds_no_heading(code):
    assert headings(f"{code}\n# yes") == [Heading(1, "yes", code.count("\n") + 2)]


def test_an_unclosed_fence_reaches_to_the_end_and_inline_code_is_no_fence():
    assert headings("```\n# no") == []
    assert headings("```code``` x\n# yes") == [Heading(1, "yes", 2)]


def test_front_matter_holds_no_heading_and_opens_no_fence():
    text = "---\ntitle: x\n# comment\ncode: |\n  ```\n---\n# yes"
    assert headings(text) == [Heading(1, "yes", 7)]


DECISIONS = """\
- before any heading
# Plan
- not this
## Key DECISIONS (final)
- use SQLite
* one writer
1. ship it
  - nested
+ no bullet of ours
**bold** is no bullet
-no space
* * *
```
- in code
## Decisions
```
### Sub-heading
12. still under it
## Other
- not that
## Risks
- a risk
"""


def test_decisions_are_the_bullets_under_matching_headings():
    assert extract_decisions(DECISIONS, ["decision"]) == [
        "use SQLite",
        "one writer",
        "ship it",
        "nested",
        "still under it",
    ]
    assert extract_decisions(DECISIONS, ["nothing", "RISK"]) == ["a risk"]


def test_a_higher_matching_heading_takes_everything_below_it_once():
    doc = "# Decisions\n- a\n## Decisions of May\n- b\n## Else\n- c\n# End\n- d"
    assert extract_decisions(doc, ["decisions"]) == ["a", "b", "c"]


@pytest.mark.parametrize("markers", [[], [""], [" "]])
def test_without_a_marker_there_are_no_decisions(markers):
    assert extract_decisions(DECISIONS, markers) == []
    assert extract_decisions("", ["x"]) == []


def test_front_matter_values_are_jsonable():
    found = front_matter(
        "---\ntitle: A\ndate: 2024-05-01\nat: 2024-05-01 10:00:00\nn: [1, {2: .inf}]\n---\nbody"
    )
    assert found == FrontMatter(
        {"title": "A", "date": "2024-05-01", "at": "2024-05-01T10:00:00", "n": [1, {"2": "inf"}]},
        7,
        None,
    )


@pytest.mark.parametrize(
    ("text", "body_line"),
    [
        ("", 1),
        ("# no", 1),
        ("\n---\na: 1\n---\n", 1),
        ("---\nnever: closed\n", 1),
        ("---\nprose between breaks\n---\nmore", 1),
        ("---\n- a list\n---\n", 1),
        ("---\n---\nbody", 3),
        ("---\r\n# only a comment\r\n---\r\nbody", 4),
        ("---\n" + "x" * MAX_FRONT_MATTER_CHARS + ": 1\n---\n", 1),
    ],
)
def test_no_values_without_a_block_of_keys(text, body_line):
    assert front_matter(text) == FrontMatter({}, body_line, None)


def test_byte_order_mark_and_dots_are_accepted():
    assert front_matter("\ufeff---\na: 1\n...\nb") == FrontMatter({"a": 1}, 4, None)


@pytest.mark.parametrize(
    "block",
    [
        "a: b: c",
        "date: 2024-13-45",
        "n: !!int ''",
        "n: !!bool maybe",
        "x: !!python/object:os.system ls",
        "a: &a [1]\nb: *a",
        "a: " + "[" * 60_000,
        "a: \x00",
        "a: !!timestamp x",
    ],
)
def test_malformed_yaml_is_reported_not_raised(block):
    found = front_matter(f"---\n{block}\n---\nbody")
    assert found.values == {}
    assert found.body_line == block.count("\n") + 4
    assert found.error
    assert "\n" not in found.error


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, None),
        ({"date": "2024-05-01"}, datetime(2024, 5, 1, tzinfo=UTC)),
        ({"created": "2020-01-01", "date": "2021-01-01"}, datetime(2021, 1, 1, tzinfo=UTC)),
        ({"date": "2021-01-01", "Updated": "2022-01-01"}, datetime(2022, 1, 1, tzinfo=UTC)),
        ({"updated": "soon", "created": "2020-01-01"}, datetime(2020, 1, 1, tzinfo=UTC)),
        ({"date": "2024-05-01T10:00:00+02:00"}, datetime(2024, 5, 1, 8, tzinfo=UTC)),
        ({"date": date(2024, 5, 1)}, datetime(2024, 5, 1, tzinfo=UTC)),
        ({"date": 20240501}, datetime(2024, 5, 1, tzinfo=UTC)),
        ({"date": "2024/05/01"}, datetime(2024, 5, 1, tzinfo=UTC)),
        ({"date": True}, None),
        ({"date": ["2024-05-01"]}, None),
        ({"date": "0001-01-01T00:00:00+14:00"}, None),
    ],
)
def test_document_date_prefers_the_last_revision(values, expected):
    assert document_date(values) == expected


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        (["a", "#b", "a", 7, None, True, {}], ["a", "b", "7"]),
        ("a, b c", ["a", "b", "c"]),
        (None, []),
        ("", []),
    ],
)
def test_declared_tags(declared, expected):
    assert tags({"tags": declared}, "") == expected


def test_inline_tags_follow_the_declared_ones():
    body = "#work/now and (#no) a#no #12 `#no` #дом\n# Heading\n```\n#no\n```\n#a"
    assert tags({"tags": ["a"]}, body) == ["a", "work/now", "дом"]


def test_wikilinks_are_targets_once_in_order():
    text = (
        "[[B]] ![[img.png]] [[A|alias]] [[B#part]] [[dir/C#h|x]] [[#here]] [[T\\|in table]] [[]]\n"
        "`[[code]]`\n```\n[[fenced]]\n```\n[not](link) [[broken\nlink]]"
    )
    assert wikilinks(text) == ["B", "img.png", "A", "dir/C", "T"]


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("09:30 — build", time(9, 30)),
        ("9:05", time(9, 5)),
        ("A > 23:59 — build", time(23, 59)),
        ("A > 09:30 — build > Details", time(9, 30)),
        ("24:00 x", None),
        ("09:60", None),
        ("at 09:30", None),
        ("09:301", None),
        ("", None),
    ],
)
def test_entry_time_is_read_from_the_heading(heading, expected):
    assert entry_time(heading) == expected


@given(any_markdown)
def test_any_text_is_read_without_an_error(text):
    found = front_matter(text)
    json.dumps(found.values, allow_nan=False)
    assert 1 <= found.body_line <= len(split_lines(text)) + 1
    assert all(1 <= heading.level <= 6 for heading in headings(text))
    assert all(bullet.strip() == bullet != "" for bullet in extract_decisions(text, ["a"]))
    assert len(set(wikilinks(text))) == len(wikilinks(text))
    assert "" not in tags(found.values, text)
    assert "".join(split_lines(text)) == text.replace("\r", "").replace("\n", "")
