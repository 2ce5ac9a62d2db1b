"""The documentation as it is published: complete, and loading nothing from anywhere."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

from integration_tests.chromium import CHROMIUM, need
from integration_tests.contrast import faint_words

ROOT = Path(__file__).parents[1]

LOADS = {
    "audio": "src",
    "embed": "src",
    "iframe": "src",
    "img": "src",
    "link": "href",
    "object": "data",
    "script": "src",
    "source": "src",
    "video": "src",
}


class Page(HTMLParser):
    """What a page loads, where it links to, and what can be linked to on it."""

    def __init__(self, text: str):
        super().__init__()
        self.loaded, self.links, self.anchors = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.anchors.update(filter(None, (found.get("id"), found.get("name"))))
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        if target := found.get(LOADS.get(tag, "")):
            self.loaded.append(target)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build the site as `make docs` does, and return its folder."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "-d", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(  # noqa: S603  # our own interpreter
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site):
    return {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}


def test_every_page_of_ours_was_built(site, pages):
    ours = {path.relative_to(ROOT / "docs").with_suffix("") for path in ROOT.glob("docs/**/*.md")}
    run = ROOT / "build" / "notebooks"  # after `make notebooks`
    ours |= {path.relative_to(run.parent).with_suffix("") for path in run.glob("*.md")}
    built = {path.relative_to(site).with_suffix("") for path in pages}
    assert ours == built - {Path("404")}


def test_no_page_loads_anything_from_elsewhere(site, pages):
    away = re.compile(r"^(?:[a-z+]+:)?//", re.IGNORECASE)
    for path, page in pages.items():
        assert page.loaded
        assert [one for one in page.loaded if away.match(one)] == [], path
    # What the theme would fetch from elsewhere to draw such a block in the reader's browser:
    assert not any('class="mermaid"' in path.read_text(encoding="utf-8") for path in pages)
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert re.findall(r"(?:@import|url\()\s*[\"']?(?:https?:)?//", styles) == []
    pictures = "".join(path.read_text(encoding="utf-8") for path in site.rglob("images/**/*.svg"))
    assert re.findall(r"(?:href|src)=\"(?!#)|@import|url\((?!#)", pictures) == []


def test_links_between_pages_lead_to_a_place_on_a_page(pages):
    checked = 0
    for path, page in pages.items():
        for link in page.links:
            if re.match(r"[a-z]+:", link) or path.stem == "404":
                continue
            target, anchor = urldefrag(link)
            place = (path.parent / unquote(target)).resolve() if target else path
            place = place / "index.html" if place.is_dir() else place
            assert place in pages, (path, link)
            assert not anchor or unquote(anchor) in pages[place].anchors, (path, link)
            checked += 1
    assert checked > 1000


def test_words_of_a_page_can_be_read_on_light_and_dark(site, tmp_path):
    need(CHROMIUM, "chromium is not installed")
    need(shutil.which("chromedriver"), "chromedriver is not installed (Debian: chromium-driver)")
    need(importlib.util.find_spec("selenium"), "selenium is not installed (extra: dev)")
    from integration_tests.notebooks.jupyterlab import browser

    is_dark = "return document.body.dataset.mdColorScheme === 'slate'"
    with browser(tmp_path / "profile") as driver:
        for width in (1280, 800):
            driver.set_window_size(width, 1400)
            for page in ("index", "quickstart", "deployment", "api/engine"):
                driver.get(f"file://{site}/{page}.html")
                for theme in ("slate", "default"):
                    driver.execute_script(
                        "document.head.append(Object.assign(document.createElement('style'),"
                        "{textContent: '*{transition:none!important}'}));"
                        "document.body.dataset.mdColorScheme = arguments[0]",
                        theme,
                    )
                    assert driver.execute_script(is_dark) is (theme == "slate")
                    assert faint_words(driver, "body") == [], (page, theme, width)


def test_docstrings_are_shown_without_marks_of_another_language(site):
    shown = "".join(path.read_text(encoding="utf-8") for path in site.glob("api/*.html"))
    assert "MemoryEngine" in shown
    assert re.findall(r":(?:class|meth|func|attr|mod):", re.sub(r"<[^>]*>", "", shown)) == []
