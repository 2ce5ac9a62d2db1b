"""How a word may be spelt: what makes two spellings one, and which others find a word too.

Many people type without diacritics, or on keyboards that have none: Zurich or Zuerich for Zürich,
елка for ёлка. A word therefore also counts as what it is without them. Only where letter and mark
are one letter to all who write it (й, が, the vowel signs of India) does the mark stay.
"""

from __future__ import annotations

import re
import unicodedata

# Joiners that stay in a word are dropped, so that both spellings match, and so are the points of
# Hebrew, which most people leave out; look-alikes of the apostrophe and the minus become one, and
# the digits of scripts that have their own become those of all others.
_DROPPED = "\u00ad\u200c\u200d\u2060\ufeff" + "".join(map(chr, range(0x0591, 0x05BE))) + "\u05bf"
_SAME = dict.fromkeys(_DROPPED + "\u05c1\u05c2\u05c4\u05c5\u05c7", "")
_SAME |= {"’": "'", "ʼ": "'", "‐": "-", "−": "-", "\u05be": "-"}
_ZEROS = "٠۰०০੦૦୦௦౦೦൦๐໐༠၀០"
_SAME |= {chr(ord(zero) + digit): str(digit) for zero in _ZEROS for digit in range(10)}
_SAME_CHARS = re.compile(f"[{''.join(_SAME)}]")
_DOTTED_I = "i\u0307"  # what casefolding makes of the Turkish capital İ

# All marks of Latin and Greek letters; of Cyrillic ones the stress, and the dots of ё.
_MARKS = re.compile(
    "(?<=[a-z\u00df-\u02af\u0370-\u03ff])[\u0300-\u036f]+"
    "|(?<=[аеиоуыэюяіє])[\u0300\u0301]"
    "|(?<=е)\u0308"
)
# Letters that Unicode takes apart into none, as they are typed where they are missing.
_LETTERS = str.maketrans(
    {"ı": "i", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ø": "o", "æ": "ae", "œ": "oe"}
    | {"ħ": "h", "ŧ": "t", "ŋ": "n", "ə": "e", "ɓ": "b", "ɗ": "d", "ƙ": "k", "ƴ": "y"}
)
# What German, Danish, Norwegian and Swedish put in their place.
_TWO_LETTERS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe", "æ": "ae"})


def fold(text: str) -> str:
    """Return what spellings of a text share that mean no other word: NFKC, casefolded."""
    composed = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return _SAME_CHARS.sub(lambda found: _SAME[found[0]], composed).replace(_DOTTED_I, "i")


def spellings(word: str) -> tuple[str, ...]:
    """Return a folded word as it is spelt, then as it is typed without its diacritics.

    >>> spellings("müller"), spellings("ёлка"), spellings("miller")
    (('müller', 'muller', 'mueller'), ('ёлка', 'елка'), ('miller',))
    """
    if word.isascii():
        return (word,)
    without, marks = _MARKS.subn("", unicodedata.normalize("NFD", word))
    bare = (unicodedata.normalize("NFC", without) if marks else word).translate(_LETTERS)
    # With other letters beyond ASCII it is a word of other languages: Turkish güneş, no guenes.
    spelt_out = word.translate(_TWO_LETTERS)
    return tuple(dict.fromkeys((word, bare, spelt_out if spelt_out.isascii() else bare)))
