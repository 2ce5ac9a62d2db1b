"""What may reach a terminal: cleaned text, one-line warnings, JSON on standard output only."""

from __future__ import annotations

import codecs
import io
import json
import logging
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from langchain_memengine.text.printable import clean, clean_line
from langchain_memengine.types import Progress

_JSON_CONTROL = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")

_ERRORS = "memengine.plain"
_PLAIN = {
    "…": ".",
    "×": "x",
    "█": "#",
    "░": ".",
    "—": "-",
    "›": ">",
    "✓": "+",
    "✗": "x",
    "─": "-",
    "→": ">",
    "·": "-",
}


def prepare_streams() -> None:
    """Let both streams print any text: what their encoding lacks is spelt out, never an error.

    A stream that is closed takes everything and keeps nothing.
    """
    codecs.register_error(_ERRORS, _spelt_out)
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = sys.stderr or _nowhere()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_ERRORS)


def output() -> Console:
    """Return the console for results; it has colours only on a terminal that wants them."""
    return Console(highlight=False, markup=False, emoji=False)


def messages() -> Console:
    """Return the console for warnings, errors and progress, on standard error."""
    return Console(stderr=True, highlight=False, markup=False, emoji=False)


def say(text: str) -> None:
    """Print a cleaned text as it is, without wrapping."""
    output().print(clean(text), soft_wrap=True)


def print_shown(value: object) -> None:
    """Print a value, or a list of such values, as its tables, without their warnings.

    In a pipe a line is as long as it needs to be, so that other programs find whole ones.
    """
    from langchain_memengine.faces.display.plain import UNWRAPPED, plain, print_sheets
    from langchain_memengine.faces.display.showing import sheets_of

    sheets = [replace(sheet, warnings=()) for sheet in sheets_of(value)]
    console = output()
    if console.is_terminal:
        print_sheets(console, sheets)
    else:
        say(plain(sheets, width=UNWRAPPED))


def complain(kind: str, text: str) -> None:
    """Print one line on standard error, such as ``error: …``."""
    style = "bold red" if kind == "error" else "yellow"
    console = messages()
    console.print(f"{kind}:", style=style, end=" ")
    console.print(clean_line(text), soft_wrap=True)


@contextmanager
def warnings_told() -> Iterator[None]:
    """Print what the package logs as a warning while the block runs, like any other warning."""
    handler, logger = _Complaining(logging.WARNING), logging.getLogger("langchain_memengine")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


class _Complaining(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        complain("warning", record.getMessage())


def print_json(value: Any, *, indent: int | None = 2) -> None:
    """Print a value as JSON on standard output, in characters the stream and a terminal take.

    Without an indent it is one line, which is flushed.
    """
    is_utf8 = codecs.lookup(sys.stdout.encoding or "utf-8").name == "utf-8"
    text = json.dumps(value, ensure_ascii=not is_utf8, indent=indent)
    sys.stdout.write(_JSON_CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n")
    if indent is None:
        sys.stdout.flush()


def print_rows(rows: Sequence[Sequence[str]]) -> None:
    """Print rows in aligned columns, the first one dim; a long last column is not wrapped."""
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    console = output()
    for name, *values in rows:
        line = Text.assemble((set_cell_size(clean_line(name), widths[0]), "dim"))
        for value, width in zip(values, widths[1:], strict=True):
            line.append("  " + clean_line(value).ljust(width))
        line.rstrip()
        console.print(line, soft_wrap=True)


@contextmanager
def bar(title: str) -> Iterator[Progress | None]:
    """Show a progress bar on standard error while the block runs, if that is a terminal.

    Yields the callback that moves it. Nothing is shown before its first call.
    """
    console = messages()
    if not console.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn(title), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as shown:
        task = shown.add_task(title, total=None, visible=False)
        yield lambda done, total: shown.update(task, completed=done, total=total, visible=True)


def _nowhere() -> TextIO:
    return Path(os.devnull).open("w", encoding="utf-8")


def _spelt_out(error: UnicodeError) -> tuple[str | bytes, int]:
    """Replace characters an encoding lacks: drawing characters by plain ones, others by escapes."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    spelt = (_PLAIN.get(one) or one.encode("ascii", "backslashreplace").decode() for one in lacking)
    return "".join(spelt), error.end
