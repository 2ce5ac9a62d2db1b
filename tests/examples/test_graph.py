"""The example on the graph runs."""

import importlib.util
import sys
from pathlib import Path

import pytest
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel

EXAMPLE = Path(__file__).parents[2] / "examples" / "graph.py"


@pytest.fixture
def example(monkeypatch):
    spec = importlib.util.spec_from_file_location("example_graph", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)  # where its annotations are looked up
    spec.loader.exec_module(module)
    return module


def test_a_small_app_learns_and_answers(example, tmp_path, capsys):
    path = example.run(tmp_path, GenericFakeChatModel(messages=iter([example.REPLY])))
    assert path == ["Anna —works with→ Bert", "Bert —chose→ PostgreSQL"]
    assert capsys.readouterr().out == "learnt 2 relations\n"
    assert "PostgreSQL" in (tmp_path / "graph.html").read_text(encoding="utf-8")
