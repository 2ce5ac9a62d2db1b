"""Ranks of one query under several rankings, side by side."""

import pytest

from langchain_memengine.answers import SearchResult
from langchain_memengine.faces.lab.comparing import YOURS, Comparison, comparison_sheet
from tests.fakes.engines import make_engine


@pytest.fixture(scope="module")
def hits():
    with make_engine() as engine:
        engine.add_texts([f"tea number{n}" for n in range(3)])
        return {hit.text[-1]: hit for hit in engine.search("tea").hits}


def compared(hits, before, now):
    def found(names):
        return SearchResult(tuple(hits[name] for name in names))

    return comparison_sheet(Comparison("rrf", {"rrf": found(before), YOURS: found(now)}))


def test_arrows_say_how_far_a_memory_moved(hits):
    sheet = compared(hits, "012", "210")
    assert [row[0] for row in sheet.rows] == ["1 ▲2", "2", "3 ▼2"]
    assert sheet.title == "Yours finds 3 of 3; arrows compare it with rrf"
    assert sheet.faded == frozenset()


def test_what_only_one_of_them_finds_is_new_or_was_there(hits):
    sheet = compared(hits, "01", "20")
    assert [row[0] for row in sheet.rows] == ["1 new", "2 ▼1", "– (was 2)"]
    assert [row[2] for row in sheet.rows] == ["–", "1", "2"]
    assert sheet.faded == {2}
