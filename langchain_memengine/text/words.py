r"""Words of a text for the keyword index.

Text is folded (NFKC, casefold), then one pass of a linear pattern finds tokens: a word, an
identifier (words joined by ``_ . / - : @`` and the like, ``C++``, ``-5``), or a run of a script
written without spaces. A word with diacritics also counts as what it is without them. What a token
contributes is remembered, so that each distinct word is stemmed once.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import cache

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.text.spelling import fold, spellings
from langchain_memengine.text.stemming import (
    languages_by_script,
    script_of,
    stemmer_names,
    stemmer_of,
    stemmer_version,
)
from langchain_memengine.text.stopwords import LATIN_LANGUAGES, STOP_WORDS, guess_language

AUTO = "auto"
NONE = "none"

SPLITTER_VERSION = 3
"""Raised with every change of the output, so that stored keyword indexes are rebuilt."""

MAX_WORD_CHARS = 100
"""Longer words are cut, longer identifiers are indexed by their parts only."""

_MAX_STEMMED_CHARS = 40
_MAX_REMEMBERED = 200_000
_WORDS_FOR_GUESS = 300

# Han, kana, bopomofo, Hangul, Thai, Lao, Burmese, Khmer: no spaces between words, or (Hangul)
# endings glued to them. Written for a regular expression's character class.
_UNSPACED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ebd\u0ec0-\u0ecd\u0edc-\u0edf\u1000-\u103f\u1050-\u108f"
    "\u1100-\u11ff\u1780-\u17d3\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3041-\u3096"
    "\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3131-\u318e\u31a0-\u31bf"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7a3\ud7b0-\ud7fb\uf900-\ufaff"
)
_UNSPACED_ASTRAL = "\U0001b000-\U0001b16f\U00020000-\U0003ffff"
_RUN = re.compile(f"[{_UNSPACED}{_UNSPACED_ASTRAL}]")

# Han and Hangul characters are words by themselves: 猫, 집. A query of one must find it in a run.
_HAN = "\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff"
_SINGLE = re.compile(f"[{_HAN}\uac00-\ud7a3]")
_LONE = re.compile(f"(?<![{_HAN}])[{_HAN}](?![{_HAN}])")

# Classes that reach beyond the basic plane are five times slower: only for texts that need them.
# What lies between (emoji) needs none.
_ASTRAL = re.compile("[\U00010a00-\U0001efff\U00020000-\U0003ffff\U000e0100-\U000e01ef]")

# Pictures: emoji without their colours, and the signs they began with.
_EMOJI = "\u2600-\u27bf\U0001f000-\U0001f3fa\U0001f400-\U0001faff"
_HAS_EMOJI = re.compile(f"[{_EMOJI}]")

# A sign or a dot in front, words joined by single connectors, and the tails of C++ and C#. Every
# repetition is possessive and starts where the one before ended: no input makes it backtrack.
_PATTERN = (
    r"(?:(?<![\w.])\.(?=[^\W\d_])|(?<![\w)\]-])-(?=\d))?"
    r"{word}(?:(?::[/\\]++|::|[-./\\:@&']|(?<=\d),(?=\d)){word})*+"
    r"(?:\+\+|\#(?!\w))?"
)
_ASCII_TOKEN = re.compile(_PATTERN.format(word=r"\w++"), re.ASCII)

# getUserName, and not iPhone, JavaScript or LangChain: those are one word each.
_CAMEL = re.compile(r"(?<![A-Za-z0-9])[a-z]{2,}(?:[A-Z][a-z0-9]*)+")
_INNER_CAPITAL = re.compile(r"[A-Z](?<=[a-z][A-Z])")  # faster to look for, and few texts have one
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+")
_HYPHENATED = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+")

_PLAIN = re.compile(r"[^\W_]+")
_DIGIT = re.compile(r"\d")
_SEGMENTS = re.compile(r":?[/\\]+")
_THOUSANDS = re.compile(r"-?\d{1,3}(?:,\d{3})+")

Spellings = Callable[[str], Sequence[str]]


class WordSplitter:
    """Split texts into the words a keyword index counts.

    Case, width and punctuation do not matter. Stop words are dropped and the rest is stemmed;
    a word in another script than the language's is treated as the language that script stands
    for (Cyrillic as Russian, …). Identifiers (``user_id``, ``getUserName``, ``v1.2.3``, ``C++``,
    paths, ``-5``) are kept whole, in front of their parts, ``e-mail`` as ``email``. Runs of Han,
    kana, Hangul, Thai and other unspaced scripts become overlapping pairs of characters, followed
    by each Han or Hangul character; a lone character stays as it is. A word with diacritics is
    followed by what people type instead: ``zürich`` by ``zurich`` and ``zuerich``.

    Args:
        language: A language of ``snowballstemmer``; ``"auto"`` to tell English, German, French,
            Spanish, Italian and Portuguese apart text by text; ``"none"`` for neither stop words
            nor stemming.

    Raises:
        ConfigurationError: There is no such language.
    """

    def __init__(self, language: str = "english") -> None:
        choices = (*stemmer_names(), AUTO, NONE)
        if language not in choices:
            raise ConfigurationError(
                f"Unknown language {language!r} for keyword search. "
                f"Choose one of: {', '.join(choices)}."
            )
        self.language = language
        self._lexicons: dict[str, _Lexicon] = {}

    @property
    def fingerprint(self) -> str:
        """Name everything the words depend on; equal fingerprints give equal words."""
        return (
            f"words-{SPLITTER_VERSION} {self.language} "
            f"snowball-{stemmer_version()} "
            f"unicode-{unicodedata.unidata_version}"
        )

    def __call__(self, text: str) -> list[str]:
        """Return the words of a text, in order, repeated ones too.

        A text of nothing but stop words keeps them; a text without words gives ``[]``.
        """
        return self._words(_tokens(text), singles=True)

    def query(self, text: str) -> list[str]:
        """Return the words to look a text up by.

        As for an indexed text, but of a run of Han or Hangul only the pairs: its characters one
        by one would match almost anything. A lone character still is looked up, also one that
        stands between kana, and in ``"auto"`` a word as the texts of each language have it: a few
        words do not tell theirs.
        """
        return self._words(_tokens(text), singles=False)

    def _words(self, tokens: list[str], *, singles: bool) -> list[str]:
        lexicon = self._lexicon(tokens)
        if singles:
            words = [word for token in tokens for word in lexicon[token]]
        else:
            words = [word for token in tokens for word in self._asked(token, lexicon)]
        if tokens and not words:
            kept = {token: lexicon.forms(token, frozenset()) for token in set(tokens)}
            words = [word for token in tokens for word in kept[token]]
        return words

    def _asked(self, token: str, lexicon: _Lexicon) -> Sequence[str]:
        """Return the words that a token of a query asks for; none for a stop word."""
        if pairs := _pairs(token):
            return [*pairs, *_LONE.findall(token)]
        words = lexicon[token]
        if self.language != AUTO or not words:
            return words
        every = [words, *(self._lexicon_of(language)[token] for language in LATIN_LANGUAGES)]
        return list(dict.fromkeys(word for forms in every for word in forms))

    def _lexicon(self, tokens: list[str]) -> _Lexicon:
        if self.language == AUTO:
            return self._lexicon_of(guess_language(tokens[:_WORDS_FOR_GUESS]))
        return self._lexicon_of(self.language)

    def _lexicon_of(self, language: str) -> _Lexicon:
        if language not in self._lexicons:
            self._lexicons[language] = _Lexicon(language, spellings)
        return self._lexicons[language]


def exact_words(text: str) -> list[str]:
    """Return the words of a text as they are spelt, stop words too: to compare, not to search."""
    lexicon = _Lexicon(NONE, lambda word: (word,))
    return [word for token in _tokens(text) for word in lexicon[token]]


class _Lexicon(dict[str, tuple[str, ...]]):
    """What each folded token contributes to the index, for one language, remembered."""

    def __init__(self, language: str, spellings: Spellings) -> None:
        super().__init__()
        self._spellings = spellings
        self._by_script = {} if language == NONE else languages_by_script(language)
        self._stop_words = frozenset[str]().union(
            *(STOP_WORDS.get(name, frozenset()) for name in self._by_script.values())
        )

    def __missing__(self, token: str) -> tuple[str, ...]:
        forms = tuple(self.forms(token, self._stop_words))
        if len(token) <= MAX_WORD_CHARS and not _RUN.match(token):
            if len(self) >= _MAX_REMEMBERED:
                self.clear()
            self[token] = forms
        return forms

    def forms(self, token: str, stop_words: frozenset[str]) -> list[str]:
        """Return the words a token stands for, without ``stop_words``."""
        if _RUN.match(token):
            return [*_pairs(token), *_SINGLE.findall(token)] if len(token) > 1 else [token]
        token = token.strip("_")  # Markdown emphasis and private names
        if token in stop_words:
            return []
        if "'" in token:
            return self._around_apostrophes(token.split("'"), stop_words)
        if _THOUSANDS.fullmatch(token):
            token = token.replace(",", "")
        parts = [
            stem
            for part in _parts(token)
            if part not in stop_words
            for stem in self._stems(part, stop_words)
        ]
        if _HYPHENATED.fullmatch(token):
            return [*self._stems(token.replace("-", ""), stop_words), *parts]
        return [spelt for whole in _wholes(token) for spelt in self._spelt(whole)] + parts

    def _around_apostrophes(self, pieces: list[str], stop_words: frozenset[str]) -> list[str]:
        """Drop what a contraction or an elision leaves over: ``'s``, ``n't``, ``l'``, ``qu'``."""
        full = [piece for piece in pieces if len(piece) > 2]  # noqa: PLR2004 (longest elision)
        if full or not stop_words.isdisjoint(pieces):
            return [word for piece in full for word in self.forms(piece, stop_words)]
        return self.forms("".join(pieces), stop_words)

    def _stems(self, word: str, stop_words: frozenset[str]) -> Iterable[str]:
        """Return the stems of a word's spellings, each once; sûr is no stop word, sur is one."""
        if word.isascii():  # most are, and there is one for each new word of a text
            return (self._stem(word[:MAX_WORD_CHARS]),)
        return dict.fromkeys(self._stem(one) for one in self._spelt(word) if one not in stop_words)

    def _spelt(self, word: str) -> list[str]:
        return [one[:MAX_WORD_CHARS] for one in self._spellings(word[:MAX_WORD_CHARS])]

    def _stem(self, word: str) -> str:
        language = self._by_script.get(script_of(word))
        if not language or len(word) > _MAX_STEMMED_CHARS or _DIGIT.search(word):
            return word
        return stemmer_of(language)(word)


