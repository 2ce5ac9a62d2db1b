"""What an import costs: heavy packages are loaded when they are used, not before."""

import subprocess
import sys

import pytest

HEAVY = (
    "chromadb",
    "sqlalchemy",
    "langchain_openai",
    "wordllama",
    "numpy",
    "langchain_core",
    "langchain",
    "mcp",
)


def loaded_by(statement: str) -> set[str]:
    """Return the heavy packages that a fresh interpreter has loaded after a statement."""
    program = f"import sys\n{statement}\nprint(*(n for n in {HEAVY!r} if n in sys.modules))"
    done = subprocess.run(  # noqa: S603  # this interpreter and our own program
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    return set(done.stdout.split())


def test_importing_the_package_loads_nothing_heavy():
    assert loaded_by("import langchain_memengine") == set()


def test_importing_the_terminal_loads_neither_indexes_nor_databases():
    loaded = loaded_by("import langchain_memengine.cli.main")
    assert loaded & {"chromadb", "sqlalchemy", "numpy"} == set()


@pytest.mark.parametrize("name", ["MemoryEngine", "MemEngineRetriever"])
def test_using_a_name_loads_no_vector_database_and_no_provider(name):
    loaded = loaded_by(f"from langchain_memengine import {name}")
    assert loaded & {"chromadb", "langchain_openai", "wordllama"} == set()
