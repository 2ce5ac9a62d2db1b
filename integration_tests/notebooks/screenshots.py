"""Take the pictures of the README: the ranking lab as JupyterLab shows it.

    python -m integration_tests.notebooks.screenshots

Needs Chromium with its driver, and the extra ``dev``.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from selenium.webdriver.common.keys import Keys

from integration_tests.notebooks.jupyterlab import ROOT, Page, browser, served, wait_for

PICTURE = ROOT / "docs" / "images" / "ranking-lab.png"


def main() -> None:
    """Turn two knobs, ask for a memory that is not found, and take the picture."""
    with TemporaryDirectory() as folder:
        place = Path(folder)
        shutil.copytree(ROOT / "notebooks", place / "notebooks")
        with (
            served(place / "notebooks", place / "home") as address,
            browser(place / "profile") as driver,
        ):
            page = Page(driver, address.format(name="02_ranking_lab.ipynb"))
            page.run_all()
            wait_for("the lab is drawn", lambda: page.find(".widget-vbox .memengine tbody tr"))
            page.press(page.handle("weight of words"), Keys.ARROW_LEFT, 14)
            page.press(page.handle("weight of age"), Keys.ARROW_RIGHT, 10)
            page.type_into("or", "PAY-4012 card payments")
            wait_for("why not", lambda: "Not among the hits" in page.lab_text)
            page.shot(page.lab, PICTURE)


if __name__ == "__main__":
    main()
