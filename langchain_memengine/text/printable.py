"""What of a text may reach a terminal: nothing that steers it."""

from __future__ import annotations

import re

# CSI, OSC and the other strings, then all shorter sequences; an unclosed string ends with its line.
_ESCAPE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]"
)
_LINE_END = re.compile(r"\r\n?|[\u2028\u2029]")
# Other control characters, and those that reverse the order in which text is shown.
_CONTROL = re.compile("[\0-\b\v-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")

_HEADING = re.compile(r" {0,3}#{1,6}(\s|$)")


def clean(text: str) -> str:
    """Return text that cannot steer a terminal: no escape sequences, no control characters.

    Line feeds and tabs stay; other line ends become line feeds.
    """
    return _CONTROL.sub("", _LINE_END.sub("\n", _ESCAPE.sub("", text)))


def clean_line(text: str) -> str:
    """Return cleaned text on one line, runs of white space as one space."""
    return " ".join(clean(text).split())


def body_lines(text: str) -> list[str]:
    """Return the cleaned lines of a text that are not blank, without the headings in front."""
    lines = [line.strip() for line in clean(text).split("\n") if line.strip()]
    return lines[next((at for at, line in enumerate(lines) if not _HEADING.match(line)), 0) :]
