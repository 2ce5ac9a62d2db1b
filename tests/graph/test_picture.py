"""Pictures: well-formed, harmless whatever a memory says, and the same every time."""

import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langchain_memengine.graph.labelling import LABEL_SIZE, NAME_SIZE, text_width
from langchain_memengine.graph.layout import force_layout, side_for
from langchain_memengine.graph.picture import COLOURS, GraphPicture
from langchain_memengine.storage.graph_values import Entity, Relation, Subgraph
from tests.contrast import READ, SEEN, WHITE, contrast
from tests.fakes.engines import make_engine

SVG = "{http://www.w3.org/2000/svg}"
ANNA, BERT, LONER = Entity("Anna", "Person", ("Annie",)), Entity("Bert"), Entity("Loner")


def subgraph(*relations, entities=(ANNA, BERT)):
    return Subgraph(tuple(entities), relations, {entities[0].id: 0})


def titles(picture, kind):
    groups = ET.fromstring(picture.svg).iter(f"{SVG}g")  # noqa: S314  # our own text
    return [one.find(f"{SVG}title").text for one in groups if one.get("class") == kind]


def test_entities_and_relations_are_labelled_and_tell_their_evidence():
    knows = Relation(ANNA, "knows", BERT, evidence=("e1", "e2"))
    picture = GraphPicture(subgraph(knows, Relation(BERT, "is", BERT)), {"e1": "Anna knows Bert."})
    assert titles(picture, "entity") == ["Anna (Annie)\nPerson", "Bert"]
    assert titles(picture, "relation") == [
        "Anna —knows→ Bert\nAnna knows Bert.\ne2",
        "Bert —is→ Bert",
    ]
    labels = [one.text for one in ET.fromstring(picture.svg).iter(f"{SVG}text")]  # noqa: S314
    assert labels == ["knows", "is", "Anna", "Bert"]
    assert picture.svg in picture.html
    assert picture._repr_svg_() == picture.svg


@settings(max_examples=25)
@given(st.text(min_size=1))
def test_no_memory_gets_out_of_its_text(text):
    hostile = Entity(f"</title><script>alert(1)</script>{text}", text)
    picture = GraphPicture(
        subgraph(Relation(hostile, text, BERT, evidence=("e",)), entities=(hostile, BERT)),
        {"e": f"<img onerror=x>{text}"},
    )
    page = picture.html
    drawn = page[page.index("<svg") : page.index("</svg>") + len("</svg>")]
    ET.fromstring(drawn)  # noqa: S314  # that it can be read is the test
    assert "<script>alert" not in page
    assert "<img" not in page


def test_a_page_loads_nothing():
    page = GraphPicture(subgraph(Relation(ANNA, "knows", BERT))).html
    assert "src=" not in page
    assert page.count("http") == 2  # the namespace of SVG, and http-equiv
    assert "default-src 'none'" in page


@pytest.mark.parametrize("count", [0, 1, 2, 30])
def test_places_are_in_the_square_and_the_same_every_time(count):
    edges = [(i, (i + 1) % count) for i in range(count)]
    places = force_layout(count, edges)
    assert places.shape == (count, 2)
    assert ((places >= 0) & (places <= 1)).all()
    assert (places == force_layout(count, edges)).all()


def test_connected_entities_are_nearer_than_others():
    places = force_layout(6, [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)])
    distance = np.linalg.norm(places[:, None] - places[None], axis=2)
    assert distance[:3, :3].max() < distance[:3, 3:].min()


def test_the_engine_draws_with_the_memories_that_the_actor_may_read():
    with make_engine() as engine:
        engine.add_texts(["Anna knows Bert."], ids=["a"])
        engine.graph.add_triples([("Anna", "knows", "Bert")], evidence="a")
        picture = engine.graph.picture(engine.graph.neighbours("Anna"))
        assert titles(picture, "relation") == ["Anna —knows→ Bert\nAnna knows Bert."]


def test_short_edges_get_room_but_three_times_as_much_at_most():
    usual = 150 * 1.3 * 2  # 150 pixels for each of 4 nodes, each way
    apart = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    assert side_for(apart, []) == pytest.approx(usual)
    assert side_for(apart, [(0, 1), (1, 1)]) == pytest.approx(usual)
    apart[1] = [0.2, 0.0]
    assert side_for(apart, [(0, 1)]) == pytest.approx(110 / 0.2)
    apart[1] = [0.001, 0.0]
    assert side_for(apart, [(0, 1)]) == pytest.approx(3 * usual)


@pytest.mark.parametrize("kind", ["works with", "likes", "very" * 7])
def test_no_text_leaves_the_picture(kind):
    long = Entity("W" * 40)
    picture = GraphPicture(subgraph(Relation(ANNA, kind, long), Relation(long, kind, long),
                                    entities=(ANNA, long)))  # fmt: skip
    page = ET.fromstring(picture.svg)  # noqa: S314  # our own text
    for text in page.iter(f"{SVG}text"):
        size = LABEL_SIZE if text.get("class") == "label" else NAME_SIZE
        width, x, y = text_width(text.text, size), float(text.get("x")), float(text.get("y"))
        left = x - {"start": 0, "middle": width / 2, "end": width}[text.get("text-anchor")]
        assert left >= 0
        assert left + width <= float(page.get("width"))
        assert size <= y <= float(page.get("height"))


def test_words_can_be_read_and_lines_are_seen_on_the_white_ground():
    svg = GraphPicture(subgraph(Relation(ANNA, "knows", BERT))).svg
    style = svg.partition("<style>")[2].partition("</style>")[0]

    def drawn(name):
        return {
            "#" + "".join(2 * digit for digit in found)
            for found in re.findall(rf"{name}:#(\w{{3}})\b", style.replace("stroke:#fff", ""))
        } | set(re.findall(rf"{name}:(#\w{{6}})", style))

    assert len(drawn("fill")) == 3
    assert [one for one in drawn("fill") if contrast(one, WHITE) < READ] == []
    assert [one for one in {*drawn("stroke"), *COLOURS} if contrast(one, WHITE) < SEEN] == []
