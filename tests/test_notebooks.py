"""Notebooks are stored to be read: without output, each saying where a real model goes."""

import json
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))
WITHOUT_MODEL = {"02_ranking_lab"}  # it ranks, and asks no model


def test_there_are_seven_in_order():
    assert [path.stem[:2] for path in NOTEBOOKS] == [f"0{number}" for number in range(1, 8)]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_a_notebook_is_stored_without_output_and_can_be_read_as_a_page(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    assert all(cell["metadata"] == {} for cell in notebook["cells"])
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    text = "".join("".join(cell["source"]) for cell in notebook["cells"])
    title = "".join(notebook["cells"][0]["source"])
    assert title.startswith(f"# {int(path.stem[:2])}. ")
    assert ("goes here" in " ".join(text.split())) is (path.stem not in WITHOUT_MODEL)
    assert "engine.close()" in text
    assert "http" not in text  # nothing is fetched
