"""The first two notebooks run from top to bottom; ``make notebooks`` runs all of them."""

import importlib.util

import pytest

from integration_tests.chromium import need


@pytest.mark.parametrize("name", ["01_retriever", "02_ranking_lab"])
def test_a_notebook_runs_and_its_page_shows_tables(name, tmp_path, monkeypatch):
    for package in ("nbclient", "nbconvert", "ipykernel", "ipywidgets"):
        need(importlib.util.find_spec(package), f"{package} is not installed (extra: notebooks)")
    from docs import notebooks

    monkeypatch.setattr(notebooks, "PAGES", tmp_path)
    (source,) = notebooks.sources([name])
    page = notebooks.write_page(notebooks.executed(source), name).read_text(encoding="utf-8")
    assert page.count('<div class="memengine">') >= 6
    assert "Not found" in page
    assert "Found, rank 1" in page
    assert "Traceback" not in page
    assert "<script" not in page
    assert "it/s" not in page  # a progress bar has nothing to say to a reader
