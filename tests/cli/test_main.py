"""The commands, as the help lists them and a shell completes them."""

import pytest
import typer
from typer.testing import CliRunner

from langchain_memengine.cli.main import app


def all_commands(command=None, path=()):
    """Return the commands by their path, groups included."""
    command = command or typer.main.get_command(app)
    found = {path: command}
    for name, one in getattr(command, "commands", {}).items():
        found |= all_commands(one, (*path, name))
    return found


COMMANDS = all_commands()


def complete(words, number):
    shell = {
        "_MEMENGINE_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(number),
    }
    return CliRunner().invoke(app, [], prog_name="memengine", env=shell).stdout.split()


def test_the_help_lists_every_command_in_a_panel(memengine):
    text = memengine("--help").stdout
    titles = [line.split("─")[1].strip() for line in text.splitlines() if line.startswith("╭")]
    assert len(titles) > 4
    assert "Commands" not in titles  # where one stands whose panel was forgotten
    listed = {line.split()[1] for line in text.splitlines() if line.startswith("│ ")}
    assert {path[0] for path in COMMANDS if len(path) == 1} <= listed


@pytest.mark.parametrize(
    ("group", "commands"),
    [
        ("jobs", ["list", "retry", "cancel"]),
        ("graph", ["show", "import", "stats"]),
        ("sessions", ["list", "audit"]),
        ("experiences", ["list", "stats", "prune", "export"]),
    ],
)
def test_a_group_alone_shows_its_commands(memengine, group, commands):
    result = memengine(group)
    assert (result.exit_code, result.stderr) == (0, "")
    assert all(name in result.stdout for name in commands)


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_says_what_it_does_and_what_each_of_its_parameters_is(path):
    command = COMMANDS[path]
    assert command.help
    assert [one.name for one in command.params if not getattr(one, "help", None)] == []


@pytest.mark.parametrize(
    ("command", "usage"),
    [
        ("init", "init [OPTIONS] [DIR]"),
        ("add", "add [OPTIONS] {TEXT}..."),
        ("forget", "forget [OPTIONS] [ID]..."),
        ("explain", "explain [OPTIONS] {QUERY} {ID}"),
    ],
)
def test_the_usage_of_a_command_has_each_bracket_once(memengine, command, usage):
    lines = memengine(command, "--help").stdout.splitlines()
    (shown,) = (line.strip() for line in lines if "Usage: " in line)
    assert shown.endswith(f" {usage}")


def test_a_word_that_is_nearly_a_command_is_answered_in_one_sentence(memengine):
    told = memengine("serch", "x").stderr.replace("\n", " ")
    assert "Did you mean 'search'? See: memengine --help" in told


@pytest.mark.parametrize(
    ("words", "number", "said"),
    [
        ("memengine se", 1, ["search", "sessions"]),
        ("memengine jobs ", 2, ["list", "retry", "cancel"]),
        ("memengine search --ran", 2, ["--ranking"]),
    ],
)
def test_a_shell_completes_commands_and_options(memengine, words, number, said):
    assert complete(words, number) == said


def test_a_shell_is_given_a_script(memengine, monkeypatch):
    # Typer looks for a shell among the processes above this one, and there need be none.
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    shown = CliRunner().invoke(app, ["--show-completion", "bash"], prog_name="memengine")
    assert "_MEMENGINE_COMPLETE=complete_bash" in shown.stdout
