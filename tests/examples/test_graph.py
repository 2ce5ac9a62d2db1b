"""The example on the graph runs."""

import pytest
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel

from tests.fakes.examples import example as load_example


@pytest.fixture
def example(monkeypatch):
    return load_example("graph", monkeypatch)


def test_a_small_app_learns_and_answers(example, tmp_path, capsys):
    path = example.run(tmp_path, GenericFakeChatModel(messages=iter([example.REPLY])))
    assert path == ["Anna —works with→ Bert", "Bert —chose→ PostgreSQL"]
    assert capsys.readouterr().out == "learnt 2 relations\n"
    assert "PostgreSQL" in (tmp_path / "graph.html").read_text(encoding="utf-8")
