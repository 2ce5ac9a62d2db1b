"""The pages of the documentation: their blocks run, and what they name is there."""

import re
import sys
import tomllib

import pytest
import yaml

import langchain_memengine
from tests.doc_pages import DOCS, ROOT, blocks, commands, read, run
from tests.fakes.command_line import command, invoke

PAGES = sorted(path.relative_to(ROOT).as_posix() for path in DOCS.rglob("*.md"))

# These pages' blocks have a test of their own, which also looks at what they print.
TESTED_BY = {
    "docs/agents.md": "tests/test_docs.py",
    "docs/consolidation.md": "tests/test_docs.py",
    "docs/conversations.md": "tests/test_docs.py",
    "docs/evaluation.md": "tests/cli/test_evaluating.py",
    "docs/experience.md": "tests/knowledge/test_experience_page.py",
    "docs/forks.md": "tests/test_docs.py",
    "docs/interfaces.md": "tests/test_docs.py",
    "docs/jobs.md": "tests/cli/test_jobs.py",
    "docs/recipes.md": "tests/test_docs.py",
    "docs/records.md": "tests/test_docs.py",
    "docs/sync.md": "integration_tests/test_watcher.py",
}
PRINTED = {
    "docs/quickstart.md": ["kiln.md:1-3 # Kiln", "Question: Who fires", "On Thursdays."],
    "docs/ways-in.md": ["Deploys happen on Tuesdays.", "True", "On Tuesdays."],
    "docs/migrating.md": ["1 message came", "green tea", "'records': 1", "Ann likes tea.", "glaze"],
    "docs/ranking.md": ["goclaw [(", "No word of the query", "5.0"],
    "docs/learning.md": ["['User lives in Rome.']", "I live in Rome None"],
    "docs/graph.md": ["1 relation", "chose", "['PostgreSQL']"],
}
RUN_TO_THE_END = [
    "docs/command-line.md",
    "docs/experience.md",
    "docs/quickstart.md",
    "docs/reliability.md",
    "docs/ways-in.md",
]


@pytest.fixture
def somewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_each_page_with_python_is_run_by_a_test():
    with_python = {page for page in PAGES if blocks(page, "python")}
    assert with_python == TESTED_BY.keys() | PRINTED.keys()
    for page, test in TESTED_BY.items():
        assert page.removeprefix("docs/") in read(test)


@pytest.mark.parametrize("page", PRINTED)
def test_python_of_a_page_runs_in_order_and_prints_what_it_should(page, somewhere, capsys):
    run(page)
    told = capsys.readouterr().out
    places = [told.find(part) for part in PRINTED[page]]
    assert -1 not in places, told
    assert places == sorted(places)


def test_a_page_says_what_its_blocks_need_beside_the_package():
    project = tomllib.loads(read("pyproject.toml"))["project"]
    names = [project["name"], *(re.split(r"[\[<>=~ ]", one)[0] for one in project["dependencies"])]
    there = {"typing_extensions", *sys.stdlib_module_names}  # pydantic brings the first
    there |= {name.lower().replace("-", "_") for name in names}
    # What an import is installed by, where that is not its first word.
    by = {"langgraph.checkpoint.sqlite": "langgraph-checkpoint-sqlite", "langchain": "agents"}
    examples = sorted(path.name for path in (ROOT / "examples").glob("*.py"))
    rows = {name: re.findall(rf"^\| `{name}` .*$", read("examples/README.md"), re.MULTILINE)
            for name in examples}  # fmt: skip
    shown = {page: ("\n".join(blocks(page, "python")), read(page)) for page in PAGES}
    shown |= {name: (read(f"examples/{name}"), "".join(row)) for name, row in rows.items()}
    for name, (code, told) in shown.items():
        for module in re.findall(r"^ *(?:from|import) ([\w.]+)", code, re.MULTILINE):
            first = module.split(".")[0]
            needed = by.get(module) or by.get(first) or (None if first in there else first)
            assert needed is None or needed in told, (name, module)


@pytest.mark.parametrize("page", RUN_TO_THE_END)
def test_commands_of_a_page_run_in_order(page, somewhere):
    invoke(["init", "memory"])
    assert commands(page)
    for words in commands(page):
        result = invoke(words)
        assert result.exit_code == 0, (words, result.output)


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)])
def test_commands_of_a_page_are_such_as_the_command_line_takes(page):
    for words in commands(page):
        called, rest = command(), [*words]
        context = called.make_context("memengine", [], resilient_parsing=True)
        while hasattr(called, "commands") and rest and rest[0] in called.commands:
            called = called.commands[rest.pop(0)]
        assert not hasattr(called, "commands") or rest == ["--help"], words
        if rest != ["--help"]:
            called.make_context(called.name, rest, parent=context)


def named(entry: object) -> list[str]:
    """Return the pages of a navigation, however deep."""
    if isinstance(entry, str):
        return [entry]
    parts = entry.values() if isinstance(entry, dict) else entry
    return [page for part in parts for page in named(part)]


def test_every_page_is_in_the_navigation_once():
    listed = named(yaml.safe_load(read("mkdocs.yml"))["nav"])
    assert sorted(f"docs/{page}" for page in listed) == PAGES, "see nav in mkdocs.yml"


def test_every_public_name_is_on_one_page_of_the_api():
    shown = "".join(read(page) for page in PAGES if page.startswith("docs/api/"))
    names = re.findall(r"^::: langchain_memengine\.(\w+)$", shown, re.MULTILINE)
    errors = {"MemEngineError"}  # the page of errors shows its module
    assert sorted([*names, *errors]) == sorted([*langchain_memengine.__all__, "errors"])


def test_every_chapter_has_a_concept_page_that_shows_a_picture():
    package = ROOT / "langchain_memengine"
    chapters = {path.parent.name for path in package.glob("*/__init__.py")}
    pages = {path.stem: path.read_text(encoding="utf-8") for path in DOCS.glob("concepts/*.md")}
    assert pages.keys() == chapters | {"index"}
    for name, text in pages.items():
        (picture,) = re.findall(r"!\[[^\]]{40,}\]\(\.\./(.*?\.svg)\)", text)
        assert (DOCS / picture).is_file(), name


def test_index_of_the_examples_names_each_of_them():
    listed = re.findall(r"^\| `(\w+\.py)` \|", read("examples/README.md"), re.MULTILINE)
    assert listed == sorted(path.name for path in (ROOT / "examples").glob("*.py"))
