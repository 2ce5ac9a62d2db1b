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
    sessions,
    trusting,
    watching,
)
from langchain_memengine.cli.failing import OneLineErrors
from langchain_memengine.cli.grouping import help_alone
from langchain_memengine.cli.terminal import say

app = typer.Typer(
    name="memengine",
    cls=OneLineErrors,
    help="Memory for agents: Markdown files you can read, and a search that says why.",
    epilog="Start with: memengine demo. A memory of your own: memengine init DIR",
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
    help_alone(context)


_PANELS = {
    "Start": (demo.demo, keeping.init),
    "Remember": (keeping.add, keeping.sync, watching.watch),
    "Ask": (searching.search, searching.recall, searching.explain, keeping.stats),
    "Take along and forget": (records.export, records.forget),
    "Trust": (trusting.audit, trusting.quarantine, trusting.release),
    "Tidy up": (consolidating.consolidate, consolidating.revisions, consolidating.undo),
    "Keep it running": (
        jobs.worker,
        serving.mcp,
        doctor.doctor,
        backup.backup,
        backup.restore,
        backup.migrate,
    ),
}

for _panel, _commands in _PANELS.items():
    for _command in _commands:
        app.command(rich_help_panel=_panel)(_command)
# Not the names of functions: words of Python's own.
app.command("import", rich_help_panel="Remember")(records.import_)
app.command("eval", rich_help_panel="Ask")(evaluating.evaluate)
app.add_typer(graphing.app, rich_help_panel="Ask")
app.add_typer(experiences.app, rich_help_panel="Ask")
app.add_typer(sessions.app, rich_help_panel="Ask")
app.add_typer(jobs.app, rich_help_panel="Keep it running")


def main() -> None:
    """Run the command line and end the process with its exit code."""
    app()
