"""The pages that `make notebooks` wrote: each shows its notebook as it is now, and what it said."""

import json
from pathlib import Path

import pytest

from integration_tests.chromium import need

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def page_of(name):
    path = ROOT / "build" / "notebooks" / f"{name}.md"
    need(path.exists(), "the notebooks were not run: make notebooks")
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_a_page_has_every_cell_and_nothing_that_failed(path):
    page = page_of(path.stem)
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    missing = [cell["source"] for cell in cells if "".join(cell["source"]).strip() not in page]
    assert missing == [], "changed since they were run: make notebooks"
    assert "Traceback" not in page
    assert "<script" not in page
    assert "it/s" not in page  # a progress bar has nothing to say to a reader


@pytest.mark.parametrize("name", ["01_retriever", "02_ranking_lab"])
def test_a_page_shows_what_was_found_why_and_why_not(name):
    page = page_of(name)
    assert page.count('<div class="memengine">') >= 6
    assert "Found, rank 1" in page
    assert "Not found" in page
