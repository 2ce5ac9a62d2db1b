"""Entries of Markdown files that only render a record: marked, so that nothing is found twice.

The record is what is searched, and what a person is asked to forget. A rendering whose record is
gone stays unsearched: what was forgotten does not come back through the file that told of it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

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
    lines = text.splitlines(keepends=True)
    for entry, _ in _entries(text, lines):
        lines[entry] = [_CONTENT.sub("", inner) for inner in lines[entry]]
    return "".join(lines)


def without_records(text: str, records: Collection[str]) -> str:
    """Return a text without the marked entries of these records, and without any mark of theirs."""
    wanted = {_name(record) for record in records}
    lines = text.splitlines(keepends=True)
    for entry, record in reversed(_entries(text, lines)):
        if record in wanted:
            del lines[entry]
    return "".join(line for line in lines if _marked_record(line) not in wanted)


def _marked_record(line: str) -> str | None:
    mark = _MARK.fullmatch(line.strip())
    return mark[2] if mark else None


def _entries(text: str, lines: Sequence[str]) -> list[tuple[slice, str]]:
    """Return the lines of each marked entry, marks included, and whose record it renders."""
    if "<!-- record:" not in text:
        return []
    found = []
    begun, record = 0, ""
    for place, line in enumerate(lines):
        mark = _MARK.fullmatch(line.strip())
        if mark is None:
            continue
        if not mark[1]:
            begun, record = place, mark[2]
        elif mark[2] == record:
            found.append((slice(begun, place + 1), record))
            record = ""
    return found


def _name(record: str) -> str:
    """Return a record's id as one word that cannot end the comment it stands in."""
    return re.sub(r"\s|>", "_", record)
