"""The picture of a graph in a real browser, without a network."""

import re
import subprocess

from integration_tests.chromium import CHROMIUM, OPTIONS, need
from tests.fakes.engines import make_engine


def test_a_page_opens_and_shows_entities_and_relations(tmp_path):
    need(CHROMIUM, "chromium is not installed")
    page, shot = tmp_path / "graph.html", tmp_path / "graph.png"
    with make_engine() as engine:
        engine.add_texts(["Anna <b>knows</b> Bert."], ids=["a"])
        engine.graph.add_triples(
            [("Anna", "knows", "Bert"), ("Bert", "likes", "R&D")], evidence="a"
        )
        found = engine.graph.neighbours("Anna", 2)
        page.write_text(engine.graph.picture(found).html, encoding="utf-8")

    command = [CHROMIUM, *OPTIONS, f"--user-data-dir={tmp_path / 'profile'}"]
    dom = subprocess.run(  # noqa: S603  # our own page
        [*command, "--dump-dom", page.as_uri()],
        check=True, capture_output=True, text=True, timeout=60,
    ).stdout  # fmt: skip
    assert re.findall(r"<text[^>]*>([^<]*)</text>", dom) == [
        "knows", "likes", "Anna", "Bert", "R&amp;D",
    ]  # fmt: skip
    assert "Anna &lt;b&gt;knows&lt;/b&gt; Bert." in dom
    subprocess.run(  # noqa: S603  # our own page
        [*command, f"--screenshot={shot}", "--window-size=800,800", page.as_uri()],
        check=True, capture_output=True, timeout=60,
    )  # fmt: skip
    assert shot.stat().st_size > 5_000  # a blank page of this size has about 3,600 bytes
