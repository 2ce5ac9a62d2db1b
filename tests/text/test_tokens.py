import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.text.tokens import QUARTERS, estimate_tokens, quarter_tokens

any_text = st.text(st.characters())  # lone surrogates too


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("abcd", 1),
        ("abcde", 2),
        ("hello world", 3),  # 11 characters
        ("2024", 4),
        ("in 2024", 5),  # 3 characters, 4 digits
        ("Привет", 6),
        ("Привет, мир", 10),  # 9 letters, comma and space
        ("低头思故乡", 5),
        ("٣٤", 2),  # Arabic-Indic digits
        ("école", 2),  # Latin with diacritics is Latin
        ("ﬁnﬁ", 1),  # ligatures are Latin
        ("e\u0301cole", 2),  # the mark adds nothing: 5 characters
        ("\u0301" * 9, 0),
        ("हि", 1),  # a letter and a vowel sign
        ("👍👍👍👍", 1),
        ("\ud800\x00", 1),
        ("ªº", 1),
    ],
)
def test_counts_digits_and_other_scripts_whole_and_the_rest_in_quarters(text, tokens):
    assert estimate_tokens(text) == tokens


def test_ascii_fast_path_agrees_with_the_general_rule():
    text = "v1.2 of x_9, costs $30!\n"
    digits = sum(char.isdigit() for char in text)
    expected = digits + -(-(len(text) - digits) // 4)
    assert estimate_tokens(text) == expected
    assert quarter_tokens(text + "я") == quarter_tokens(text) + QUARTERS


@given(any_text, any_text)
def test_weight_is_additive_and_the_estimate_its_ceiling(left, right):
    weight = quarter_tokens(left + right)
    assert weight == quarter_tokens(left) + quarter_tokens(right)
    assert (weight + 3) // 4 == estimate_tokens(left + right)
    assert 0 <= weight <= QUARTERS * len(left + right)
