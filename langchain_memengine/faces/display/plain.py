"""Tables as plain text, for a terminal."""

from __future__ import annotations

import io
import shutil
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from langchain_memengine.faces.display.sheets import Bar, Cell, Sheet, Words
from langchain_memengine.text.printable import clean_line

_WIDTH = 120
_WIDE = 100  # columns that leave room for bars
_BAR_CELLS = 6


def plain(sheets: Sequence[Sheet]) -> str:
    """Return tables as text without colours, as wide as the terminal, or 120 columns.

    A narrow terminal gets the numbers without their bars.
    """
    width = shutil.get_terminal_size((_WIDTH, 0)).columns
    console = Console(
        file=io.StringIO(),
        width=width,
        color_system=None,
        force_jupyter=False,  # there, Rich would show the text itself and return nothing
        highlight=False,
        markup=False,
    )
    for sheet in sheets:
        _print(console, sheet, bar_cells=_BAR_CELLS if width >= _WIDE else 0)
    printed = console.file.getvalue()  # type: ignore[attr-defined]  # the StringIO above
    return "\n".join(line.rstrip() for line in printed.splitlines()).rstrip()


def bar_of(share: float, style: str, cells: int = _BAR_CELLS) -> Text:
    """Return a bar that is filled by a share; below 0 is empty, above 1 full."""
    full = round(min(max(share, 0.0), 1.0) * cells)
    return Text.assemble(("█" * full, style), ("░" * (cells - full), "dim"))


def _print(console: Console, sheet: Sheet, *, bar_cells: int) -> None:
    for line in (sheet.title, *sheet.notes, *(f"! {one}" for one in sheet.warnings)):
        console.print(Text(clean_line(line)))
    if not sheet.columns:
        return
    grid = Table(box=SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
    for at, name in enumerate(sheet.columns):
        holds_words = any(isinstance(row[at], Words) for row in sheet.rows)
        grid.add_column(Text(name), overflow="fold", no_wrap=not holds_words)
    for row in sheet.rows:
        grid.add_row(*(_cell(cell, bar_cells) for cell in row))
    console.print(grid)


def _cell(cell: Cell, bar_cells: int) -> Text:
    match cell:
        case Bar():
            bars = [bar_of(cell.share, "", bar_cells)] if bar_cells else []
            return Text(" ").join([*bars, Text(clean_line(cell.label))])
        case Words():
            aside = f"\n{clean_line(cell.aside)}" if cell.aside else ""
            return Text(clean_line(cell.main) + aside)
        case _:
            return Text(clean_line(cell))
