"""Tables as plain text, for a terminal."""

from __future__ import annotations

import io
import shutil
import textwrap
from collections.abc import Sequence
from dataclasses import replace

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from langchain_memengine.faces.display.sheets import Bar, Cell, Mark, Sheet, Words
from langchain_memengine.text.printable import clean_line

_WIDTH = 120
UNWRAPPED = 10_000
"""Columns that no table needs."""

BAR_CELLS = 6
"""Columns of a bar."""

_WIDE = 100  # columns that leave room for bars
_WORD = 8  # columns into which words may be wrapped
_BETWEEN = 3  # columns from one value to the next
_STYLES = {"good": "green", "poor": "yellow", "bad": "bold red"}


def plain(sheets: Sequence[Sheet], width: int = _WIDTH) -> str:
    """Return tables as text without colours, as wide as the terminal.

    A narrow terminal gets numbers without their bars, and rows that do not fit one value a line.

    Args:
        sheets: What is shown, in order.
        width: Columns where there is no terminal.
    """
    console = Console(
        file=io.StringIO(),
        width=shutil.get_terminal_size((width, 0)).columns,
        color_system=None,
        force_jupyter=False,  # there, Rich would show the text itself and return nothing
        highlight=False,
        markup=False,
        emoji=False,
    )
    print_sheets(console, sheets)
    printed = console.file.getvalue()  # type: ignore[attr-defined]  # the StringIO above
    return "\n".join(line.rstrip() for line in printed.splitlines()).rstrip()


def print_sheets(console: Console, sheets: Sequence[Sheet]) -> None:
    """Print tables on a console, in its width and, if it has any, in its colours."""
    bar_cells = BAR_CELLS if console.width >= _WIDE else 0
    for sheet in sheets:
        for line in (sheet.title, *sheet.notes, *(f"! {one}" for one in sheet.warnings)):
            for part in _wrapped(clean_line(line), console.width):
                console.print(Text(part), soft_wrap=True)
        for grid in _grids(sheet, console, bar_cells) if sheet.columns else ():
            console.print(grid)


def _wrapped(line: str, width: int) -> list[str]:
    """Return the lines of a sentence; a word stays whole, or a path in it could not be copied."""
    return textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False) or [""]


def bar_of(share: float, style: str, cells: int = BAR_CELLS) -> Text:
    """Return a bar that is filled by a share; below 0 is empty, above 1 full."""
    full = round(min(max(share, 0.0), 1.0) * cells)
    return Text.assemble(("█" * full, style), ("░" * (cells - full), "dim"))


def _grid(sheet: Sheet, bar_cells: int) -> Table:
    grid = Table(box=SIMPLE_HEAD, padding=(0, 1), pad_edge=False, show_header=any(sheet.columns))
    for at, name in enumerate(sheet.columns):
        holds_words = any(isinstance(row[at], Words) for row in sheet.rows)
        grid.add_column(Text(name), overflow="fold", no_wrap=not holds_words)
    for row in sheet.rows:
        grid.add_row(*(_cell(cell, bar_cells) for cell in row))
    return grid


def _grids(sheet: Sheet, console: Console, bar_cells: int) -> list[Table]:
    """Return a table; where that would cut a value, one of two columns for each of its rows."""
    grid = _grid(sheet, bar_cells)
    boundless = console.options.update(max_width=UNWRAPPED)
    fits = Measurement.get(console, boundless, grid).maximum <= console.width
    if fits or (len(sheet.rows) > 1 and _least_width(sheet, bar_cells) <= console.width):
        return [grid]
    upright = (
        replace(sheet, columns=("", ""), rows=tuple(zip(sheet.columns, row, strict=True)))
        for row in sheet.rows
    )
    return [_grid(one, bar_cells) for one in upright]


def _least_width(sheet: Sheet, bar_cells: int) -> int:
    """Return the columns of a terminal that a table needs if only words are wrapped."""
    widths = [
        max(
            cell_len(name),
            *(
                _WORD if isinstance(cell, Words) else _cell(cell, bar_cells).cell_len
                for cell in cells
            ),
        )
        for name, *cells in zip(sheet.columns, *sheet.rows, strict=True)
    ]
    return sum(widths) + _BETWEEN * len(widths)


def _cell(cell: Cell, bar_cells: int) -> Text:
    match cell:
        case Bar():
            bars = [bar_of(cell.share, "", bar_cells)] if bar_cells else []
            return Text(" ").join([*bars, Text(clean_line(cell.label))])
        case Mark():
            return Text(clean_line(cell.word), _STYLES[cell.mood])
        case Words():
            aside = f"\n{clean_line(cell.aside)}" if cell.aside else ""
            return Text(clean_line(cell.main) + aside)
        case _:
            return Text(clean_line(cell))
