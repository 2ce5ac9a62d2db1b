"""The command line as tests call it, in their own process."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any
from unittest import mock

import typer.testing
from typer.testing import CliRunner, Result

from langchain_memengine.cli.main import app


@lru_cache
def command() -> Any:
    """Return all commands as Typer makes them, once: that takes longer than most calls."""
    return typer.main.get_command(app)


def invoke(arguments: Sequence[str], stdin: str | None = None) -> Result:
    """Return how a call of ``memengine`` ended, and what it printed."""
    with mock.patch.object(typer.testing, "_get_command", return_value=command()):
        return CliRunner().invoke(app, arguments, input=stdin)
