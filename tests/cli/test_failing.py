"""Every expected error is one line on standard error, with the right exit code."""

import ast
import json
import sys
from pathlib import Path

import pytest

from langchain_memengine import cli
from langchain_memengine.cli import searching
from langchain_memengine.cli.main import main

FULL = Path("/dev/full")


def only_line(result):
    """Return the one line on standard error; nothing may be on standard output."""
    assert result.stdout == ""
    assert result.stderr.endswith("\n")
    (line,) = result.stderr.splitlines()
    assert "Traceback" not in line
    return line


@pytest.mark.parametrize("command", [["search", "x"], ["recall", "x"], ["add", "x"], ["sync"],
                                     ["stats"], ["explain", "x", "abcdef"]])  # fmt: skip
def test_a_missing_root_names_the_command_that_helps(memengine, command):
    result = memengine(*command, "--root", "no where")

    assert result.exit_code == 2
    expected = "error: There is no memory at 'no where'. Run: memengine init 'no where'"
    assert only_line(result) == expected


@pytest.mark.parametrize("command", [["search", "x", "--root"], ["init"], ["demo"]])
def test_a_file_is_no_root(memengine, tmp_path, command):
    (tmp_path / "file").write_text("x")

    result = memengine(*command, "file")

    assert result.exit_code == 2
    assert "older" in only_line(result)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["search", "x", "--ranking", "best"], "Unknown ranking preset 'best'. Choose one of:"),
        (["search", "x", "--embeddings", "acme:1"], "'acme:1' is unknown. Choose one of:"),
        (["search", "x", "-k", "0"], "'-k'"),
        (["search", "x", "-k", "-1"], "'-k'"),
        (["search", "x", "-k", "many"], "'-k'"),
        (["search", " "], "The query is empty."),
        (["recall", ""], "The query is empty."),
        (["search", "x", "--filter", "team"], "Write --filter team=core."),
        (["search", "x", "--since", "soon"], "Write it like 2026-05-19."),
        (["search", "x", "--user", ""], "Give the user's id."),
        (["add", " "], "There is nothing to remember."),
        (["add", "x", "--daily", "Log", "--id", "1"], "--daily"),
        (["sync", "--dry-run", "--reembed"], "exclude each other"),
    ],
)
def test_a_call_that_cannot_work_is_explained(memengine, root, arguments, said):
    result = memengine(*arguments, "--root", root)

    assert result.exit_code == 2
    assert said in only_line(result)


@pytest.mark.parametrize("arguments", [["serch", "x"], ["search"], ["search", "x", "--bogus"]])
def test_a_misspelt_call_leads_to_the_help(memengine, arguments):
    result = memengine(*arguments)

    assert result.exit_code == 2
    assert "--help" in only_line(result)


def test_an_unknown_chunk_is_a_failure_not_a_wrong_call(memengine, root):
    result = memengine("explain", "machine", "0" * 64, "--root", root)

    assert result.exit_code == 1
    assert only_line(result).startswith("error: ")


def test_standard_input_must_be_text(memengine, root):
    result = memengine("add", "-", "--root", root, stdin=b"\xff\xfe\x00")

    assert result.exit_code == 2
    assert "not UTF-8" in only_line(result)


def test_interrupting_is_told_in_a_line(memengine, root, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(searching, "opened_fresh", interrupted)

    result = memengine("search", "x", "--root", root)

    told = "stopped: by Ctrl+C; what was finished is kept."
    assert (result.exit_code, result.stdout, result.stderr.strip()) == (130, "", told)


def test_without_a_command_the_help_is_shown(memengine):
    result = memengine()

    assert result.exit_code == 0
    assert "explain" in result.stdout


@pytest.mark.parametrize(
    "module", sorted(Path(cli.__file__).parent.glob("*.py")), ids=lambda path: path.stem
)
def test_starting_the_command_line_imports_nothing_heavy(module):
    light = {"typer", "rich", *sys.stdlib_module_names}
    own = ("langchain_memengine.cli", "langchain_memengine.answers", "langchain_memengine.types",
           "langchain_memengine.errors", "langchain_memengine.text.sanitize",
           "langchain_memengine.text.printable", "langchain_memengine.text.counting",
           "langchain_memengine.faces.display")  # fmt: skip
    for node in ast.parse(module.read_text(encoding="utf-8")).body:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) else []
        assert all(name.startswith(own) or name.split(".")[0] in light for name in names), names


def test_the_version_is_that_of_the_package(memengine):
    assert memengine("--version").stdout.startswith("memengine 0.")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["search", "x", "--root", "nowhere"], 2, "There is no memory"),
        (["serch", "x"], 2, "No such command"),
        (["search", "x", "-k", "0"], 2, "-k"),
        (["undo", "nothing", "--root", "notes"], 1, "There is no revision 'nothing'."),
        (["restore", "nothing", "--root", "notes"], 1, "There is no backup"),
    ],
)
def test_programs_that_asked_for_json_get_errors_as_json_too(
    memengine, root, arguments, code, said
):
    result = memengine(*arguments, "--json")

    assert result.exit_code == code
    told = json.loads(result.stdout)
    assert said in told["error"]
    assert result.stderr == f"error: {told['error']}\n"


def test_words_behind_two_dashes_ask_for_no_json(memengine, root):
    assert memengine("search", "--root", "nowhere", "--", "--json").stdout == ""


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (PermissionError(13, "Permission denied", "/x"),
         "Permission denied: /x. Check that path, and who may read and write there."),
        (OSError(28, "No space left on device"), "No space left on device."),
    ],
)  # fmt: skip
def test_what_the_system_refuses_is_said_without_its_number(
    memengine, root, monkeypatch, error, said
):
    def refused(*_, **__):
        raise error

    monkeypatch.setattr(searching, "opened_fresh", refused)
    result = memengine("search", "x", "--root", root)

    assert (result.exit_code, only_line(result)) == (1, f"error: {said}")


def test_a_reader_that_went_away_is_no_error(memengine, root, monkeypatch):
    def unread(*_, **__):
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr(searching, "print_json", unread)
    result = memengine("search", "deploy", "--root", root, "--json")

    assert (result.exit_code, result.stdout, result.stderr) == (1, "", "")


@pytest.mark.skipif(not FULL.exists(), reason="no device here is always full")
@pytest.mark.parametrize("option", [[], ["--json"]])
def test_output_that_cannot_be_written_is_one_line_of_error(
    memengine, root, monkeypatch, capsys, option
):
    full = FULL.open("w", encoding="utf-8")
    monkeypatch.setattr(sys, "stdout", full)
    monkeypatch.setattr(sys, "argv", ["memengine", "stats", "--root", str(root), *option])
    with pytest.raises(SystemExit) as ended:
        main()
    full.close()  # raises if something is still to be written
    assert ended.value.code == 1
    assert capsys.readouterr().err == "error: No space left on device.\n"


@pytest.mark.parametrize("option", [[], ["--json"]])
def test_a_closed_output_is_no_error(memengine, root, monkeypatch, option):
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "argv", ["memengine", "stats", "--root", str(root), *option])
    with pytest.raises(SystemExit) as ended:
        main()
    sys.stdout.close()
    assert ended.value.code == 0
