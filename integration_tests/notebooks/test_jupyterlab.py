"""The first two notebooks in JupyterLab, looked at and turned as a person would."""

import importlib.util
import shutil
from pathlib import Path

import pytest

from integration_tests.chromium import CHROMIUM, need
from integration_tests.contrast import faint_words

ROOT = Path(__file__).parents[2]


def rows(page):
    """Return the cells of the lab's table, row by row, without the faded ones."""
    found = page.driver.execute_script(
        "return [...document.querySelector('.widget-vbox .memengine tbody').rows].map("
        "row => [row.className, ...[...row.cells].map(cell => cell.innerText)])"
    )
    return [row[1:] for row in found if row[0] != "faded"]


@pytest.fixture
def open_notebook(tmp_path):
    need(CHROMIUM, "chromium is not installed")
    need(shutil.which("chromedriver"), "chromedriver is not installed (Debian: chromium-driver)")
    for name in ("jupyterlab", "ipywidgets", "selenium"):
        need(importlib.util.find_spec(name), f"{name} is not installed (extra: dev)")
    from integration_tests.notebooks.jupyterlab import Page, browser, served

    notebooks = tmp_path / "notebooks"
    shutil.copytree(ROOT / "notebooks", notebooks)
    with (
        served(notebooks, tmp_path / "home") as address,
        browser(tmp_path / "profile") as driver,
    ):
        yield lambda name: Page(driver, address.format(name=f"{name}.ipynb"))


def test_the_notebooks_run_and_the_lab_answers_to_its_knobs(open_notebook, tmp_path):
    from selenium.webdriver.common.keys import Keys

    from integration_tests.notebooks.jupyterlab import wait_for

    page = open_notebook("01_retriever")
    outputs = page.run_all()
    assert not [one for one in outputs if one.get("name") == "stderr"]
    assert sum("text/html" in one.get("data", {}) for one in outputs) >= 8
    # JupyterLab let our look through: places stand at the left, bars have a width.
    page.show(page.find(".memengine table")[0])
    assert page.find(".memengine td")[0].value_of_css_property("text-align") == "left"
    widths = [one.size["width"] for one in page.find(".memengine .track i.vector")]
    assert max(widths) > 20

    page = open_notebook("02_ranking_lab")
    page.run_all()
    wait_for("the lab is drawn", lambda: page.find(".widget-vbox .memengine tbody tr"))
    before = rows(page)
    assert len(before) == 6
    page.press(page.handle("k"), Keys.ARROW_LEFT, 3)
    wait_for("three rows are left", lambda: len(rows(page)) == 3)
    assert [row[1] for row in rows(page)] == [row[1] for row in before[:3]]

    page.choose("start from", "decsr")
    wait_for("eight rows, as decsr wants", lambda: len(rows(page)) == 8)
    page.press(page.handle("α, share of words"), Keys.HOME)
    wait_for("an arrow says what moved", lambda: any("▲" in row[0] for row in rows(page)))
    page.type_into("or", "blank paper firmware")
    wait_for("the lab says why not", lambda: "Not found" in page.lab_text)
    assert "No word of the query occurs in it" in page.lab_text

    for theme in ("Light", "Dark"):
        page.change_theme(theme)
        assert (page.brightness(".memengine td") > 128) is (theme == "Dark")
        assert (page.brightness(".memengine-flow svg text") > 128) is (theme == "Dark")
        assert faint_words(page.driver, ".memengine, .memengine-flow") == []
        picture = tmp_path / f"lab-{theme}.png"
        page.shot(page.lab, picture)
        assert picture.stat().st_size > 40_000  # an empty one has some 5,000 bytes
