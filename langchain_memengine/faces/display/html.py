"""Tables as HTML: escaped, without scripts, loading nothing, in the colours of their page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from urllib.parse import quote

from langchain_memengine.faces.display.sheets import Bar, Cell, Colour, Mark, Sheet, Words
from langchain_memengine.text.printable import clean_line

COLOURS: Mapping[Colour, str] = {
    "keyword": "#17808f",
    "vector": "#a652b8",
    "time": "#9a6a10",
    "plain": "#4f78a4",
}
"""Colours of what bars stand for: seen on any page, and white words can be read on them."""

_BARS = "".join(f".memengine .{name}{{background:{colour}}}" for name, colour in COLOURS.items())

# Other colours are those of the page, or lie half-way between light and dark: both will do. The
# doubled class outweighs what notebooks say about every table; that of the table keeps the theme of
# the documentation away.
_STYLE = (
    ".memengine{max-width:100%;overflow-x:auto;margin:.2em 0 .8em;line-height:1.35}"
    ".memengine p{margin:.2em 0}.memengine .title{font-weight:600}"
    ".memengine .warning{border-left:3px solid #d97706;padding-left:.5em}"
    ".memengine table{border-collapse:collapse;margin:.3em 0;font-size:.92em;width:auto}"
    ".memengine.memengine th,.memengine.memengine td{text-align:left;vertical-align:top;"
    "padding:.3em .5em;border:0;border-bottom:1px solid rgba(128,128,128,.3);white-space:nowrap}"
    ".memengine.memengine th{font-weight:600}"
    ".memengine.memengine td.words{white-space:normal;overflow-wrap:anywhere;"
    "min-width:8em;max-width:34em}"
    ".memengine small{display:block;opacity:.7}"
    ".memengine .faded{opacity:.75}.memengine .faded small{opacity:.9}"
    ".memengine .track{display:inline-block;width:3em;height:.6em;margin-right:.4em;"
    "border-radius:.3em;background:rgba(128,128,128,.25);overflow:hidden}"
    ".memengine .track i{display:block;height:100%}"
    f"{_BARS}"
    '.memengine .mark::before{content:"● "}.memengine .good::before{color:#2f9e44}'
    ".memengine .poor::before{color:#d97706}.memengine .bad::before{color:#e03131}"
)


def html(sheets: Sequence[Sheet], root: str | None = None) -> str:
    """Return tables as a piece of HTML.

    Args:
        sheets: What is shown, in order.
        root: Folder, as the page sees it, that places of files are linked into; none links none.
    """
    inner = "".join(_sheet(sheet, root) for sheet in sheets)
    return f'<div class="memengine"><style>{_STYLE}</style>{inner}</div>'


def text(words: str) -> str:
    """Return a text for HTML, on one line: escaped, without control characters."""
    return escape(clean_line(words))


def _sheet(sheet: Sheet, root: str | None) -> str:
    said = [f'<p class="title">{text(sheet.title)}</p>']
    said += [f"<p>{text(note)}</p>" for note in sheet.notes]
    said += [f'<p class="warning">{text(warning)}</p>' for warning in sheet.warnings]
    if sheet.columns:
        names = "".join(f"<th>{text(name)}</th>" for name in sheet.columns)
        head = f"<thead><tr>{names}</tr></thead>" if any(sheet.columns) else ""
        body = "".join(
            _row(row, root, is_faded=at in sheet.faded) for at, row in enumerate(sheet.rows)
        )
        said.append(f'<table class="sheet">{head}<tbody>{body}</tbody></table>')
    return "".join(said)


def _row(row: Sequence[Cell], root: str | None, *, is_faded: bool) -> str:
    faded = ' class="faded"' if is_faded else ""
    return f"<tr{faded}>{''.join(_cell(cell, root) for cell in row)}</tr>"


def _cell(cell: Cell, root: str | None) -> str:
    match cell:
        case Bar():
            percent = round(100 * min(max(cell.share, 0.0), 1.0))
            bar = f'<i class="{cell.colour}" style="width:{percent}%"></i>'
            return f'<td class="bar"><span class="track">{bar}</span>{text(cell.label)}</td>'
        case Mark():
            return f'<td class="mark {cell.mood}">{text(cell.word)}</td>'
        case Words():
            aside = f"<small>{text(cell.aside)}</small>" if cell.aside else ""
            return f'<td class="words">{_linked(cell, root)}{aside}</td>'
        case _:
            return f"<td>{text(cell)}</td>"


def _linked(words: Words, root: str | None) -> str:
    if root is None or not words.path:
        return text(words.main)
    target = f"{root.rstrip('/')}/{quote(words.path, errors='replace')}"
    return f'<a href="{escape(target)}" target="_blank">{text(words.main)}</a>'
