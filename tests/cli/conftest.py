"""A command line to call, away from the settings and folders of whoever runs the tests."""

import json
import os

import pytest

from langchain_memengine.engine import parts
from langchain_memengine.models.providers import make_embedder
from tests.fakes.command_line import invoke
from tests.fakes.embeddings import FakeEmbeddings


class CommandLine:
    """Calls ``memengine`` in this process."""

    def __call__(self, *arguments, stdin=None):
        return invoke([str(one) for one in arguments], stdin)

    def json(self, *arguments):
        """Return what a call prints as JSON; it must succeed."""
        result = self(*arguments, "--json")
        assert result.exit_code == 0, result.stderr
        return json.loads(result.stdout)


@pytest.fixture
def memengine(tmp_path, monkeypatch):
    for name in list(os.environ):
        if name.startswith("MEMENGINE_"):
            monkeypatch.delenv(name)
    monkeypatch.delenv("COLUMNS", raising=False)  # output that goes to no terminal has no width
    monkeypatch.setenv("MEMENGINE_EMBEDDINGS", "none")
    monkeypatch.setenv("MEMENGINE_VECTOR_SEARCH", "exact")
    monkeypatch.chdir(tmp_path)
    return CommandLine()


@pytest.fixture
def no_answer(monkeypatch):
    """Let every embedder that is asked for be one that never answers."""
    broken = FakeEmbeddings(fail_with=[ConnectionError("nobody is there")] * 99)
    monkeypatch.setattr(parts, "make_embedder", lambda *_, **__: make_embedder(broken, attempts=1))


@pytest.fixture
def root(tmp_path, memengine):
    """A memory with one note on deploys and one on coffee."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "deploy.md").write_text("# Deploys\n\nWe deploy on Tuesdays.\n", encoding="utf-8")
    (folder / "coffee.md").write_text(
        "---\ndate: 2026-03-01\nteam: core\n---\n# Coffee\n\nThe machine is on floor two.\n",
        encoding="utf-8",
    )
    return folder
