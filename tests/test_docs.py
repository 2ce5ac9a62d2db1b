"""What the documentation shows is run, and what is made from the code is up to date."""

import ast
import json
import re
import tomllib
from datetime import UTC, datetime, timedelta

import pytest

from tests.doc_pages import ROOT, blocks, commands, read, run
from tests.fakes.command_line import invoke

README = read("README.md")
MAKEFILE = read("Makefile")


@pytest.fixture
def somewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_readme_leads_with_the_two_set_up_commands():
    first = blocks("README.md", "bash")[0].splitlines()
    assert [line.split("#")[0].strip() for line in first] == ["make demo", "make test"]


def test_readme_names_only_targets_that_exist():
    named = [target for (target,) in commands("README.md", "make")]
    assert [name for name in named if not re.search(rf"^{name}:", MAKEFILE, re.MULTILINE)] == []


def test_make_demo_installs_what_the_blocks_of_the_readme_import():
    project = tomllib.loads(read("pyproject.toml"))["project"]
    (extras,) = re.findall(
        r"\$\(INSTALL\) -e '?\.(?:\[(.*?)\])?'?\)\n\t@touch \$@\n\n\$\(STAMP\)", MAKEFILE
    )
    wanted = project["dependencies"] + [
        one
        for extra in extras.split(",")
        if extra
        for one in project["optional-dependencies"][extra]
    ]
    installed = {project["name"], *(re.split(r"[\[<>=~ ]", one)[0] for one in wanted)}
    text = "\n".join(blocks("README.md", "python"))
    imported = set(re.findall(r"^(?:from|import) (\w+)", text, re.MULTILINE))
    assert {name.replace("_", "-") for name in imported} <= installed


def test_python_blocks_of_the_readme_run_in_order(somewhere, capsys):
    seen = run("README.md")
    assert "Deploys happen on Tuesdays." in capsys.readouterr().out
    assert "Deploys happen on Tuesdays." in str(seen["system_prompt"])
    seen["engine"].close()


def test_recipe_of_forks_runs_and_tells_the_truth(somewhere, capsys):
    seen = run("docs/forks.md")
    forked, back, then = map(set, map(ast.literal_eval, capsys.readouterr().out.splitlines()))
    rome, noon, dusk, train = (
        f"They said: We meet {end}." for end in ("in Rome", "at noon", "at dusk", "by train")
    )
    assert (forked, back, then) == ({rome, dusk}, {rome, noon, train}, {rome})
    seen["engine"].close()


def test_recipe_of_consolidation_runs_and_undoes_what_it_did(somewhere, capsys):
    (somewhere / "memory").mkdir()
    for name in ("a.md", "b.md"):
        (somewhere / "memory" / name).write_text("Deploys happen on Tuesdays.\n", encoding="utf-8")
    run("docs/consolidation.md")
    told = capsys.readouterr().out
    assert "-Deploys happen on Tuesdays." in told
    assert "1 hidden, 0 merged, 0 folded" in told


def test_recipes_for_conversations_run_in_order(somewhere, capsys):
    seen = run("docs/conversations.md")
    told = capsys.readouterr().out
    assert "Kiln 0 must reach 900 degrees." in told
    assert "16 messages in all" in told
    assert "Kiln 2 must reach 902 degrees." in told
    assert len(seen["result"].messages) + len(seen["result"].archived) == 50
    assert seen["prompt"][0].type == "system"
    seen["engine"].close()


def test_recipes_for_interfaces_run_in_order(somewhere, capsys):
    seen = run("docs/interfaces.md")
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "1 Ann drinks green tea in the morning."
    assert "  Ann's kiln reaches 900 degrees." in told
    assert "Is the kiln on?" in told
    assert told[-4:] == ["True", "The plan.", "1", "Glaze dries in a day."]
    seen["engine"].close()


def test_tests_that_the_page_of_interfaces_names_exist():
    page = read("docs/interfaces.md")
    tests = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py"))
    named = re.findall(r"`((?:integration_)?tests/[\w/]+\.py)(?:::(\w+))?`", page)
    assert len(named) > 10
    assert [path for path, _ in named if not (ROOT / path).is_file()] == []
    functions = [*(name for _, name in named if name), *re.findall(r"`(test_\w+)`", page)]
    assert [name for name in functions if not re.search(rf"(def|class) {name}\b", tests)] == []


def test_recipes_for_agents_run_in_order(somewhere, capsys):
    run("docs/agents.md")
    told = capsys.readouterr().out
    team, anna = told.split("['human', 'ai']\nNothing was amiss.\n")
    assert "Deploys happen on Tuesdays." in team
    assert anna.count("Anna likes her tea green.") == 1
    assert anna.endswith("\n20 answers\n")


def test_configuration_of_mcp_clients_starts_our_command(somewhere):
    (block,) = blocks("docs/agents.md", "json")
    server = json.loads(block)["mcpServers"]["memory"]
    assert server["command"] == "memengine"
    refused = invoke(server["args"])  # /home/anna is nobody's here
    assert (refused.exit_code, "There is no memory at" in refused.output) == (2, True)


def test_recipe_of_records_runs_and_tells_the_truth(somewhere, capsys):
    run("docs/records.md")
    found, forgotten, *all_of_bert = capsys.readouterr().out.splitlines()
    assert set(ast.literal_eval(found)) <= {"Ann likes milk now.", "Ann is in Rome."}
    assert "Ann likes milk now." in found
    assert forgotten.startswith("1 Backups")
    assert all_of_bert[0] == "Forgotten:"
    assert ["records", "1"] in [line.split() for line in all_of_bert]


def test_security_page_names_tests_that_are_there():
    named = re.findall(
        r"`((?:integration_)?tests/[\w/]+\.py)(?:::(\w+))?`", read("docs/security.md")
    )
    assert len(named) > 30
    for path, name in named:
        assert (
            re.search(rf"^(?:async )?(?:def|class) {name}\b", read(path), re.MULTILINE) or not name
        )


def test_recipes_for_graphs_run_in_order(somewhere, capsys):
    seen = run("docs/recipes.md")
    same_thread, other_thread, other_user, agent = capsys.readouterr().out.splitlines()
    assert (same_thread, other_thread, other_user) == ("True", "True", "False")
    assert agent == "True True"
    assert max(map(len, seen["prompts"])) < 26  # as many as there were without the summary
    seen["engine"].close()


def test_first_python_block_is_a_retriever():
    assert "MemEngineRetriever(" in blocks("README.md", "python")[0]


@pytest.mark.parametrize(
    "way", ["MemEngineRetriever(", "summarization_node(", "create_agent(", "MemEngineStore("]
)
def test_each_way_in_is_shown_in_under_ten_lines(way):
    (block,) = (block for block in blocks("README.md", "python") if way in block)
    assert len([line for line in block.splitlines() if line.strip()]) < 10


def test_inline_retriever_call_of_the_readme_runs(somewhere):
    call = re.search(r"`(retriever\.invoke\(.*?\))`", README, re.DOTALL)
    assert call is not None
    names: dict[str, object] = {"last_week": datetime.now(UTC) - timedelta(days=7)}
    exec(blocks("README.md", "python")[0], names)  # noqa: S102  # the point of the test
    assert isinstance(eval(call[1], names), list)  # noqa: S307  # the same
    names["engine"].close()


def test_commands_of_the_readme_run_in_order(somewhere):
    calls = commands("README.md")
    for call in calls:
        result = invoke(call)
        assert result.exit_code == 0, (call, result.output)
    assert len(calls) >= 5


def test_links_of_the_readme_lead_somewhere():
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", README) if "://" not in link]
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []
