"""Names of entities, and what makes two spellings the same name."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

MAX_NAME_CHARS = 255
"""Longer names are sentences; the column holds no more on every database."""

MAX_NAME_WORDS = 6
"""Words of a name that are looked for in a query, at most."""

_SPACE = re.compile(r"\s+")
_APOSTROPHES = re.compile("[’ʼ`´]")
_EDGES = " \t\n.,;:!?\"'()[]{}<>«»“”„…*_"
_POSSESSIVE = re.compile(r"'s?$")
_WORD = re.compile(r"\S+")
_BREAKS = frozenset(",;:!?…")


def entity_key(name: str) -> str:
    r"""Return what equal names share: NFKC, casefolded, one space, no punctuation around.

    Inner punctuation stays, so that ``C``, ``C++`` and ``C#`` are three names, and ``St. Paul`` is
    not ``St Paul``. A name of nothing but punctuation has the key ``""``.

    >>> entity_key("  The Ｒｉｖｅｒ\\tMain. ")
    'the river main'
    """
    folded = unicodedata.normalize("NFKC", _APOSTROPHES.sub("'", name)).casefold()
    return _SPACE.sub(" ", folded).strip(_EDGES)


def display_name(name: str) -> str:
    """Return a name as it is shown: on one line, without spaces around it."""
    return _SPACE.sub(" ", name).strip()


def keys_in(text: str, *, max_words: int = MAX_NAME_WORDS) -> list[str]:
    """Return the keys of all runs of words that could be a name in a text, each once.

    Longer runs come first. The possessive counts as no part of a name: ``Anna's`` is ``anna``.
    """
    words = _WORD.findall(entity_key(text))
    found: dict[str, None] = {}
    for size in range(min(max_words, len(words)), 0, -1):
        for start in range(len(words) - size + 1):
            run = entity_key(" ".join(words[start : start + size]))
            found.update(dict.fromkeys((run, _POSSESSIVE.sub("", run))))
    found.pop("", None)
    return list(found)


def phrases_in(text: str, tells: Callable[[str], bool]) -> list[str]:
    """Return the keys of the longest runs of telling words in a text, each once.

    What stands between stop words and punctuation is likely to be a name, in any script and case.

    Args:
        text: What is asked.
        tells: Whether a word is no stop word.
    """
    runs: list[list[str]] = [[]]
    for word in text.split():
        if tells(word):
            runs[-1].append(word)
        if not tells(word) or word[-1] in _BREAKS or len(runs[-1]) == MAX_NAME_WORDS:
            runs.append([])
    keys = (_POSSESSIVE.sub("", entity_key(" ".join(run))) for run in runs)
    return [key for key in dict.fromkeys(keys) if key]
