"""Globs as regular expressions that match in linear time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def glob_regex(pattern: str) -> re.Pattern[str]:
    """Compile a glob over ``/`` paths to an anchored regex that matches in linear time.

    ``*``, ``?`` and ``[...]`` (``[!...]`` negates) stay within one part of the path; a part that
    is ``**`` spans any number of them, also none: ``**/*.md`` matches ``a.md``, and ``daily/**``
    all that is under ``daily/``. Case matters. An unclosed ``[`` is an ordinary character.
    """
    groups: list[list[str]] = [[]]
    for part in pattern.split("/"):
        if part == "**":
            groups.append([])
        else:
            groups[-1].append(_part_regex(part))
    if len(groups) == 1:
        return re.compile(rf"\A{'/'.join(groups[0])}\Z")
    first, *middle, last = groups
    # The leftmost match of a group leaves most to the rest, so none is ever tried again.
    spans = [rf"(?>(?:[^/]++/)*?{'/'.join(group)}/)" for group in middle if group]
    head = "/".join(first) + "/" if first else ""
    tail = rf"(?:[^/]++/)*{'/'.join(last)}" if last else "(?s:.*)"
    return re.compile(rf"\A{head}{''.join(spans)}{tail}\Z")


def path_patterns(
    include: Sequence[str], exclude: Sequence[str]
) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what paths match that are wanted, in any case, and that are not.

    A ``/`` in front means the root, as people know it from ``.gitignore``: without one, what is
    not wanted is not wanted at any depth.
    """
    unwanted = _any_of(
        pattern.removeprefix("/") if pattern.startswith("/") else f"**/{pattern}"
        for pattern in exclude
    )
    return _any_of((pattern.removeprefix("/") for pattern in include), re.IGNORECASE), unwanted


def _any_of(patterns: Iterable[str], flags: int = 0) -> re.Pattern[str]:
    return re.compile("|".join(glob_regex(p).pattern for p in patterns) or r"(?!)", flags)


def _part_regex(part: str) -> str:
    """Return the regex of what stands between two ``/`` of a glob.

    Each ``*`` takes the shortest way to what follows it and never gives back, so a text that does
    not match is found out in linear time.
    """
    pieces = [""]
    at = 0
    while at < len(part):
        if part[at] == "*":
            pieces.append("")
            at += 1
        else:
            piece, at = _one_character(part, at)
            pieces[-1] += piece
    first, *rest = pieces
    if not rest:
        return first
    *middle, last = rest
    spans = "".join(rf"(?>[^/]*?{piece})" for piece in middle if piece)
    return rf"(?>{first}{spans}[^/]*{last}(?=/|\Z))"


def _one_character(part: str, at: int) -> tuple[str, int]:
    """Return the regex for the character, ``?`` or ``[...]`` at a position, and the next one."""
    if part[at] == "?":
        return "[^/]", at + 1
    if part[at] == "[":
        start = at + 2 if part.startswith("!", at + 1) else at + 1
        end = part.find("]", start + 1)  # a "]" that comes first is a member
        if end > 0:
            ranges = _ranges(part[start:end])
            negated = start == at + 2
            if negated:
                return rf"[^/{ranges}]", end + 1
            return rf"(?!/)[{ranges}]" if ranges else "(?!)", end + 1
    return re.escape(part[at]), at + 1


def _ranges(members: str) -> str:
    """Return the inside of a regex class; a range that runs backwards is empty."""
    out = ""
    for low, high, single in re.findall(r"(?s)(.)-(.)|(.)", members):
        if single:
            out += re.escape(single)
        elif low <= high:
            out += f"{re.escape(low)}-{re.escape(high)}"
    return out
