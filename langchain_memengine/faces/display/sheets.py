"""Tables before anybody decided whether they become HTML or plain text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from langchain_memengine.text.printable import body_lines

Colour = Literal["keyword", "vector", "time", "plain"]
"""What a bar stands for; each has a colour of its own."""

Mood = Literal["good", "poor", "bad"]
"""How something stands; each has a colour of its own."""

MAX_ROWS = 30
"""Rows that a look at a value shows, at most."""

_EXCERPT_CHARS = 160
_URI_CHARS = 32


@dataclass(frozen=True, slots=True)
class Bar:
    """A number as a bar.

    Attributes:
        share: How far it is filled, 0 to 1; what is beyond counts as the end.
        label: The number itself, in words.
        colour: What it stands for.
    """

    share: float
    label: str
    colour: Colour = "plain"


@dataclass(frozen=True, slots=True)
class Words:
    """A text, and what is said beside it in smaller print.

    Attributes:
        main: The text.
        aside: What stands below it.
        path: Path of a file that it is the place of, ``""`` if none; it can be linked.
    """

    main: str
    aside: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """A word that says how something stands, in a colour.

    Attributes:
        word: The word.
        mood: Whether that is good.
    """

    word: str
    mood: Mood


Cell = str | Bar | Words | Mark


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table, with what is said above and below it.

    Attributes:
        title: What it shows.
        columns: Names of the columns; without any there is no table.
        rows: Cells, as many in each row as there are columns.
        notes: Sentences under the title.
        warnings: What made it poorer than asked.
        faded: Which rows, from 0, matter less.
    """

    title: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    faded: frozenset[int] = frozenset()


def table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[Cell]], **more: tuple[str, ...]
) -> Sheet:
    """Return a table of some rows without the columns that are empty in all of them.

    Args:
        title: What it shows.
        columns: Names of the columns.
        rows: Cells, as many as columns.
        **more: ``notes`` and ``warnings``.
    """
    used = [at for at in range(len(columns)) if any(row[at] != "" for row in rows)]
    shown = tuple(tuple(row[at] for at in used) for row in rows)
    names = tuple(columns[at] for at in used)
    return Sheet(title, names, shown, more.get("notes", ()), more.get("warnings", ()))


def shortened(sheet: Sheet) -> Sheet:
    """Return a table with ``MAX_ROWS`` rows at most, which says how many more there are."""
    beyond = len(sheet.rows) - MAX_ROWS
    if beyond <= 0:
        return sheet
    notes = (*sheet.notes, f"{beyond:,} more are not shown.")
    return replace(sheet, rows=sheet.rows[:MAX_ROWS], notes=notes)


def excerpt(text: str, max_chars: int = _EXCERPT_CHARS) -> str:
    """Return the beginning of a text on one line, without the headings in front."""
    line = " ".join(" ".join(body_lines(text)).split())
    return line if len(line) <= max_chars else f"{line[: max_chars - 1].rstrip()}…"


def place(path: str, source: str, start_line: int, end_line: int) -> str:
    """Return ``path:lines`` of a file, and what fits of the URI of anything else."""
    if path:
        return f"{path}:{start_line}-{end_line}"
    return source if len(source) <= _URI_CHARS else f"{source[: _URI_CHARS - 1]}…"


def moment(at: datetime | None) -> str:
    """Return a time to the minute, ``""`` for none; the name of its column says that it is UTC."""
    return "" if at is None else f"{at:%Y-%m-%d %H:%M}"
