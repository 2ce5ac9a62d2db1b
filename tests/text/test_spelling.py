import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.text.spelling import fold, spellings


@pytest.mark.parametrize(
    ("word", "others"),
    [
        ("plain", []),
        ("café", ["cafe"]),
        ("résumé", ["resume"]),
        ("naïve", ["naive"]),
        ("são", ["sao"]),
        ("kraków", ["krakow"]),
        ("łódź", ["lodz"]),
        ("đường", ["duong"]),
        ("việt", ["viet"]),
        ("ısı", ["isi"]),
        ("țară", ["tara"]),
        ("ţară", ["tara"]),  # with a cedilla, as old fonts had it
        ("œuvre", ["oeuvre"]),
        ("þór", ["thor"]),
        ("əliyev", ["eliyev"]),
        ("q\u0307x", ["qx"]),  # a letter that Unicode has only in two
        ("αθήνα", ["αθηνα"]),
        ("ёлка", ["елка"]),
        ("за\u0301мок", ["замок"]),  # stress, as dictionaries show it
    ],
)
def test_without_diacritics(word, others):
    assert spellings(word) == (word, *others)


@pytest.mark.parametrize(
    ("word", "others"),
    [
        ("müller", ["muller", "mueller"]),
        ("größe", ["grosse", "groesse"]),
        ("århus", ["arhus", "aarhus"]),
        ("københavn", ["kobenhavn", "koebenhavn"]),
        ("ærø", ["aero", "aeroe"]),
        ("güneş", ["gunes"]),  # Turkish
    ],
)
def test_two_letters_in_the_place_of_an_umlaut(word, others):
    assert spellings(fold(word)) == (fold(word), *others)


@pytest.mark.parametrize(
    "word",
    [
        "йод",
        "їжак",
        "ўзор",
        "ѓавол",
        "が",
        "パ",
        "한국어",
        "हिन्दी",
        "ไทย",
        "שלום",
        "عَرَبِيّ",
        "क\u093c",
        "猫",
    ],
)
def test_letters_that_only_look_marked_are_no_others(word):
    assert spellings(fold(word)) == (fold(word),)


def test_a_letter_may_carry_marks_without_end():
    marks = "\u0316" * 50_000 + "\u0301" * 50_000
    assert spellings(f"x{marks}y")[1:] == ("xy",)


@pytest.mark.parametrize("text", ["Zürich", "Ёлка", "ÅRHUS", "İstanbul", "Straße", "Việt"])
@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_folding_does_not_depend_on_how_marks_are_written(text, form):
    assert fold(unicodedata.normalize(form, text)) == fold(text)


@given(st.text(st.characters(codec="ascii")))
def test_ascii_has_one_spelling(word):
    assert spellings(word) == (word,)


@given(st.text(st.characters()))
def test_spellings_begin_with_the_word_and_have_no_more_of_their_own(word):
    folded = fold(word)
    own, *others = spellings(folded)
    assert own == folded
    assert len({own, *others}) == 1 + len(others) <= 3


@given(st.text(st.characters(min_codepoint=0x0900, max_codepoint=0x1CFF)))
def test_scripts_beyond_latin_greek_and_cyrillic_have_one_spelling(word):
    assert spellings(fold(word)) == (fold(word),)
