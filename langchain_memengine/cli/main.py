"""The command line: ``memengine --help`` lists the commands.

Only Typer and Rich are imported here; a command imports what it needs when it runs.
"""

from __future__ import annotations

from typing import Annotated

import typer

from langchain_memengine.cli import (
    backup,
    consolidating,
    demo,
    doctor,
    evaluating,
    experiences,
    graphing,
    jobs,
    keeping,
    records,
    searching,
    serving,
    watching,
)
from langchain_memengine.cli.failing import OneLineErrors
from langchain_memengine.cli.terminal import say

app = typer.Typer(
    name="memengine",
    cls=OneLineErrors,
    help="Memory for agents: Markdown files you can read, and a search that says why.",
    epilog="Start with: memengine demo",
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:  # noqa: FBT001  # Typer calls it with the option's value
    if wanted:
        from importlib.metadata import version

        say(f"memengine {version('langchain-memengine')}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _start(
    context: typer.Context,
    *,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), nl=False)


for _command in (
    demo.demo,
    keeping.init,
    keeping.add,
    keeping.sync,
    watching.watch,
    searching.search,
    searching.explain,
    searching.recall,
    keeping.stats,
    records.forget,
    records.export,
    records.audit,
    consolidating.consolidate,
    consolidating.undo,
    jobs.worker,
    serving.mcp,
    doctor.doctor,
    backup.backup,
    backup.restore,
):
    app.command()(_command)
app.add_typer(graphing.app, name="graph")
app.command("eval")(evaluating.evaluate)  # not the name of a function: `eval` is Python's own
app.command("import")(records.import_)  # a keyword of Python
app.add_typer(jobs.app)
app.add_typer(experiences.app)


def main() -> None:
    """Run the command line and end the process with its exit code."""
    app()
