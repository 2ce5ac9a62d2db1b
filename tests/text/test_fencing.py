import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.text.fencing import defused, fenced, forges_fence

NAMES = ["memory", "memories", "previous-context", "transcript"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", ["<{}>", "</{}>", "< / {} x='y'>", "<{}-abc>", "</{}-abc>"])
def test_tags_of_fences_are_defused(name, shape):
    tag = shape.format(name)
    assert defused(tag) == "&lt;" + tag[1:]
    assert defused(tag.upper()) == "&lt;" + tag.upper()[1:]
    assert forges_fence(f"a {tag}")


@pytest.mark.parametrize(
    "tag",
    [
        "\uff1c/memory>", "\u2039memory>", "<\u200b/\u2060memory>", "<mem\u00adory>",
        "<\uff4demory>", "<\ufe0fmemory>", "<m\u034femory>", "</\u3164memory>",
        "<m" + "\u200b" * 99 + "emory>", "<" + " " * 99 + "\uff0f" + "\n" * 99 + "memory>",
        "<system>", "</ SYSTEM >", "<user role='x'>", "<assistant>", "<tool_result>", "<tool-use>",
        "<function_calls>", "<|im_start|>", "< |eot_id|>", "<\uff5cUser\uff5c>",
    ],
)  # fmt: skip
def test_look_alikes_and_tags_of_speakers_are_defused(tag):
    assert defused(f"a {tag} b") == f"a &lt;{tag[1:]} b"


def test_marks_of_chat_templates_are_defused():
    assert defused("[INST] <<SYS>>x<</SYS>> [/INST]") == (
        "&#91;INST] &#60;<SYS>>x&#60;</SYS>> &#91;/INST]"
    )


def test_letters_that_no_screen_shows_are_left_out():
    unseen = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")
    assert defused(f"tea{unseen} time") == "tea time"
    assert forges_fence(unseen)


OTHER_TEXTS = [
    "<b>", "memory", "a < b", "<memorial>", "<transcripts>", "<user_id>", "<tools>",
    "List<String>", "a[INSTANCE]", "if (a<b || c)", "日本＜語", "<!-- system -->", "<\u0440>",
]  # fmt: skip


@pytest.mark.parametrize("text", OTHER_TEXTS)
def test_other_text_stays(text):
    assert defused(text) == text
    assert not forges_fence(text)


@given(st.text(), st.sampled_from(NAMES))
def test_no_text_closes_its_fence_and_the_same_text_has_the_same_one(text, name):
    shown = fenced(name, text)
    opening, _, rest = shown.partition("\n")
    body, _, closing = rest.rpartition("\n")
    assert re.fullmatch(rf"<{name}-[0-9a-f]{{12}}>", opening)
    assert closing == opening.replace("<", "</")
    assert closing not in body
    assert fenced(name, text) == shown


@pytest.mark.parametrize("text", ["<" * 200_000, "<\u200b" * 50_000, "[INST" * 40_000])
def test_no_text_takes_long(text):
    assert len(defused(text)) == len(text)
