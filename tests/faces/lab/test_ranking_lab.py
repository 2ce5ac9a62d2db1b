"""The lab answers to every knob, and says why a memory is found, and why another is not."""

import re
import sys
from html import unescape

import pytest

from langchain_memengine import RANKINGS, Actor, RankingLab
from langchain_memengine.answers import SearchResult
from langchain_memengine.errors import MissingDependencyError
from langchain_memengine.faces.lab.comparing import YOURS, compare, comparison_sheet
from langchain_memengine.faces.lab.rank_flow import LINES, rank_flow
from tests.contrast import NIGHT, READ, SEEN, WHITE, contrast
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine

TEXTS = {
    "tea": "Tea is served at four.",
    "more": "Tea and more tea and tea again.",
    "kiln": "The kiln fires on Fridays.",
    "hostile": "Tea </script><script>alert(1)</script>",
}


@pytest.fixture
def engine():
    with make_engine() as engine:
        engine.add_texts(list(TEXTS.values()), ids=list(TEXTS))
        yield engine


def rows(lab):
    """Return the cells of the lab's table, as a person reads them."""
    body = lab.table.value.partition("<tbody>")[2]
    return [
        [
            unescape(re.sub(r"<[^>]+>", " ", cell)).split()
            for cell in re.findall(r"<td.*?</td>", row)
        ]
        for row in re.findall(r"<tr.*?</tr>", body)
    ]


def chunk(engine, name):
    """Return the id of the chunk of an added text."""
    (hit,) = [hit for hit in engine.search(TEXTS[name], 9).hits if hit.text == TEXTS[name]]
    return hit.id


def test_presets_and_yours_stand_side_by_side(engine):
    lab = RankingLab(engine, "tea")
    assert list(lab.comparison.results) == [*RANKINGS, YOURS]
    for name in RANKINGS:
        found = [hit.id for hit in engine.search("tea", 6, ranking=name).hits]
        assert [hit.id for hit in lab.comparison.results[name].hits] == found
    assert rows(lab)[0][0] == ["1"]  # as in the preset it starts from: it did not move


def test_a_smaller_k_leaves_out_and_the_table_follows(engine):
    lab = RankingLab(engine, "tea")
    before = lab.table.value
    lab.knobs["k"].value = 1
    assert lab.table.value != before
    assert lab.ranking.k == 1
    assert len(lab.comparison.results[YOURS].hits) == 1
    assert '"k": 1' in lab.code.value


def test_a_knob_moves_ranks_and_arrows_say_how_far():
    # To the keyword leg "the" is no word; to the embedder it is half of the question.
    with make_engine(embeddings=FakeEmbeddings()) as engine:
        engine.add_texts(["Tea tea tea biscuits.", "The tea."])
        lab = RankingLab(engine, "the tea", preset="decsr")
        assert [row[1][0] for row in rows(lab)] == ["Tea", "The"]
        assert [row[0] for row in rows(lab)] == [["1"], ["2"]]
        lab.knobs["alpha"].value = 0
        assert [row[1][0] for row in rows(lab)] == ["The", "Tea"]
        assert [row[0] for row in rows(lab)] == [["1", "▲1"], ["2", "▼1"]]


def test_knobs_that_the_method_does_not_read_cannot_be_turned(engine):
    lab = RankingLab(engine, "tea")
    assert lab.knobs["alpha"].disabled
    assert not lab.knobs["keyword_weight"].disabled
    lab.preset.value = "decsr"
    assert not lab.knobs["alpha"].disabled
    assert lab.knobs["keyword_weight"].disabled
    assert lab.knobs["k"].value == 8
    assert lab.ranking == RANKINGS["decsr"]


def test_what_is_found_is_explained_at_once_and_what_is_not_by_its_words(engine):
    lab = RankingLab(engine, "tea")
    assert "Found, rank 1" in lab.reason.value
    lab.expected.value = "kiln fires"
    assert lab.memory.value == chunk(engine, "kiln")
    assert "Not found" in lab.reason.value
    assert "No word of the query occurs in it" in lab.reason.value
    lab.knobs["k"].value = 1  # what was expected stays in view while knobs are turned
    assert lab.memory.value == chunk(engine, "kiln")
    lab.query.value = "kiln"
    assert "Found, rank 1" in lab.reason.value


