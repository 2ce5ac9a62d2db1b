"""Whether one text says everything that another one says, word by word.

Layout does not matter: case, white space, line breaks, list marks, emphasis, quotation marks, the
stop at a sentence's end, articles. Everything else does: numbers with signs and units, symbols,
question marks, negations, and in which sentence a word stands.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from langchain_memengine.text.quoting import UNSPACED

Sentence = tuple[str, ...]
"""The words of a sentence, in order."""

SHINGLE_CHARS = 5

# A blank line, a line that begins an entry, and the end of a sentence.
_BREAK = re.compile(
    r"\n[ \t]*\n|\n(?=[ \t]*(?:[-*+•#>|]|\d{1,9}[.)])[ \t])|(?<=[.!?…])\s+|(?<=[。！？])"
)
_OPENING = re.compile(r"^[\"'“‘«„*`(]+(?=[\w\[])")
_CLOSING = "\"'”’»*`).,;:!…。，！"
_MARK = re.compile(r"[-*+•|>#=_]+")
_HEADING = re.compile(r"^([ \t]*#{1,6}[ \t].*)$", re.MULTILINE)
# A capital "A" within a sentence may be a name, as in "vitamin A".
_ARTICLE = re.compile(r"a|an|the|An|The|AN|THE")


def sentences(text: str) -> tuple[Sentence, ...]:
    """Return the sentences of a text; one without words is none.

    Of scripts that are written without spaces each character is a word.
    """
    straight = unicodedata.normalize("NFKC", text.replace("\r\n", "\n"))
    apart = _HEADING.sub(r"\1\n", straight)
    found = (_words(part) for part in _BREAK.split(apart))
    return tuple(words for words in found if words)


def says_all(more: Sequence[Sentence], less: Sequence[Sentence]) -> bool:
    """Return whether one text has all sentences of another, in their order."""
    rest = iter(more)
    return all(sentence in rest for sentence in less)


def similarity(one: Sequence[Sentence], other: Sequence[Sentence]) -> float:
    """Return the share of shingles that two texts have in common (Jaccard), 0 to 1."""
    first, second = _shingles(one), _shingles(other)
    return len(first & second) / len(first | second) if first or second else 1.0


def _words(sentence: str) -> Sentence:
    pieces = UNSPACED.sub(lambda found: f" {found[0]} ", sentence).split()
    if pieces and _MARK.fullmatch(pieces[0]):
        del pieces[0]
    words = [_OPENING.sub("", piece).rstrip(_CLOSING) for piece in pieces]
    if words and words[0] == "A":
        del words[0]
    return tuple(word.casefold() for word in words if word and not _ARTICLE.fullmatch(word))


def _shingles(text: Sequence[Sentence]) -> frozenset[str]:
    flat = " ".join(word for sentence in text for word in sentence)
    ends = range(SHINGLE_CHARS, max(len(flat), SHINGLE_CHARS) + 1)
    return frozenset(flat[end - SHINGLE_CHARS : end] for end in ends)
