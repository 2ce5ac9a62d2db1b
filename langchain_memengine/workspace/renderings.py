"""Entries of Markdown files that only render a record: marked, so that nothing is found twice.

The record is what is searched, and what a person is asked to forget. A rendering whose record is
gone stays unsearched, and goes with what is forgotten: it does not come back through the file that
told of it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

_OPENING = "<!-- record:"
_MARK = re.compile(r"<!-- (/?)record:(\S+) -->")
_CONTENT = re.compile(r"[^\r\n]+")


def rendered(entry: str, record: str) -> str:
    """Return an entry between the marks of a record; an entry ends with a line break."""
    return f"{opening(record)}\n{entry}<!-- /record:{_name(record)} -->\n"


def opening(record: str) -> str:
    """Return the line that an entry of a record begins with."""
    return f"<!-- record:{_name(record)} -->"


def unmarked(text: str) -> str:
    """Return a text that no longer looks like a mark, where it did."""
    return _MARK.sub(lambda found: found[0].replace("<!--", "&lt;!--"), text)


def without_rendered(text: str) -> str:
    """Return a text with its marked entries blank; all other lines stay where they are.

    Marks stand on lines of their own. One without its counterpart marks nothing, as does an
    opening one that another follows: a person may have cut a part away.
    """
    if _OPENING not in text:
        return text
    lines = text.splitlines(keepends=True)
    for _, entry in _entries(lines):
        lines[entry] = [_CONTENT.sub("", inner) for inner in lines[entry]]
    return "".join(lines)


def without_entries(text: str, records: Collection[str]) -> str:
    """Return a text without the marked entries of these records; other lines stay as they are."""
    if not records or _OPENING not in text:
        return text
    names = {_name(record) for record in records}
    lines = text.splitlines(keepends=True)
    gone = [entry for name, entry in _entries(lines) if name in names]
    for entry in reversed(gone):
        del lines[entry]
    return "".join(lines)


def _entries(lines: Sequence[str]) -> Iterator[tuple[str, slice]]:
    """Yield the names of records, and the lines of their entries with the marks."""
    begun, name = 0, ""
    for place, line in enumerate(lines):
        mark = _MARK.fullmatch(line.strip())
        if mark is None:
            continue
        if not mark[1]:
            begun, name = place, mark[2]
        elif mark[2] == name:
            yield name, slice(begun, place + 1)
            name = ""


def _name(record: str) -> str:
    """Return a record's id as one word that cannot end the comment it stands in."""
    return re.sub(r"\s|>", "_", record)
