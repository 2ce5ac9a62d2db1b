"""Standard input and output as other programs use them: UTF-8, whatever the locale says."""

from __future__ import annotations

import io
import sys

from langchain_memengine.cli.failing import usage_error
from langchain_memengine.cli.terminal import say


def read_input() -> str:
    """Return what comes in on standard input.

    Raises:
        UsageProblem: It is no UTF-8.
    """
    stream = getattr(sys.stdin, "buffer", None)
    try:
        return sys.stdin.read() if stream is None else str(stream.read().decode("utf-8-sig"))
    except UnicodeDecodeError:
        usage_error("Standard input is not UTF-8 text. Convert it first.")


def write_output(text: str) -> None:
    """Print a text that a program reads back: every character as it is.

    A terminal gets it cleaned, because somebody else's text may steer it.
    """
    if sys.stdout.isatty() or not isinstance(sys.stdout, io.TextIOWrapper):
        say(text.removesuffix("\n"))
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
