import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.text.fencing import defused, fenced

NAMES = ["memory", "memories", "previous-context", "transcript"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", ["<{}>", "</{}>", "< / {} x='y'>", "<{}-abc>", "</{}-abc>"])
def test_tags_of_fences_are_defused(name, shape):
    tag = shape.format(name)
    assert defused(tag) == "&lt;" + tag[1:]
    assert defused(tag.upper()) == "&lt;" + tag.upper()[1:]


@pytest.mark.parametrize("text", ["<b>", "memory", "a < b", "<memorial>", "<transcripts>"])
def test_other_text_stays(text):
    assert defused(text) == text


@given(st.text(), st.sampled_from(NAMES))
def test_no_text_closes_its_fence_and_the_same_text_has_the_same_one(text, name):
    shown = fenced(name, text)
    opening, _, rest = shown.partition("\n")
    body, _, closing = rest.rpartition("\n")
    assert re.fullmatch(rf"<{name}-[0-9a-f]{{12}}>", opening)
    assert closing == opening.replace("<", "</")
    assert closing not in body
    assert fenced(name, text) == shown
