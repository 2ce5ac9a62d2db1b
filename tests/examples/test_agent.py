"""The example of an agent runs."""

import importlib.util
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "agent.py"


@pytest.fixture
def example(monkeypatch):
    spec = importlib.util.spec_from_file_location("example_agent", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)  # where its annotations are looked up
    spec.loader.exec_module(module)
    return module


def test_agent_remembers_forgets_and_can_be_rewound(example, tmp_path, capsys):
    fridays, noon, dusk = (
        f"The kiln fires {when}." for when in ("on Fridays", "at noon", "at dusk")
    )
    assert example.run(tmp_path) == [fridays, f"{noon} {fridays}", fridays, dusk]
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "> Save: The kiln fires on Fridays."
    saved = told[1].removeprefix("Saved with the id ").removesuffix(".")
    assert (told[-3], told[-1]) == (f"Deleted the memory {saved}.", dusk)
