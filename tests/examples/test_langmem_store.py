"""The example with langmem's tools: what a user noted is found after a restart, by them alone."""

import json
import runpy
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "langmem_store.py"


@pytest.mark.usefixtures("langmem")  # skips without it
def test_each_user_finds_what_they_noted_after_a_restart(tmp_path, capsys):
    answers = runpy.run_path(str(EXAMPLE))["run"](tmp_path)
    found = [[item["value"]["content"] for item in json.loads(answer)] for answer in answers]
    assert found == [["Ann fires the kiln on Fridays."], ["Bob glazes on Mondays."]]
    assert capsys.readouterr().out.count("created memory") == 3
