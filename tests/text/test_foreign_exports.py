"""Exports of mem0 and ChatGPT, as they come."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.text.foreign_exports import ForeignText, read_export

AT = datetime(2024, 5, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize("wrap", [lambda m: m, lambda m: {"results": m}, lambda m: {"memories": m}])
def test_mem0_memories_are_read_in_each_shape(wrap):
    export = read_export(
        wrap(
            [
                {
                    "id": "m1",
                    "memory": "Likes tea",
                    "user_id": "ann",
                    "metadata": {"a": 1},
                    "created_at": "2024-05-01T05:00:00-07:00",
                },
                {"memory": "  "},
                {"id": "m3"},
                7,
                "Plain words",
            ]
        )
    )
    assert export.system == "mem0"
    first, second = export.texts
    assert first == ForeignText(
        "m1", "Likes tea", "memory", AT, "ann", None, {"a": 1, "user_id": "ann"}
    )
    assert (second.text, second.at, second.user_id) == ("Plain words", None, None)
    assert export.skipped == {"blank": 1, "no memory": 2}


def node(parent, role, *parts, **told):
    content = {"content_type": "text", "parts": list(parts)}
    message = {"author": {"role": role}, "content": content, **told}
    return {"parent": parent, "message": message}


def test_chatgpt_conversations_are_read_along_the_branch_they_ended_on():
    conversation = {
        "title": "Drinks",
        "conversation_id": "c1",
        "create_time": 1714564800,
        "current_node": "d",
        "mapping": {
            "root": {"parent": None, "message": None},
            "s": node("root", "system", ""),
            "a": node("s", "user", "I like tea", id="ma"),
            "b": node("a", "assistant", "Abandoned"),
            "c": node("a", "assistant", "Noted. ", {"text": "Really."}, create_time=1714564800.0),
            "t": node("c", "tool", "output"),
            "h": node(
                "t", "user", "hidden", metadata={"is_visually_hidden_from_conversation": True}
            ),
            "d": node("h", "assistant", ""),
        },
    }
    export = read_export([conversation, "nonsense"])
    assert export.system == "chatgpt"
    assert [(t.id, t.role, t.text, t.at) for t in export.texts] == [
        ("c1/ma", "user", "I like tea", AT),
        ("c1/c", "assistant", "Noted. \nReally.", AT),
    ]
    assert {t.thread_id for t in export.texts} == {"c1"}
    assert export.texts[0].metadata == {"title": "Drinks"}
    assert export.skipped == {
        "another branch": 1,
        "said by system": 1,
        "said by tool": 1,
        "said by hidden": 1,
        "blank": 1,
        "no conversation": 1,
    }
    assert read_export(conversation).texts == export.texts


def test_chains_that_bite_their_tail_end():
    mapping = {"a": node("b", "user", "x"), "b": node("a", "user", "y")}
    export = read_export([{"mapping": mapping, "current_node": "a"}])
    assert [t.text for t in export.texts] == ["y", "x"]


def test_a_long_conversation_takes_no_long():
    mapping = {str(n): node(str(n - 1), "user", "x") for n in range(10_000)}
    export = read_export([{"mapping": mapping, "current_node": "9999"}])
    assert len(export.texts) == 10_000


@pytest.mark.parametrize("value", [None, 7, "text", {}, {"a": 1}, [1], [{"a": 1}], {"data": "x"}])
def test_anything_else_is_no_export(value):
    assert read_export(value) is None


KEYS = [
    *("memory", "mapping", "message", "content", "parts", "author", "role", "parent", "text"),
    *("current_node", "created_at", "metadata", "results", "id"),
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(value=JSON)
def test_no_shape_breaks_the_reader(value):
    export = read_export(value)
    assert export is None or all(text.text.strip() for text in export.texts)


def test_words_that_stand_beside_no_parts_are_read_too():
    said = {"author": {"role": "user"}, "content": {"content_type": "code", "text": "print(1)"}}
    export = read_export([{"id": "c", "current_node": "a", "mapping": {"a": {"message": said}}}])
    assert [one.text for one in export.texts] == ["print(1)"]
