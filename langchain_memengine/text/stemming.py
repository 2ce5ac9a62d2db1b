"""Snowball stemming, with the language chosen by the script a word is written in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from importlib.metadata import PackageNotFoundError, version
from threading import Lock

_MAX_REMEMBERED = 200_000

# The language a script stands for when the configured one is written in another script.
_SCRIPTS = (
    (0x0041, 0x024F, "english"),
    (0x0370, 0x03FF, "greek"),
    (0x0400, 0x052F, "russian"),
    (0x0530, 0x058F, "armenian"),
    (0x0590, 0x05FF, ""),  # Hebrew has no stemmer; Yiddish must be asked for
    (0x0600, 0x077F, "arabic"),
    (0x0900, 0x097F, "hindi"),
    (0x0B80, 0x0BFF, "tamil"),
    (0x1E00, 0x1EFF, "english"),
    (0x1F00, 0x1FFF, "greek"),
)
_SCRIPTS_OF = {
    "arabic": ("arabic",),
    "armenian": ("armenian",),
    "greek": ("greek",),
    "hindi": ("hindi",),
    "nepali": ("hindi",),
    "persian": ("arabic",),
    "russian": ("russian",),
    "serbian": ("russian", "english"),
    "tamil": ("tamil",),
    "yiddish": ("",),
}


def languages_by_script(language: str) -> Mapping[str, str]:
    """Return which language to stem a word with, by the name of its script.

    Scripts are named after the language they stand for (see ``script_of``). The scripts of
    ``language`` map to it; a script with no stemmer is absent.
    """
    defaults = {name: name for _, _, name in _SCRIPTS if name}
    return defaults | dict.fromkeys(_SCRIPTS_OF.get(language, ("english",)), language)


def script_of(word: str) -> str:
    """Return the language that the script of a word's first letter stands for.

    ``"-"`` for a script that is not known here, a digit, or a sign.
    """
    point = ord(word[0])
    return next((name for first, last, name in _SCRIPTS if first <= point <= last), "-")


@cache
def stemmer_names() -> tuple[str, ...]:
    """Return the languages there is a stemmer for, sorted."""
    import snowballstemmer

    return tuple(sorted(snowballstemmer.algorithms()))


@cache
def stemmer_of(language: str) -> Callable[[str], str]:
    """Return the stemmer of a language: fast for words seen before, safe in several threads."""
    import snowballstemmer

    stemmer = snowballstemmer.stemmer(language)
    lock = Lock()  # a stemmer keeps the word it works on in itself

    @lru_cache(_MAX_REMEMBERED)
    def stem(word: str) -> str:
        with lock:
            return str(stemmer.stemWord(word)) or word

    return stem


@cache
def stemmer_version() -> str:
    """Return the versions the stems depend on; PyStemmer takes over where it is installed.

    Looked up once in a process: that reads the papers of both packages, a third of an opening.
    """
    return f"{_installed('snowballstemmer')}/{_installed('PyStemmer')}"


def _installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "-"
