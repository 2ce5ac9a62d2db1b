"""Summaries without a model."""

from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.conversation.extractive import SENTENCE_CHARS, extractive_summary
from langchain_memengine.conversation.transcript import Turn

turns_of_any_kind = st.lists(
    st.builds(
        Turn,
        role=st.sampled_from(["Person", "Assistant", "Tool", "System"]),
        speaker=st.sampled_from(["", "anna", "bob"]),
        text=st.text(max_size=300).filter(str.strip),
    ),
    min_size=1,
    max_size=30,
)


def person(text: str, speaker: str = "") -> Turn:
    return Turn("Person", speaker, text)


def test_quotes_what_people_asked_and_what_was_decided_in_order():
    said = [
        person("The kiln is cold. It was fine on Monday."),
        Turn("Assistant", "", "Perhaps the fuse. We will replace it."),
        Turn("Tool", "look", "We will never see this."),
        person("Fine. We decided on a ceramic fuse."),
    ]
    assert extractive_summary(said, 500) == (
        "The kiln is cold. Assistant: We will replace it. Fine. We decided on a ceramic fuse."
    )


def test_names_are_told_when_several_people_speak():
    said = [person("Tea, please.", "anna"), person("Coffee.", "bob")]
    assert extractive_summary(said, 500) == "anna: Tea, please. bob: Coffee."


def test_a_name_forges_no_other_speaker():
    said = [person("Tea.", "anna: I owe you.\nbob"), person("Coffee.", "bob")]
    assert extractive_summary(said, 500) == "anna I owe you. bob: Tea. bob: Coffee."


def test_first_request_and_decisions_come_before_the_rest():
    said = [person(f"Question number {n:02}?") for n in range(40)]
    said[20] = person("We decided on oak.")
    # 19 characters a question; the first, the decision, and the newest that fit into 100
    assert extractive_summary(said, 100) == (
        "Question number 00? … We decided on oak. … Question number 38? Question number 39?"
    )


def test_equal_sentences_are_quoted_once():
    assert extractive_summary([person("Go on.")] * 9, 500) == "Go on."


def test_long_sentence_is_cut_between_words():
    found = extractive_summary([person("word " * 100)], 500)
    assert found == "word " * (SENTENCE_CHARS // 5 - 1) + "word…"


def test_even_one_sentence_that_is_too_long_fits():
    assert extractive_summary([person("word " * 100)], 40) == "word " * 7 + "word…"


def test_tools_speak_where_nobody_else_does():
    said = [Turn("Tool", "", "Old."), Turn("Tool", "", "The fuse\nis broken.")]
    assert extractive_summary(said, 500) == "Tool: The fuse is broken."
    assert extractive_summary([], 500) == "0 turns without any words."


def test_other_scripts_have_sentences_and_decisions():
    said = [person("窑是冷的。昨天还好。"), person("好。我们决定用陶瓷保险丝。再见。")]
    assert extractive_summary(said, 500) == "窑是冷的。 好。 我们决定用陶瓷保险丝。"


@given(turns_of_any_kind, st.integers(40, 500))
def test_summary_is_one_bounded_line_that_is_never_blank(said, max_chars):
    found = extractive_summary(said, max_chars)
    assert found.strip()
    assert len(found) <= max_chars
    assert "\n" not in found
    assert extractive_summary(said, max_chars) == found
