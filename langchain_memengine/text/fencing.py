"""Fence text as data, so that a model can tell it from instructions."""

from __future__ import annotations

import hashlib
import re
import unicodedata

_BRACKET = re.compile("[<\u2039\u276e\u27e8\u3008\ufe64\uff1c]")  # what is read as "<"
_FENCE = re.compile(r"\s*/?\s*(?:(?:memor(?:y|ies)|previous-context|transcript)\b|\|\w+\|)")
_SPEAKER = re.compile(
    r"\s*/?\s*(?:(?:system|developer|assistant|human|user|tool|function)\b|(?:tool|function)_\w|\|)"
)
_TEMPLATE = re.compile(r"\[(/?\s*INST)\]|<(</?\s*SYS>>)", re.IGNORECASE)
_NO_NAME = re.compile(r"[!-.0-@\[-`{}~]|\Z")  # behind a bracket; most brackets are in code
_NAME_CHARS = 48

# Read by models, shown by nothing: letters of the block that once tagged languages.
_UNSEEN = re.compile("[\U000e0000-\U000e007f]")


def defused(text: str) -> str:
    """Return text in which nothing looks like a fence or a turn, without outer line ends.

    That is: tags of fences and of speakers, whatever brackets or invisible characters they are
    written with, and the marks of chat templates, which some model servers read inside of texts.
    Letters that no screen shows are left out. Other text stays as it is.
    """
    text = _UNSEEN.sub("", text).strip("\n")
    text = _TEMPLATE.sub(lambda mark: f"&#{ord(mark[0][0])};{mark[0][1:]}", text)
    return _BRACKET.sub(lambda found: _escaped(text, found.start()), text)


def fenced(name: str, text: str) -> str:
    """Return text between ``<name-nonce>`` and ``</name-nonce>``, which it cannot close.

    The nonce is a hash of the text itself: its author cannot know it, and the same text gives the
    same fence, so that prompt caches survive. ``name`` is one that :func:`defused` knows.
    """
    nonce = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"<{name}-{nonce}>\n{defused(text)}\n</{name}-{nonce}>"


def forges_fence(text: str) -> bool:
    """Return whether a text holds what only a forger writes.

    That is the tag of a fence, the mark of a chat template, or letters that no screen shows. Tags
    of speakers are common in code.
    """
    return bool(
        _UNSEEN.search(text)
        or _TEMPLATE.search(text)
        or any(_FENCE.match(_behind(text, found.start())) for found in _BRACKET.finditer(text))
    )


def _escaped(text: str, at: int) -> str:
    """Return the bracket at a place, as an entity if it opens what looks like a tag."""
    name = _behind(text, at)
    return "&lt;" if _FENCE.match(name) or _SPEAKER.match(name) else text[at]


def _behind(text: str, at: int) -> str:
    """Return what a reader sees behind a bracket, in lower case; ``""`` where no name begins."""
    if _NO_NAME.match(text, at + 1):
        return ""
    seen = unicodedata.normalize("NFKC", text[at + 1 : at + _NAME_CHARS])
    return "".join(c for c in seen if unicodedata.category(c) != "Cf").casefold()
