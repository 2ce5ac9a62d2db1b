"""Fence text as data, so that a model can tell it from instructions."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from langchain_memengine.text.digests import digest

_BRACKET = re.compile("[<\u2039\u276e\u27e8\u3008\ufe64\uff1c]")  # what is read as "<"
_OPENING = re.compile(rf"{_BRACKET.pattern}\s*+[/\u2044\u2215\uff0f]?\s*+")
_FENCE = re.compile(r"(?:memor(?:y|ies)|previous-context|transcript)\b|\|\w+\|")
_SPEAKER = re.compile(
    r"(?:system|developer|assistant|human|user|tool|function)\b|(?:tool|function)_\w|\|"
)
_TEMPLATE = re.compile(r"\[(/?\s*INST)\]|<(</?\s*SYS>>)", re.IGNORECASE)
_NO_NAME = re.compile(r"[!-.0-@\[-`{}~]|\Z")  # behind a bracket; most brackets are in code
_NAME_CHARS = 48

# Read by models, shown by nothing: letters of the block that once tagged languages.
_UNSEEN = re.compile("[\U000e0000-\U000e007f]")

# What Unicode lets programs ignore, and other marks of format: they may stand within any word.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def defused(text: str) -> str:
    """Return text in which nothing looks like a fence or a turn, without outer line ends.

    That is: tags of fences and of speakers, whatever brackets or invisible characters they are
    written with, and the marks of chat templates, which some model servers read inside of texts.
    Letters that no screen shows are left out. Other text stays as it is.
    """
    text = _UNSEEN.sub("", text).strip("\n")
    text = _TEMPLATE.sub(lambda mark: f"&#{ord(mark[0][0])};{mark[0][1:]}", text)
    names = _names(text)
    return _BRACKET.sub(lambda found: "&lt;" if _is_tag(next(names)) else found[0], text)


def fenced(name: str, text: str) -> str:
    """Return text between ``<name-nonce>`` and ``</name-nonce>``, which it cannot close.

    The nonce is a hash of the text itself: its author cannot know it, and the same text gives the
    same fence, so that prompt caches survive. ``name`` is one that :func:`defused` knows.
    """
    nonce = digest(text)[:12]
    return f"<{name}-{nonce}>\n{defused(text)}\n</{name}-{nonce}>"


def forges_fence(text: str) -> bool:
    """Return whether a text holds what only a forger writes.

    That is the tag of a fence, the mark of a chat template, or letters that no screen shows. Tags
    of speakers are common in code.
    """
    return bool(
        _UNSEEN.search(text) or _TEMPLATE.search(text) or any(map(_FENCE.match, _names(text)))
    )


def visible(text: str) -> str:
    """Return a text without the characters that no screen shows, wherever they stand."""
    return text if text.isascii() else _INVISIBLE.sub("", text)


def _is_tag(name: str) -> bool:
    return bool(_FENCE.match(name) or _SPEAKER.match(name))


def _names(text: str) -> Iterator[str]:
    """Yield what a reader sees behind each bracket, in lower case; ``""`` where no name begins."""
    seen = visible(text)
    for found in _OPENING.finditer(seen):
        is_name = not _NO_NAME.match(seen, found.start() + 1)
        name = seen[found.end() : found.end() + _NAME_CHARS] if is_name else ""
        yield unicodedata.normalize("NFKC", name).casefold()
