"""The arithmetic of the page on ranking is that of the engine."""

import re

import numpy as np
import pytest

from langchain_memengine.rankings import RANKINGS
from langchain_memengine.retrieval.fusion import Candidates, rank
from tests.doc_pages import read

CHANCE = 0.10


def table(heading: str) -> list[list[str]]:
    """Return the cells of the first table below a heading, its header first."""
    section = read("docs/ranking.md").split(f"## {heading}\n", 1)[1]
    lines = re.search(r"(?:^\|.*\n)+", section, re.MULTILINE)[0].splitlines()
    rows = [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in lines]
    return [rows[0], *rows[2:]]


def column(rows: list[list[str]], name: str) -> np.ndarray:
    place = rows[0].index(name)
    return np.asarray([0.0 if row[place] == "–" else float(row[place]) for row in rows[1:]])


def candidates() -> Candidates:
    rows = table("The example")
    return Candidates(
        nums=np.arange(3),
        keyword_rank=column(rows, "keyword rank").astype(np.int64),
        bm25=column(rows, "BM25"),
        vector_rank=column(rows, "vector rank").astype(np.int64),
        cosine=column(rows, "cosine"),
        age_days=column(rows, "age in days"),
        accesses=column(rows, "accesses").astype(np.int64),
    )


@pytest.mark.parametrize("preset", RANKINGS)
def test_scores_and_order_of_the_page_are_those_of_the_preset(preset):
    shown = {row[0]: row[table("The scores")[0].index(preset)] for row in table("The scores")[1:]}

    ranked = rank(candidates(), RANKINGS[preset], min_cosine=0.3, chance_cosine=CHANCE)

    found = {"ABC"[place]: f"{ranked.score[place]:.6f}" for place in ranked.order}
    assert found == {text: score for text, score in shown.items() if score != "–"}
    assert list(found) == sorted(found, key=found.get, reverse=True)


def test_order_that_the_page_states_is_that_of_its_scores():
    (stated,) = re.findall(r"stand as (.*?)\.\n", read("docs/ranking.md"), re.DOTALL)
    orders = [part.replace(" ", "") for part in re.split(r",\s+|\s+and\s+", stated)]
    rows = table("The scores")
    for preset, order in zip(rows[0][1:], orders, strict=True):
        place = rows[0].index(preset)
        scores = {row[0]: float(row[place]) for row in rows[1:] if row[place] != "–"}
        assert "".join(sorted(scores, key=scores.get, reverse=True)) == order
