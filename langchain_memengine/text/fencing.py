"""Fence text as data, so that a model can tell it from instructions."""

from __future__ import annotations

import hashlib
import re

_LOOK_ALIKE = re.compile(
    r"<(\s*/?\s*(?:memor(?:y|ies)|previous-context|transcript)\b)", re.IGNORECASE
)


def defused(text: str) -> str:
    """Return text in which nothing looks like the tag of a fence, without outer line ends."""
    return _LOOK_ALIKE.sub(r"&lt;\1", text.strip("\n"))


def fenced(name: str, text: str) -> str:
    """Return text between ``<name-nonce>`` and ``</name-nonce>``, which it cannot close.

    The nonce is a hash of the text itself: its author cannot know it, and the same text gives the
    same fence, so that prompt caches survive. ``name`` is one that :func:`defused` knows.
    """
    nonce = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"<{name}-{nonce}>\n{defused(text)}\n</{name}-{nonce}>"
