"""Tell which texts look like attempts to steer an agent.

A filter of texts is no defence: whoever knows it writes around it. What a text may do is decided by
where it comes from; this only lets the clumsy attempts be told of.
"""

from __future__ import annotations

import re

from langchain_memengine.text.fencing import forges_fence, visible

FORGES = "It forges the marks that tell an agent where data ends."
INSTRUCTS = "It gives instructions to an agent."

# Of these every attempt below has one: most texts have none, and are not looked at twice.
_WORDS = (
    *("ignor", "disregard", "overrid", "system ", "developer ", "from now on", "you are now"),
    *("the user", "your memory", "long-term memory", "for future", "for all future"),
)
_INSTRUCTS = re.compile(
    r"\b(?:ignor|disregard|overrid)\w*+[^.\n]{0,40}?\b(?:previous|prior|earlier|above|all|your|any)\b"
    r"[^.\n]{0,30}?\b(?:instruction|prompt|rule|message|guideline)"
    r"|^\W{0,8}(?:system|developer)[ ]+(?:override|prompt|message|note|instruction)s?[ ]*(?::|$)"
    r"|\b(?:from now on,? you|you are now)\b"
    r"|\b(?:do not|don['’]t|never)[ ]+(?:tell|inform|alert|warn|ask)[ ]+the[ ]+user\b"
    r"|\b(?:remember|memori[sz]e|save|store|note)\b[^\n]{0,60}?\b(?:that[ ]+the[ ]+user"
    r"|(?:in|to)[ ]+(?:your|long-term)[ ]+memory|for[ ]+(?:all[ ]+)?future)\b",
    re.MULTILINE,
)


def suspicion(text: str) -> str:
    """Return what makes a text look like an attempt to steer an agent; ``""`` if nothing does.

    It is an attempt if it forges a fence or a turn, hides letters, or has one of a few English
    phrases that agents are steered by. So does a note about such attempts.
    """
    if forges_fence(text):
        return FORGES
    seen = visible(text).lower()
    is_possible = any(word in seen for word in _WORDS)
    return INSTRUCTS if is_possible and _INSTRUCTS.search(seen) else ""
