"""Searches go before indexing, and words that are known are not split again."""

import threading

import pytest

from langchain_memengine.retrieval import traffic
from langchain_memengine.retrieval.traffic import ReadyWords, Traffic


def test_words_that_are_known_are_not_split():
    split = []

    def splitter(text):
        split.append(text)
        return text.split()

    words = ReadyWords(splitter)
    words.expect({"green tea": "green tea-like"})
    assert words("green tea") == ["green", "tea-like"]
    assert (words("milk"), split) == (["milk"], ["milk"])
    words.expect({})
    assert (words("green tea"), split) == (["green", "tea"], ["milk", "green tea"])


def test_a_known_text_without_words_has_none():
    words = ReadyWords(str.split)
    words.expect({"the": ""})
    assert words("the") == []


def test_indexing_waits_for_the_search_under_way(monkeypatch):
    monkeypatch.setattr(traffic, "LONGEST_WAIT_SECONDS", 60.0)
    between = Traffic(str.split)
    order = []
    began, may_end = threading.Event(), threading.Event()

    def search():
        with between.searching():
            began.set()
            assert may_end.wait(60)
            order.append("search")

    def index():
        between.give_way()
        order.append("step")

    threads = [threading.Thread(target=search), threading.Thread(target=index)]
    threads[0].start()
    assert began.wait(60)
    threads[1].start()
    may_end.set()
    for thread in threads:
        thread.join()
    assert order == ["search", "step"]
    assert between.searches == 1


def test_indexing_does_not_wait_for_ever(monkeypatch):
    monkeypatch.setattr(traffic, "LONGEST_WAIT_SECONDS", 0.0)
    between = Traffic(str.split)
    with between.searching():
        between.give_way()


def test_a_search_that_fails_is_over():
    between = Traffic(str.split)
    with pytest.raises(ZeroDivisionError), between.searching():
        1 / 0  # noqa: B018  # it is there to fail
    assert between._under_way == 0
