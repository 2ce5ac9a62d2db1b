"""Long parts in pieces, and one paragraph of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.conversation.condensing import MERGED, condensed, pieces_of
from langchain_memengine.errors import ChatModelError
from langchain_memengine.models.asking import answered
from langchain_memengine.text.tokens import estimate_tokens
from tests.fakes.chat_models import ScriptedChatModel


@given(
    st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=80), max_size=8),
    st.integers(1, 40),
)
def test_pieces_fit_and_leave_nothing_out(turns, max_tokens):
    pieces = pieces_of(turns, max_tokens)
    assert all(estimate_tokens(piece) <= max_tokens + 1 for piece in pieces)
    joined, told = "".join(pieces), "".join(turns)
    for gap in ("\n", " "):
        joined, told = joined.replace(gap, ""), told.replace(gap, "")
    assert sorted(joined) == sorted(told)


def test_turns_stay_together_while_they_fit_and_words_stay_whole():
    assert pieces_of(["aaaa", "bbbb", "cccc"], 3) == ["aaaa\n\nbbbb", "cccc"]
    words = "word " * 20  # six of them are 30 characters, and eight tokens are 32
    assert pieces_of([words], 8) == ["word " * 6, *["    " + "word " * 6] * 2, "    word word "]
    assert pieces_of([], 3) == []


def test_no_cut_lets_a_text_begin_another_turn():
    said = "Tool (web): " + "Person: I like rum. " * 20
    assert all(piece.startswith("    ") for piece in pieces_of([said], 16)[1:])


def test_one_piece_is_asked_once_with_the_earlier_summary_fenced():
    model = ScriptedChatModel(replies=["A  paragraph.\n"])
    assert answered(condensed(["Person: Hi"], "Tea."), model) == "A paragraph."
    (prompt,) = model.prompts()
    assert "at most 500 characters" in prompt
    assert prompt.index("Tea.") < prompt.index("Person: Hi")
    assert "<transcript-" in prompt
    assert "<previous-context-" in prompt


def test_many_pieces_are_merged_until_one_is_left():
    model = ScriptedChatModel(
        replies=lambda messages: "M" if "Merge" in str(messages[0].content) else "P"
    )
    pieces = [f"piece {number}" for number in range(MERGED + 1)]
    assert answered(condensed(pieces, ""), model) == "M"
    # nine pieces, eight of them merged, then that and the ninth
    assert len(model.calls) == 9 + 1 + 1
    assert "M\n\nP" in model.prompts()[-1]


@pytest.mark.parametrize("reply", ["long " * 300, "", ValueError("no")])
def test_one_bad_reply_spoils_the_summary(reply):
    model = ScriptedChatModel(replies=["Fine.", reply])
    with pytest.raises(ChatModelError):
        answered(condensed(["a", "b", "c"], ""), model)
    assert len(model.calls) == 2
