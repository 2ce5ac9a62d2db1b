"""A message's own words, and quotes from them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.text.quoting import (
    is_quote,
    name_key,
    own_words,
    rests_on,
    shared_share,
    text_key,
)


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("I like tea.", "I like tea."),
        ("See:\n```py\nI like rum\n```\nI like tea.", "See:\n\nI like tea."),
        ("See:\n~~~\nI like rum", "See:"),
        ("> I like rum\nI like tea.", "I like tea."),
        ("I like tea.\n```md\n```\nI like rum\n```", "I like tea."),
        ("```md\n```sh\nls\n```\nI like rum\n```\nI like tea.", "I like tea."),
        ("```\na\n```\nI like rum\n```\nb\n```\nI like tea.", "I like tea."),
        ("```inline``` I like tea.", "```inline``` I like tea."),
        ("<doc>a</doc>I like rum</doc> I like tea.", "I like tea."),
        ("<doc>a</doc>I like rum<doc>b</DOC> I like tea.", "I like tea."),
        ("</doc> I like tea. <doc>", "</doc> I like tea. <doc>"),
        ("<file name='a.md'>I like rum</file> I like tea.", "I like tea."),
        ("<doc>I like <b>rum</b></doc> I like tea.", "I like tea."),
        ("I like tea. <memories-ab12>I like rum", "I like tea."),
        ("I like tea. <MEMORY origin='user'>I like rum", "I like tea."),
        ("I like tea.\n<previous-context-0>\nI like rum\n</previous-context-0>", "I like tea."),
        (
            "I like tea.\n\nAssistant: You like rum.\nAnd gin.\n\nRight?",
            "I like tea.\n\n\n\nRight?",
        ),
        ("System: they like rum", ""),
        ("Tool (shell): they like rum", ""),
        ("## PREVIOUS CONTEXT: they like rum", ""),
        ("Summary of this conversation: they like rum", ""),
        ("a < b, <x> and 2 > 1", "a < b, <x> and 2 > 1"),
        ("My assistant likes rum: true", "My assistant likes rum: true"),
        ("Я живу в Москве", "Я живу в Москве"),
    ],
)
def test_what_is_shown_as_somebody_elses_is_left_out(text, own):
    assert own_words(text) == own


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("I like tea", "Well, I like tea."),
        ("i LIKE\n tea", "I  like tea"),
        ("it's mine", "It’s mine"),
        ("-5 degrees", "It was -5 degrees."),
        ("I use C++", "I use C++."),
        ("住在莫斯科", "用户住在莫斯科。"),
        ("живу в Москве", "Я живу в Москве"),
        ("Cafe\u0301 Rom", "Im Café Rom"),
        ("I use C", "I use C++ and I use C"),  # the second one
    ],
)
def test_quote_is_found_whatever_case_and_space(quote, text):
    assert is_quote(quote, text)


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("I like rum", "I like tea"),
        ("I use C", "I use C++"),
        ("I use C", "I use C#"),
        ("5 degrees", "It was -5 degrees."),
        ("I pay 5", "I pay 5.50"),
        ("I pay 5", "I pay 5%"),
        ("I live in Rom", "I live in Rome"),
        ("ike tea", "I like tea"),
        ("", "I like tea"),
        ("...", "I like tea..."),
        ("I", "I like tea"),
        ("I like … tea", "I like tea"),
    ],
)
def test_what_is_not_said_is_no_quote(quote, text):
    assert not is_quote(quote, text)


@given(st.lists(st.sampled_from(["I", "like", "C++", "-5", "tea.", "莫斯科", "é"]), min_size=3))
def test_any_run_of_whole_words_is_a_quote(words):
    text = " ".join(words)
    quote = " ".join(words[1:-1])
    assert is_quote(quote, text) or sum(map(str.isalnum, quote)) < 3


@pytest.mark.parametrize(
    ("fact", "quote", "rests"),
    [
        ("User likes tea", "I like tea", True),
        ("User works at 5 Via Appia", "my office is at 5 Via Appia", True),
        ("User uses C++", "I use C", False),
        ("User uses C", "I use C++", False),
        ("User uses C", "I use C++ and C", True),
        ("User uses C# and C++.", "I use C++ (and C#).", True),
        ("It was 5 degrees", "it was -5 degrees", False),
        ("It was -5 degrees.", "it was -5 degrees", True),
        ("User pays 5", "I pay 5.50", False),
        ("User keeps 5%", "I keep 5", False),
        ("用户有3只猫", "我有3只猫", True),
        ("User has 3-4 cats", "I have 3-4 cats", True),
        ("It was -5 degrees", "it was 5 degrees", False),
        ("User's account is 12345", "yes, that is my account", False),
        ("User is rich", "I like tea", False),
        ("User's bank is evil.example", "I like my bank", False),
        ("User's bank is good.example", "my bank is good.example.", True),
        ("User mails to me@x.example", "I mail to you@x.example", False),
        ("User reads https://x.example/a", "I read https://x.example/b", False),
        ("用户住在莫斯科", "我住在莫斯科", True),
    ],
)
def test_fact_rests_on_its_quote_as_far_as_words_tell(fact, quote, rests):
    assert rests_on(fact, quote) is rests


def test_share_of_words_leaves_some_out():
    assert shared_share("user likes tea", "user hates tea", "user likes hates") == 1.0
    assert shared_share("user likes tea", "user likes rum", "user likes") == 0.0
    assert shared_share("a b c d", "b c") == 1.0
    assert shared_share("a b c d", "b x") == 0.5
    assert shared_share("knows C++", "knows C", "knows") == 0.0
    assert shared_share("-5", "5") == 0.0
    assert shared_share("wohnt Zürich", "wohnt Köln") == 0.5
    assert shared_share("user", "user", "user") == 0.0


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("I use C", "I use C++", False),
        ("-5", "5", False),
        ("x²", "x2", False),
        ("5 mg", "5 Mg", False),
        ("tea.", " tea", True),
        ("Cafe\u0301", "Café", True),
    ],
)
def test_key_of_a_text_keeps_signs_and_symbols(one, other, same):
    assert (text_key(one) == text_key(other)) is same


def test_key_of_a_name_ignores_case_and_joiners():
    assert name_key("Lives_In ") == name_key("lives in") != name_key("live in")


@pytest.mark.parametrize(
    "text",
    [
        "<a>" * 20_000,
        "".join(f"<a{n}>" for n in range(15_000)),
        "> " * 50_000,
        "```\n" * 20_000,
        "AI:\n" * 20_000,
    ],
)
def test_no_message_takes_long(text):
    own_words(text)


@pytest.mark.parametrize("long", ["a" * 20_000, "a." * 10_000, "a-" * 10_000, "1" * 20_000])
def test_no_fact_takes_long(long):
    assert rests_on(f"User likes {long}", f"I like {long}")
    assert not rests_on("User likes a1", long)