def _tokens(text: str) -> list[str]:
    if _INNER_CAPITAL.search(text):
        text = _CAMEL.sub(_with_humps, text)
    if text.isascii():
        return _ASCII_TOKEN.findall(text.lower())
    folded = fold(text)
    astral, emoji = bool(_ASTRAL.search(folded)), bool(_HAS_EMOJI.search(folded))
    return _unicode_token(astral=astral, emoji=emoji).findall(folded)


def _with_humps(found: re.Match[str]) -> str:
    return " ".join([found[0], *_HUMP.findall(found[0])])


def _pairs(token: str) -> list[str]:
    """Return the overlapping pairs of a run of unspaced script; none for anything else."""
    return [token[at : at + 2] for at in range(len(token) - 1)] if _RUN.match(token) else []


def _parts(token: str) -> list[str]:
    """Return the words of an identifier; combining marks stay in them."""
    return (_PLAIN if token.isascii() else _unicode_plain()).findall(token)


def _wholes(token: str) -> list[str]:
    """Return the identifiers a token holds, the widest first; none for a plain word."""
    if len(token) > MAX_WORD_CHARS:
        return []
    unsigned = token.removeprefix("-")
    segments = _SEGMENTS.split(token)
    candidates = [token, unsigned, *segments] if len(segments) > 1 else [token, unsigned]
    return [
        whole
        for whole in dict.fromkeys(name.strip("_") for name in candidates)
        if whole and _parts(whole) != [whole]
    ]


@cache
def _marks(*, astral: bool) -> str:
    """Return the combining marks, written for a character class."""
    points = (*range(0x300, 0x10000), *(range(0x10000, 0x1F000) if astral else ()))
    marks = "".join(chr(point) for point in points if unicodedata.category(chr(point))[0] == "M")
    return f"{marks}\U000e0100-\U000e01ef" if astral else marks


@cache
def _unicode_token(*, astral: bool, emoji: bool = False) -> re.Pattern[str]:
    unspaced = _UNSPACED + _UNSPACED_ASTRAL if astral else _UNSPACED
    word = rf"(?:[^\W{unspaced}]++[{_marks(astral=astral)}]*+)++"
    pictures = f"|[{_EMOJI}]" if emoji else ""
    return re.compile(f"[{unspaced}]++|{_PATTERN.format(word=word)}{pictures}")


@cache
def _unicode_plain() -> re.Pattern[str]:
    return re.compile(rf"(?:[^\W_]++[{_marks(astral=True)}]*+)++")
