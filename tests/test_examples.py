"""Every example runs, quickly and without a network; it checks itself what it shows."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_example_runs_and_tells_something(example, capsys, request):
    if example.stem == "langmem_store":
        request.getfixturevalue("langmem")  # skips without it
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out.strip()
