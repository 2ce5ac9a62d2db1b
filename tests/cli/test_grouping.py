"""A group of commands, called with and without one."""

import typer
from typer.testing import CliRunner

from langchain_memengine.cli.grouping import command_group


def called(*arguments):
    group = command_group("tea", "Everything about tea.")
    brew = group.command("brew")
    brew(lambda: typer.echo("brewed"))
    group.command("pour")(lambda: typer.echo("poured"))
    return CliRunner().invoke(group, arguments)


def test_a_group_alone_shows_what_it_is_about_and_its_commands():
    shown = called()
    assert shown.exit_code == 0
    assert "Everything about tea." in shown.stdout
    assert "brew" in shown.stdout
    assert "pour" in shown.stdout


def test_a_command_of_a_group_runs_without_the_help():
    assert called("brew").stdout == "brewed\n"
