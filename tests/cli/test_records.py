"""forget, export and import."""

import io
import json
import sys

import pytest
import typer.testing

from langchain_memengine.cli.main import main
from tests.fakes.engines import make_engine


@pytest.fixture
def record(root):
    with make_engine(root) as engine:
        return engine.remember("The zebraquux opens the door", thread_id="t", source="chat/1")


def test_forget_reports_what_went_and_what_is_out_of_reach(memengine, root, record):
    report = memengine.json("forget", record.id, "--root", root)
    assert report["removed"]["records"] == 1
    assert report["total"] == sum(report["removed"].values())
    assert any("Git" in line for line in report["out_of_reach"])
    result = memengine("forget", record.id, "--root", root)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "no record" in result.stderr


@pytest.mark.parametrize("option", ["--source=chat/1", "--thread=t", "--owner=local"])
def test_forgetting_much_needs_a_yes(memengine, root, record, option):
    result = memengine("forget", option, "--root", root)
    assert result.exit_code == 2
    assert "Add --yes" in result.stderr
    result = memengine("forget", option, "--yes", "--root", root)
    assert result.exit_code == 0
    assert "Out of reach:" in result.stdout
    left = memengine.json("audit", "--root", root)
    assert (left["records"] == []) == (option != "--owner=local")  # an admin's record is everyone's


@pytest.mark.parametrize("answer", ["n", "y"])
def test_who_sits_at_a_terminal_is_asked_before_much_is_forgotten(
    memengine, root, record, monkeypatch, answer
):
    monkeypatch.setattr(typer.testing._NamedTextIOWrapper, "isatty", lambda one: one.mode == "r")
    result = memengine("forget", "--thread=t", "--root", root, stdin=f"{answer}\n")
    assert "Forget the conversation 't' for good?" in result.stderr
    assert (result.exit_code, "nothing was done" in result.stderr) == (int(answer == "n"),) * 2
    left = memengine.json("audit", "--root", root)["records"]
    assert bool(left) is (answer == "n")


@pytest.mark.parametrize("given", [[], ["a", "--thread", "t"]])
def test_forget_wants_one_thing(memengine, root, given):
    result = memengine("forget", *given, "--root", root)
    assert result.exit_code == 2
    assert "one of them" in result.stderr


def test_forget_finds_nothing_of_another_user(memengine, root, record):
    result = memengine("forget", "--thread", "t", "--yes", "--user", "bob", "--root", root)
    assert "There was nothing to forget." in result.stdout


def test_an_export_is_imported_elsewhere(memengine, root, record, tmp_path):
    counted = memengine.json("export", tmp_path / "out.jsonl", "--root", root)
    assert counted["exported"]["records"] == 1
    assert counted["left_out"] == {}
    memengine("init", tmp_path / "two")
    (tmp_path / "two" / "MEMORY.md").unlink()
    report = memengine.json("import", tmp_path / "out.jsonl", "--root", tmp_path / "two")
    assert report["imported"]["records"] == 1
    found = memengine.json("search", "zebraquux", "--root", tmp_path / "two")
    assert [hit["text"] for hit in found["hits"]] == ["The zebraquux opens the door"]
    again = memengine("import", tmp_path / "out.jsonl", "--root", tmp_path / "two")
    assert again.exit_code == 0
    assert "nothing" in again.stdout


def test_an_export_goes_to_standard_output_and_comes_from_standard_input(memengine, root, record):
    result = memengine("export", "-", "--root", root)
    assert json.loads(result.stdout.splitlines()[0])["kind"] == "memengine export"
    assert "zebraquux" in memengine("export", "-", "--markdown", "--root", root).stdout
    assert memengine("export", "-", "--json", "--root", root).exit_code == 2
    again = memengine("import", "-", "--root", root, stdin=result.stdout)
    assert again.exit_code == 0
    assert "1 record" in again.stdout


def exported_to(stream, monkeypatch, *arguments):
    """Return the bytes that an export in this process writes to a stream as standard output."""
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setattr(sys, "argv", ["memengine", "export", "-", *map(str, arguments)])
    with pytest.raises(SystemExit, match="0"):
        main()
    stream.flush()
    return stream.buffer.getvalue()


@pytest.mark.parametrize("form", [(), ("--markdown",)])
def test_an_export_keeps_every_character_whatever_the_locale(root, monkeypatch, form):
    with make_engine(root) as engine:
        engine.add_texts(["wait… – 中 █"])
    pipe = io.TextIOWrapper(io.BytesIO(), "latin-1")
    exported = exported_to(pipe, monkeypatch, "--root", root, *form)
    assert "wait… – 中 █" in exported.decode("utf-8")


def test_an_export_cannot_steer_a_terminal(root, monkeypatch):
    with make_engine(root) as engine:
        engine.add_texts(["red \x1b[31m tea"])
    screen = io.TextIOWrapper(io.BytesIO(), "utf-8")
    monkeypatch.setattr(screen, "isatty", lambda: True)
    shown = exported_to(screen, monkeypatch, "--markdown", "--root", root)
    assert b"red  tea" in shown
    assert b"\x1b[31m" not in shown


def test_an_import_must_be_text(memengine, root):
    result = memengine("import", "-", "--root", root, stdin=b'\xff\xfe{"a"')
    assert result.exit_code == 2
    assert "not UTF-8" in result.stderr


def test_an_import_that_leaves_something_out_says_so(memengine, root):
    export = json.dumps([{"memory": "Ann likes tea"}, {"memory": " "}])
    result = memengine("import", "-", "--root", root, stdin=export)
    assert result.exit_code == 1
    assert "1: blank" in result.stdout
    assert memengine("import", "-", "--root", root, stdin="{}").exit_code == 2


def test_export_names_the_file_and_what_is_in_it(memengine, root, record, tmp_path):
    result = memengine("export", tmp_path / "out.md", "--markdown", "--root", root)
    assert "1 record" in result.stdout
    assert "zebraquux" in (tmp_path / "out.md").read_text()
