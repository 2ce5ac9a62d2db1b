"""Reads the pages of the documentation as a test needs them: block by block."""

import re
import shlex
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def read(page: str) -> str:
    """Return the text of a page, by its path in the repository."""
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str, language: str) -> list[str]:
    """Return the code blocks of a language on a page, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", read(page), re.DOTALL | re.MULTILINE)


def run(page: str) -> dict[str, object]:
    """Run the Python blocks of a page, one after the other; return the names they leave."""
    names: dict[str, object] = {"__name__": "page"}
    for block in blocks(page, "python"):
        exec(compile(block, page, "exec"), names)  # noqa: S102  # running the page is the point
    return names


def commands(page: str, program: str = "memengine") -> list[list[str]]:
    """Return the arguments of each call of a program in a page's shell blocks, in order."""
    lines = "\n".join(blocks(page, "bash")).splitlines()
    split = (shlex.split(line.split(" > ")[0], comments=True) for line in lines)
    return [words[1:] for words in split if words[:1] == [program]]
