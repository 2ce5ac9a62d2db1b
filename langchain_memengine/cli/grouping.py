"""Groups of commands, such as ``memengine jobs``."""

from __future__ import annotations

import typer


def command_group(name: str, about: str) -> typer.Typer:
    """Return a group of commands that shows its help when it is called without one."""
    group = typer.Typer(name=name)
    group.callback(invoke_without_command=True, help=about)(help_alone)
    return group


def help_alone(context: typer.Context) -> None:
    """Show the help of a group if no command of it is called."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), nl=False)
