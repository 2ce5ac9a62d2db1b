"""Errors as one line on standard error, and what they mean for the exit code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from langchain_memengine.cli.terminal import complain, prepare_streams
from langchain_memengine.errors import ConfigurationError, MemEngineError

FAILED = 1
"""Exit code: it failed, or the result is poorer than asked."""

USAGE = 2
"""Exit code: the call cannot work as it is written."""

INTERRUPTED = 130
"""Exit code: stopped by Ctrl+C."""

# Typer brings its own copy of click or uses the installed one, by release; the public
# BadParameter leads to the base class of whichever it is: BadParameter, UsageError, base.
_ClickError: type[Exception] = typer.BadParameter.__mro__[2]


class UsageProblem(typer.BadParameter):
    """A call that cannot work, with a message that already says what to do."""


class OneLineErrors(TyperGroup):
    """A group of commands that answers every expected error with one line and an exit code."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,  # noqa: FBT001, FBT002  # the signature of the base class
        windows_expand_args: bool = True,  # noqa: FBT001, FBT002  # the signature of the base class
        **extra: Any,
    ) -> Any:
        """Run the command line; ends the process unless ``standalone_mode`` is off."""
        names = (args, prog_name, complete_var)
        extra = {**extra, "standalone_mode": False, "windows_expand_args": windows_expand_args}
        if not standalone_mode:
            return super().main(*names, **extra)
        prepare_streams()
        try:
            code = super().main(*names, **extra)
        except _ClickError as error:
            code = _usage(error)
        except (MemEngineError, OSError) as error:
            complain("error", str(error))
            code = USAGE if isinstance(error, ConfigurationError) else FAILED
        except (KeyboardInterrupt, typer.Abort):
            code = INTERRUPTED
        raise SystemExit(code if isinstance(code, int) else 0)


def usage_error(message: str) -> NoReturn:
    """End with a message about the call itself.

    Raises:
        UsageProblem: Always.
    """
    raise UsageProblem(message)


def exit_if(partial: object) -> None:
    """End with the exit code of a partial result if there is a reason to.

    Raises:
        Exit: ``partial`` is true.
    """
    if partial:
        raise typer.Exit(FAILED)


def _usage(error: Any) -> int:
    """Print an error about the call, with the way to the help where it does not say what to do."""
    context = getattr(error, "ctx", None)
    if isinstance(error, UsageProblem) or context is None:
        complain("error", str(error.message))
    else:
        message = error.format_message()
        end = "" if message.endswith((".", "?")) else "."
        complain("error", f"{message}{end} See: {context.command_path} --help")
    return int(error.exit_code)
