"""Read what the engine needs from Markdown: headings, bullets, front matter, links, times.

Lines end at LF, CRLF or CR only, as in an editor; ``str.splitlines`` would also cut at form
feeds and Unicode separators. Every function takes any string and is linear in it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time

import yaml

from langchain_memengine.text.code_fences import fences

HEADING_JOINER = " > "
"""Joins the titles of a heading path."""

DATE_KEYS = ("updated", "date", "created")
"""Front matter keys that date a document, best first: its age is that of its last revision."""

MAX_FRONT_MATTER_CHARS = 64_000
"""A block not closed within so many characters is no front matter, but a thematic break."""

# PyYAML's constructors leak these for malformed scalars (`!!int ""`, `2024-99-99`).
_YAML_ERRORS = (yaml.YAMLError, ValueError, TypeError, LookupError, AttributeError, OverflowError)
_MAX_YAML_DEPTH = 20

_BREAK = re.compile(r"\r\n|\r|\n")
_HEADING = re.compile(r"\ufeff? {0,3}(#{1,6})(?=[ \t]|$)")
_BULLET = re.compile(r"[ \t]*(?:[-*]|[0-9]{1,9}\.)[ \t]+(?=\S)")
_INLINE_CODE = re.compile(r"`[^`\r\n]*`")
_WIKILINK = re.compile(r"\[\[([^\[\]\r\n]+)\]\]")
_INLINE_TAG = re.compile(r"(?<!\S)#([\w/-]+)")
_TAG_BREAK = re.compile(r"[,\s]+")
_ENTRY_TIME = re.compile(r"\s*([01]?[0-9]|2[0-3]):([0-5][0-9])(?![0-9])")


@dataclass(frozen=True, slots=True)
class Heading:
    """One ATX heading (``# Title``).

    Attributes:
        level: 1 to 6.
        title: Its text without the marks.
        line: 1-based.
    """

    level: int
    title: str
    line: int


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The YAML block a document may begin with.

    Attributes:
        values: Its keys with JSON-able values; dates are ISO 8601 strings. Empty if malformed.
        body_line: First line after the block, 1-based; 1 without a block.
        error: Why the block could not be read; ``None`` if it could, or there is none.
    """

    values: dict[str, object] = field(default_factory=dict)
    body_line: int = 1
    error: str | None = None


def line_starts(text: str) -> list[int]:
    """Return the offset at which each line begins; never empty, the first is 0."""
    return [0, *(found.end() for found in _BREAK.finditer(text))]


def split_lines(text: str) -> list[str]:
    """Return the lines without their ends: one more than there are line ends."""
    return _BREAK.split(text)


def headings(text: str) -> list[Heading]:
    """Return the headings of a document in order.

    Lines of fenced code and of the front matter are none.
    """
    lines = split_lines(text)
    body_line = front_matter(text).body_line
    return find_headings(lines, fences(lines, body_line), body_line)


def find_headings(
    lines: Sequence[str], fence_marks: Sequence[int], body_line: int
) -> list[Heading]:
    """Return the headings among lines already split; the arguments are of the whole document.

    Args:
        lines: As from ``split_lines``.
        fence_marks: As from ``fences``.
        body_line: First line that may be a heading, 1-based.
    """
    found = []
    for at in range(body_line - 1, len(lines)):
        match = None if fence_marks[at] else _HEADING.match(lines[at])
        if match:
            found.append(Heading(len(match[1]), _title(lines[at][match.end() :]), at + 1))
    return found


def _title(rest: str) -> str:
    title = rest.strip()
    unclosed = title.rstrip("#")
    closed = unclosed != title and (not unclosed or unclosed[-1] in " \t")
    return unclosed.rstrip() if closed else title


def extract_decisions(doc: str, markers: Sequence[str]) -> list[str]:
    """Return the bullets under every heading whose title contains a marker.

    Args:
        doc: A Markdown document.
        markers: Words or phrases; case does not matter, blank ones match nothing.

    Returns:
        The text of each ``-``, ``*`` or ``1.`` line, nested ones too, in order; a section ends
        at the next heading of the same or a higher level. Fenced code is neither heading nor
        bullet, nor is a thematic break.

    Source: decsr, ``ExtractDecisions``.
    """
    wanted = [marker.casefold() for marker in markers if marker.strip()]
    lines = split_lines(doc)
    body_line = front_matter(doc).body_line
    marks = fences(lines, body_line)
    by_line = {found.line: found for found in find_headings(lines, marks, body_line)}
    section = 0  # level of the heading whose bullets count; 0 for none
    bullets = []
    for number, line in enumerate(lines, start=1):
        heading = by_line.get(number)
        if heading and (not section or heading.level <= section):
            title = heading.title.casefold()
            section = heading.level if any(marker in title for marker in wanted) else 0
        elif section and not marks[number - 1] and (found := _BULLET.match(line)):
            bullets.append(line[found.end() :].strip())
    return [bullet for bullet in bullets if bullet.strip("-*_ \t")]


def front_matter(text: str) -> FrontMatter:
    """Read the YAML block between ``---`` lines at the very start of a document.

    A first ``---`` that nothing closes, or whose block holds prose instead of keys, is a
    thematic break: no front matter. Malformed YAML is reported in ``error``, never raised.
    """
    head = text[:MAX_FRONT_MATTER_CHARS]
    lines = split_lines(head) if len(head) == len(text) else split_lines(head)[:-1] or [head]
    if lines[0].lstrip("\ufeff").rstrip() != "---":
        return FrontMatter()
    last = next((at for at, line in enumerate(lines) if at and line.rstrip() in {"---", "..."}), 0)
    if not last:
        return FrontMatter()
    try:
        loaded = _load_yaml("\n".join(lines[1:last]))
    except _YAML_ERRORS as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        return FrontMatter({}, last + 2, f"The front matter is not readable YAML: {reason}")
    if loaded is None:
        return FrontMatter({}, last + 2)
    return FrontMatter(loaded, last + 2) if isinstance(loaded, dict) else FrontMatter()


def _load_yaml(block: str) -> object:
    depth = 0
    for event in yaml.parse(block, yaml.SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        # Aliases let a few lines unfold without end, and PyYAML is quadratic in the depth.
        if isinstance(event, yaml.AliasEvent) or depth > _MAX_YAML_DEPTH:
            raise yaml.YAMLError(
                f"aliases (*name) and more than {_MAX_YAML_DEPTH} levels are not read"
            )
    loaded = yaml.safe_load(block)
    return _jsonable(loaded) if isinstance(loaded, dict) else loaded


def _jsonable(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(_jsonable(key)): _jsonable(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set):
        return [_jsonable(inner) for inner in value]
    if isinstance(value, date):  # datetime is one, too
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def document_date(values: Mapping[str, object]) -> datetime | None:
    """Return when a document was last revised, by its front matter.

    Args:
        values: Front matter; the keys ``updated``, ``date``, ``created`` are tried in this
            order (case does not matter), and one that holds no date is passed over.

    Returns:
        An aware UTC time: a time without a zone is taken as UTC, a date as its midnight.
        ``None`` when no key holds a date.
    """
    by_key = {key.casefold(): value for key, value in values.items()}
    dates = (_as_datetime(by_key.get(key)) for key in DATE_KEYS)
    return next((found for found in dates if found), None)


def _as_datetime(value: object) -> datetime | None:
    if isinstance(value, bool) or not isinstance(value, str | int | date):
        return None
    try:
        found = datetime.fromisoformat(str(value).strip().replace("/", "-"))
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def tags(values: Mapping[str, object], body: str) -> list[str]:
    """Return the tags of a document, without ``#``, unique, in order.

    Args:
        values: Front matter; ``tags`` is a list, or one string with commas or spaces.
        body: The text after it; its inline ``#tags`` follow. They begin a word outside code and
            hold a letter (``#12`` is an issue, not a tag).
    """
    declared = values.get("tags")
    listed = declared if isinstance(declared, list) else [declared]
    named = [
        tag.lstrip("#")
        for entry in listed
        if isinstance(entry, str | int | float) and not isinstance(entry, bool)
        for tag in _TAG_BREAK.split(str(entry))
    ]
    inline = (tag for line in _prose(body) for tag in _INLINE_TAG.findall(line))
    named += (tag for tag in inline if any(map(str.isalpha, tag)))
    return [tag for tag in dict.fromkeys(named) if tag]


def wikilinks(text: str) -> list[str]:
    """Return the notes a text links to as ``[[target]]``, unique, in order of appearance.

    ``[[target#heading]]``, ``[[target|alias]]`` and embeds count; links within the same note
    (``[[#heading]]``) and links in code do not.
    """
    inner = (found for line in _prose(text) for found in _WIKILINK.findall(line))
    targets = (re.split(r"[|#]", link, maxsplit=1)[0].rstrip("\\").strip() for link in inner)
    return [target for target in dict.fromkeys(targets) if target]


def _prose(text: str) -> Iterator[str]:
    """Yield the lines outside fenced code, without their inline code."""
    lines = split_lines(text)
    for line, mark in zip(lines, fences(lines), strict=True):
        if not mark:
            yield _INLINE_CODE.sub(" ", line) if "`" in line else line


def entry_time(heading: str) -> time | None:
    """Read the time of day from a heading or heading path like ``2024-05-01 > 09:30 — build``.

    Returns:
        The time of the innermost heading that begins with ``HH:MM``; ``None`` if none does.
    """
    for title in reversed(heading.split(HEADING_JOINER)):
        found = _ENTRY_TIME.match(title)
        if found:
            return time(int(found[1]), int(found[2]))
    return None
