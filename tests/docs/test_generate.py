"""What the documentation makes from the code and from descriptions is up to date."""

import pytest

from docs.diagrams import draw
from docs.generate import configuration, diagrams, picture
from tests.doc_pages import DOCS, read


def test_page_of_settings_is_up_to_date():
    assert read("docs/configuration.md") == configuration(), "run: python -m docs.generate"


def test_picture_of_a_search_is_up_to_date():
    drawn = (DOCS / "images" / "search.svg").read_text(encoding="utf-8")
    assert drawn == picture(), "run: python -m docs.generate"


def test_diagrams_are_up_to_date():
    folder = DOCS / "images" / "concepts"
    drawn = {path.stem: path.read_text(encoding="utf-8") for path in folder.iterdir()}
    assert drawn == diagrams(), "run: python -m docs.generate"


def test_a_diagram_has_its_boxes_in_rows_and_its_arrows_between_them():
    svg = draw("a & b | c\nd\na & b > d: now\nc > d")

    # Two boxes of 61.0 and 31.4 leave 619.6, in three gaps of 206.53; one row lies 96 below.
    assert '<rect class="box" x="231" y="24" width="61"' in svg
    assert '<rect class="box" x="364" y="120" width="31"' in svg
    assert svg.count("<path d=") == 3  # two arrows and the tip
    assert "a &amp; b</text>" in svg
    assert ">now</text>" in svg


def test_a_colon_in_a_name_is_part_of_it():
    assert "<text class" not in draw("x\nno: quote\nx > no: quote")


@pytest.mark.parametrize(
    ("description", "said"),
    [("a\na > b", "names 'b', which is no box"), (" | ".join(["m" * 20] * 5), "is too wide")],
)
def test_a_diagram_that_cannot_be_drawn_is_refused(description, said):
    with pytest.raises(ValueError, match=said):
        draw(description)
