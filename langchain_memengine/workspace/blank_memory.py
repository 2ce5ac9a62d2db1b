"""The pinned facts of a memory that has none yet."""

from __future__ import annotations

BLANK_MEMORY = """\
# Memory

<!-- Pinned facts, a line each. Every recall shows this file whole, so keep it short. -->
"""
"""What a new MEMORY.md says. It is for whoever opens the file, and pins nothing."""


def is_untouched(text: str) -> bool:
    """Return whether a MEMORY.md still says what a new one does; line ends do not count."""
    return text.split() == BLANK_MEMORY.split()
