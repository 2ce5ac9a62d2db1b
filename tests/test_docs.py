"""What the documentation shows is run, and what is made from the code is up to date."""

import ast
import importlib.util
import re
import shlex
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from langchain_memengine.cli.main import app

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def commands() -> list[list[str]]:
    lines = "\n".join(blocks("bash")).splitlines()
    return [shlex.split(line, comments=True) for line in lines if line.strip()]


@pytest.fixture
def somewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_readme_leads_with_the_two_set_up_commands():
    assert commands()[:2] == [["make", "demo"], ["make", "test"]]


def test_readme_names_only_targets_that_exist():
    named = [command[1] for command in commands() if command[0] == "make"]
    assert [name for name in named if not re.search(rf"^{name}:", MAKEFILE, re.MULTILINE)] == []


def test_python_blocks_of_the_readme_run_in_order(somewhere, capsys):
    seen: dict[str, object] = {}
    for block in blocks("python"):
        exec(compile(block, "README.md", "exec"), seen)  # noqa: S102  # the point of the test
    assert "Deploys happen on Tuesdays." in capsys.readouterr().out
    assert "Deploys happen on Tuesdays." in str(seen["system_prompt"])
    seen["engine"].close()


def test_recipe_of_forks_runs_and_tells_the_truth(somewhere, capsys):
    page = (ROOT / "docs" / "forks.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    seen: dict[str, object] = {"__name__": "recipe"}
    exec(compile(block, "forks.md", "exec"), seen)  # noqa: S102  # the point of the test
    forked, back, then = map(set, map(ast.literal_eval, capsys.readouterr().out.splitlines()))
    rome, noon, dusk, train = (
        f"They said: We meet {end}." for end in ("in Rome", "at noon", "at dusk", "by train")
    )
    assert (forked, back, then) == ({rome, dusk}, {rome, noon, train}, {rome})
    seen["engine"].close()


def test_recipes_for_conversations_run_in_order(somewhere, capsys):
    page = (ROOT / "docs" / "conversations.md").read_text(encoding="utf-8")
    seen: dict[str, object] = {"__name__": "recipe"}
    for block in re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
        exec(compile(block, "conversations.md", "exec"), seen)  # noqa: S102  # the point of the test
    told = capsys.readouterr().out
    assert "Kiln 0 must reach 900 degrees." in told
    assert "16 messages in all" in told
    assert "Kiln 2 must reach 902 degrees." in told
    assert len(seen["result"].messages) + len(seen["result"].archived) == 50
    assert seen["prompt"][0].type == "system"
    seen["engine"].close()


def test_first_python_block_is_a_retriever_in_under_ten_lines():
    lines = [line for line in blocks("python")[0].splitlines() if line.strip()]
    assert len(lines) < 10
    assert any("MemEngineRetriever(" in line for line in lines)


def test_inline_retriever_call_of_the_readme_runs(somewhere):
    call = re.search(r"`(retriever\.invoke\(.*?\))`", README, re.DOTALL)
    assert call is not None
    names: dict[str, object] = {"last_week": datetime.now(UTC) - timedelta(days=7)}
    exec(blocks("python")[0], names)  # noqa: S102  # the point of the test
    assert isinstance(eval(call[1], names), list)  # noqa: S307  # the same
    names["engine"].close()


def test_commands_of_the_readme_run_in_order(somewhere):
    ran = [command for command in commands() if command[0] == "memengine"]
    for command in ran:
        result = CliRunner().invoke(app, command[1:])
        assert result.exit_code == 0, (command, result.output)
    assert len(ran) >= 5


def test_links_of_the_readme_lead_somewhere():
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", README) if "://" not in link]
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_generated_configuration_page_is_up_to_date():
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    written = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    assert written == generate.configuration(), "run: python docs/generate.py"