def test_a_memory_below_k_is_told_its_rank(engine):
    lab = RankingLab(engine, "tea")
    *_, last = lab.comparison.ranks(YOURS)
    lab.knobs["k"].value = 1
    assert re.match(
        r"It ranks \d, and only the best one was asked for\. What speaks for it: its ",
        lab.explain(last).reason,
    )


def test_nothing_found_and_nothing_expected_is_no_error(engine):
    lab = RankingLab(engine, "")
    assert rows(lab) == []
    assert lab.reason.value == ""
    lab.expected.value = "   "
    assert lab.memory.value is None


def test_a_memory_that_fails_says_so_in_the_place_of_the_table(engine):
    lab = RankingLab(engine, "tea")
    engine.close()
    lab.knobs["k"].value = 2
    assert "The memory did not answer." in lab.table.value
    assert "was closed" in lab.table.value
    lab.expected.value = "rum"
    assert "was closed" in lab.reason.value


def test_the_lab_asks_as_its_actor(engine):
    engine.add_texts(["Tea with rum."], ids=["secret"], actor=Actor("ann"))
    assert "rum" in RankingLab(engine, "rum", actor=Actor("ann")).table.value
    other = RankingLab(engine, "rum", actor=Actor("bob"))
    other.expected.value = "rum"
    assert "rum" not in other.table.value + str(other.memory.options) + other.reason.value


def test_memories_are_escaped_wherever_they_stand(engine):
    lab = RankingLab(engine, "tea script alert")
    lab.memory.value = chunk(engine, "hostile")
    for part in (lab.table, lab.flow, lab.code, lab.reason):
        assert "<script" not in part.value
    assert "&lt;script&gt;" in lab.table.value
    lab.query.value = '"><script>alert(1)</script>'
    assert "<script" not in lab._repr_mimebundle_()["text/html"]


def test_a_page_without_widgets_shows_what_the_lab_shows_now(engine):
    lab = RankingLab(engine, "tea")
    shown = lab._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in shown
    for part in (lab.table, lab.flow, lab.reason):
        assert part.value in shown["text/html"]


def test_without_ipywidgets_the_error_names_the_extra(engine, monkeypatch):
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    with pytest.raises(MissingDependencyError, match=r"langchain-memengine\[notebooks\]"):
        RankingLab(engine, "tea")


def test_a_comparison_lists_yours_first_and_fades_the_rest(engine):
    one, two, three = engine.search("tea kiln", 3).hits
    found = {"yours": [two], "decsr": [one, two], "rrf": [three]}
    yours = RANKINGS["decsr"].model_copy(update={"name": "yours", "k": 1})
    comparison = compare(
        lambda ranking, _k: SearchResult(tuple(found.get(ranking.name, ()))), "decsr", yours
    )
    sheet = comparison_sheet(comparison)
    assert sheet.title == "Yours finds 1 of 3; arrows compare it with decsr"
    assert [[row[0], *row[2:]] for row in sheet.rows] == [
        ["1 ▲1", "–", "2", "–", "–", "–"],  # goclaw, decsr, profclaw, rrf, balanced
        ["– (was 1)", "–", "1", "–", "–", "–"],
        ["–", "–", "–", "–", "1", "–"],
    ]
    assert sheet.faded == {1, 2}


def test_the_flow_draws_a_line_for_each_chunk_and_breaks_it_where_it_is_missing():
    columns = {"a": {"x": 1, "y": 2}, "b": {"y": 1}, "c": {"y": 1, "x": 2}}
    picture = rank_flow(columns, {"x": "X <b>", "y": "Y"})
    lines = re.findall(r'<path d="([^"]*)"', picture)
    assert [line.count("M") for line in lines] == [0, 2]  # x has no neighbouring columns
    assert picture.count("<circle") == 5
    assert re.findall(r"<title>([^<]*)</title>", picture) == ["X &lt;b&gt;", "Y"]
    assert rank_flow({"a": {}}, {}).count("<circle") == 0


def test_ranks_can_be_read_in_their_dots_and_lines_are_seen_on_dark_pages():
    columns = {"a": {str(at): at + 1 for at in range(len(LINES))}}
    picture = rank_flow(columns, {key: key for key in columns["a"]})
    dots = re.findall(r'<circle [^>]*fill="(#\w{6})"', picture)
    assert dots == list(LINES)
    assert set(re.findall(r'fill="(#\w{3})">', picture)) == {"#fff"}  # the ranks in them
    assert [one for one in dots if contrast(one, WHITE) < READ] == []
    assert [one for one in dots if contrast(one, NIGHT) < SEEN] == []
