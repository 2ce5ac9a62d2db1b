"""Errors as one line on standard error, and what they mean for the exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from langchain_memengine.cli.terminal import complain, prepare_streams, print_json, warnings_told
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
            with warnings_told():
                code = super().main(*names, **extra)
            sys.stdout.flush()  # here, where what goes wrong can still be told
        except (_ClickError, MemEngineError, OSError, KeyboardInterrupt, typer.Abort) as error:
            code = _exit_code(error, as_json=_asks_for_json(sys.argv[1:] if args is None else args))
        if code == INTERRUPTED:  # also what Typer makes of Ctrl+C
            complain("stopped", "by Ctrl+C; what was finished is kept.")
        _let_go_of_output()
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


def _asks_for_json(arguments: Sequence[str]) -> bool:
    options = list(arguments)
    return "--json" in (options[: options.index("--")] if "--" in options else options)


def _exit_code(error: BaseException, *, as_json: bool) -> int:
    """Say what went wrong, to programs too if they asked for JSON; return the exit code."""
    match error:
        case BrokenPipeError():  # nobody reads the rest, as behind `| head`
            return FAILED
        case typer.Abort() if not isinstance(error.__cause__, KeyboardInterrupt):  # said no
            complain("stopped", "nothing was done.")
            return FAILED
        case typer.Abort() | KeyboardInterrupt():
            return INTERRUPTED
        case _ClickError():
            message, code = _usage_text(error), int(getattr(error, "exit_code", USAGE))
        case ConfigurationError():
            message, code = str(error), USAGE
        case OSError() if not isinstance(error, MemEngineError):
            message, code = _system_text(error), FAILED
        case _:
            message, code = str(error), FAILED
    complain("error", message)
    if as_json:
        with suppress(OSError):  # it may be standard output itself that is full
            print_json({"error": message}, indent=None)
    return code


def _usage_text(error: Any) -> str:
    """Return an error about the call, with the way to the help where it does not say what to do."""
    context = getattr(error, "ctx", None)
    if isinstance(error, UsageProblem) or context is None:
        return str(error.message)
    message = error.format_message()
    end = "" if message.endswith((".", "?")) else "."
    return f"{message}{end} See: {context.command_path} --help"


def _system_text(error: OSError) -> str:
    what = error.strerror or str(error)
    if error.filename is None:
        return f"{what}."
    return f"{what}: {error.filename}. Check that path, and who may read and write there."


def _let_go_of_output() -> None:
    """Write out what was printed; what cannot be written is dropped.

    Else the interpreter would try it again at its end, with an error of many lines.
    """
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
