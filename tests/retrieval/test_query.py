"""A query that means nothing is refused, and what of one is read."""

import numpy as np
import pytest

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.rankings import RANKINGS
from langchain_memengine.retrieval.query import Query, Stopwatch, Vantage
from tests.fakes.clock import START


def query(text="tea", **given):
    return Query(**{"text": text, "k": 3, "ranking": RANKINGS["balanced"], **given}, **PLACE)


PLACE = {"partitions": ("shared",), "now": START}


@pytest.mark.parametrize("name", ["k", "max_chars", "max_tokens", "graph_hops"])
def test_a_negative_number_is_named(name):
    with pytest.raises(ConfigurationError, match=f"{name}=-1 must be a whole number from 0 to "):
        query(**{name: -1})


@pytest.mark.parametrize(
    ("asked", "nothing"),
    [(query(), False), (query(k=0), True), (query(""), True), (query(" \n"), True)],
)
def test_no_hits_wanted_or_no_words_ask_for_nothing(asked, nothing):
    assert asked.asks_nothing is nothing


def test_the_end_of_a_long_query_is_read():
    asked = query("x" * 4_000 + "question")
    assert len(asked.tail) == 4_000
    assert asked.tail.endswith("xquestion")


def test_a_branch_is_one_of_a_thread():
    assert Vantage(thread_id="t", head="").head == ""
    with pytest.raises(ConfigurationError, match="head='a' is a branch of a thread"):
        Vantage(head="a")


def test_laps_of_one_stage_add_up_and_all_of_them_are_the_total():
    watch = Stopwatch()
    for stage in ("embed", "rows", "embed"):
        watch.lap(stage)
    assert list(watch.timings) == ["embed", "total", "rows"]
    assert np.isclose(watch.timings["total"], watch.timings["embed"] + watch.timings["rows"])
