"""A key that the provider refuses: named once, nothing lost, made up for with the right one."""

import json

import pytest
from typer.testing import CliRunner

from langchain_memengine import MemoryEngine
from langchain_memengine.cli.main import app
from tests.fakes import provider_server as faults
from tests.fakes.provider_server import ProviderServer

SPECS = {"openai:small": "OPENAI_API_KEY", "google_genai:embedding": "GOOGLE_API_KEY"}
KEY = "sk-not-this-one"


@pytest.fixture
def server(monkeypatch):
    with ProviderServer(size=16) as server:
        for variable in SPECS.values():
            monkeypatch.setenv(variable, KEY)
        monkeypatch.setenv("OPENAI_API_BASE", f"{server.url}/v1")
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.url)
        yield server


@pytest.fixture
def root(tmp_path):
    for word in ("tea", "coffee", "water"):
        (tmp_path / f"{word}.md").write_text(word)
    return tmp_path


@pytest.mark.parametrize(("spec", "variable"), SPECS.items())
def test_the_engine_keeps_every_text_and_embeds_it_later(server, root, spec, variable):
    server.fail(*[faults.UNAUTHORIZED] * 20)
    with MemoryEngine.open(root, embeddings=spec) as engine:
        report = engine.sync()
        assert (report.complete, report.pending) == (False, 3)
        assert variable in report.degraded[0]
        result = engine.search("tea")
        assert [hit.path for hit in result.hits] == ["tea.md"]
        assert any(variable in note for note in result.degraded)
        assert KEY not in str(report) + str(result.degraded)
    server.recover()
    with MemoryEngine.open(root, embeddings=spec) as engine:
        assert engine.stats().embeddings == 3
        assert engine.search("tea").hits[0].cosine == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize(("spec", "variable"), SPECS.items())
def test_the_command_line_says_so_in_one_line(server, root, spec, variable):
    server.fail(*[faults.UNAUTHORIZED] * 40)
    command = CliRunner()
    for arguments in (["sync"], ["search", "tea"]):
        result = command.invoke(
            app, [*arguments, "--root", str(root), "--embeddings", spec, "--json"]
        )
        assert result.exit_code == 1
        (line,) = result.stderr.splitlines()
        assert line.startswith("warning: ")
        assert variable in line
        assert KEY not in result.stderr + result.stdout
    assert [hit["path"] for hit in json.loads(result.stdout)["hits"]] == ["tea.md"]
