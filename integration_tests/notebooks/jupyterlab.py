"""JupyterLab on loopback, and a browser that looks at it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from integration_tests.chromium import CHROMIUM, OPTIONS

ROOT = Path(__file__).parents[2]
CHROMEDRIVER = shutil.which("chromedriver")
Found = TypeVar("Found")

# Resolves when the last cell is done; the kernel is waited for, or a dialog would ask which one.
_RUN_ALL = """
const done = arguments[0], app = window.jupyterapp, panel = app.shell.currentWidget;
panel.context.ready
  .then(() => panel.sessionContext.ready)
  .then(() => panel.sessionContext.session.kernel.info)
  .then(() => app.commands.execute('notebook:run-all-cells'))
  .then(() => {
    const cells = [...panel.content.model.cells].filter(cell => cell.type === 'code');
    done(cells.map(cell => [cell.executionCount, cell.outputs.toJSON()]));
  }, problem => done(String(problem)));
"""
_SECONDS = 60


def wait_for(what: str, look: Callable[[], Found], seconds: float = _SECONDS) -> Found:
    """Return what a look finds, as soon as that is true.

    Raises:
        TimeoutError: It never was.
    """
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        found = look()
        if found:
            return found
        time.sleep(0.1)
    raise TimeoutError(f"{what}: not after {seconds:.0f} seconds")


@contextmanager
def served(notebooks: Path, home: Path) -> Iterator[str]:
    """Serve a folder of notebooks with settings of its own; yields the address with its token."""
    settings = {
        "labconfig/page_config.json": {
            "disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}
        },
        "settings/@jupyterlab/notebook-extension/tracker.jupyterlab-settings": {
            "windowingMode": "none"  # cells out of sight are drawn too
        },
    }
    for name, values in settings.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values), encoding="utf-8")
    own = {
        "HOME": home,
        "JUPYTER_CONFIG_DIR": home,
        "JUPYTER_DATA_DIR": home / "data",
        "JUPYTER_RUNTIME_DIR": home / "runtime",
        "JUPYTERLAB_SETTINGS_DIR": home / "settings",
        "IPYTHONDIR": home / "ipython",
        "PYTHONPATH": ROOT,
    }
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--port=0",
        "--ServerApp.ip=127.0.0.1", "--LabApp.expose_app_in_browser=True",
        f"--ServerApp.root_dir={notebooks}",
    ]  # fmt: skip
    with (home / "log.txt").open("w") as log:
        process = subprocess.Popen(  # noqa: S603  # our own arguments
            command,
            env={**os.environ, **{name: str(value) for name, value in own.items()}},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            info = wait_for("JupyterLab starts", lambda: _info(home / "runtime"))
            yield f"{info['url']}doc/tree/{{name}}?token={info['token']}"
        finally:
            process.terminate()
            process.wait(30)


@contextmanager
def browser(profile: Path) -> Iterator[webdriver.Chrome]:
    """Start Chromium on an empty profile."""
    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    size = "--window-size=1300,1600"
    for option in (*OPTIONS, size, f"--user-data-dir={profile}"):
        options.add_argument(option)
    driver = webdriver.Chrome(options=options, service=Service(str(CHROMEDRIVER)))
    try:
        yield driver
    finally:
        driver.quit()


class Page:
    """A notebook in JupyterLab, as somebody at the screen has it."""

    def __init__(self, driver: webdriver.Chrome, address: str) -> None:
        self.driver = driver
        driver.get(address)
        app = "const app = window.jupyterapp; return app?.shell.currentWidget?.context?.isReady"
        wait_for("the notebook opens", lambda: driver.execute_script(app))

    def run_all(self) -> list[dict[str, Any]]:
        """Run all cells; return their outputs, in order.

        Raises:
            AssertionError: A cell failed, or was not run.
        """
        self.driver.set_script_timeout(_SECONDS)
        cells = self.driver.execute_async_script(_RUN_ALL)
        assert isinstance(cells, list), cells
        outputs = [output for _, shown in cells for output in shown]
        errors = [f"{one['ename']}: {one['evalue']}" for one in outputs if "ename" in one]
        assert errors == []
        assert all(count for count, _ in cells)
        return outputs

    def find(self, selector: str) -> list[WebElement]:
        """Return the elements of a CSS selector."""
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def handle(self, label: str) -> WebElement:
        """Return the handle of the slider with this label."""
        path = (
            f"//label[normalize-space()='{label}']"
            "/ancestor::div[contains(@class,'widget-slider')]"
            "//div[contains(@class,'noUi-handle')]"
        )
        return self.driver.find_element(By.XPATH, path)

    @property
    def lab(self) -> WebElement:
        """The view of the ranking lab."""
        return self.find(".jp-OutputArea-output .widget-vbox")[0]

    @property
    def lab_text(self) -> str:
        """What the ranking lab says."""
        return self.lab.text

    def change_theme(self, name: str) -> None:
        """Make JupyterLab ``Light`` or ``Dark``."""
        change = (
            "window.jupyterapp.commands.execute('apputils:change-theme', {theme: arguments[0]})"
        )
        self.driver.execute_script(change, f"JupyterLab {name}")
        is_light = str(name == "Light").lower()
        wait_for(name, lambda: self.find(f"body[data-jp-theme-light='{is_light}']"))
        time.sleep(0.5)  # colours change a moment later

    def brightness(self, selector: str) -> float:
        """Return how light the words of the first such element are, 0 to 255."""
        script = (
            "return getComputedStyle(document.querySelector(arguments[0])).color.match(/[0-9.]+/g)"
        )
        red, green, blue, *_ = map(float, self.driver.execute_script(script, selector))
        return (red + green + blue) / 3

    def show(self, element: WebElement) -> None:
        """Bring an element into view."""
        self.driver.execute_script("arguments[0].scrollIntoView()", element)

    def shot(self, element: WebElement, path: Path) -> None:
        """Take a picture of an element."""
        self.show(element)
        path.write_bytes(element.screenshot_as_png)

    def press(self, element: WebElement, key: str, times: int = 1) -> None:
        """Press a key on an element; a handle moves by keys more surely than by dragging."""
        self.show(element)
        element.send_keys(key * times)

    def choose(self, label: str, option: str) -> None:
        """Choose an option of a list."""
        path = f"//label[normalize-space()='{label}']/..//option[normalize-space()='{option}']"
        self.driver.find_element(By.XPATH, path).click()

    def type_into(self, label: str, words: str) -> None:
        """Type words and Enter into a field, in the place of what stands there."""
        path = f"//label[normalize-space()='{label}']/..//input"
        field = self.driver.find_element(By.XPATH, path)
        self.press(field, Keys.CONTROL + "a")
        field.send_keys(words + Keys.ENTER)


def _info(runtime: Path) -> dict[str, Any] | None:
    for path in runtime.glob("jpserver-*.json"):
        try:
            found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except json.JSONDecodeError:  # it is just being written
            return None
        return found
    return None
