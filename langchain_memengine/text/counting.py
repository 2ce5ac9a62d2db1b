"""Numbers of things in words: one file, two files."""

from __future__ import annotations

import re
from collections.abc import Mapping

_PLURAL = re.compile(r"(ie)?s(?=$| of | with)")


def counted(number: int, one: str, several: str = "") -> str:
    """Return ``1 file`` or ``2 files``.

    Args:
        number: How many there are.
        one: What one of them is called.
        several: What more of them are called, where an s does not make it.
    """
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"


def counted_kinds(found: Mapping[str, int]) -> str:
    """Return ``2 records, 1 note`` of ``{"records": 2, "notes": 1}``, ``nothing`` of none."""
    told = (
        counted(number, _PLURAL.sub(lambda end: "y" if end[1] else "", kind, count=1), kind)
        for kind, number in found.items()
    )
    return ", ".join(told) or "nothing"
