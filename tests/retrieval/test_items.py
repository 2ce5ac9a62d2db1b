"""Items of a store as the engine keeps and finds them."""

from datetime import timedelta

from langchain_memengine.retrieval.item_search import Wanted
from langchain_memengine.retrieval.items import NewItem
from tests.fakes.clock import FixedClock
from tests.fakes.engines import make_engine


def test_an_item_that_was_read_is_searched_as_long_as_it_is_kept():
    clock = FixedClock()
    engine = make_engine(clock=clock)
    place, minutes = (("a",), "k"), timedelta(minutes=1)
    engine.items.put([NewItem(*place, {"text": "tea"}, ["tea"], ttl=10 * minutes)])

    def score():
        ((_, found),) = engine.items.search(Wanted(("a",), "tea"))
        return found

    first = score()
    clock.now += 8 * minutes
    engine.items.refresh([item for item in engine.items.get([place]) if item])
    clock.now += 9 * minutes
    assert score() == first is not None
    clock.now += minutes
    assert engine.items.search(Wanted(("a",), "tea")) == []
    engine.close()


def test_an_item_is_found_by_what_looks_like_front_matter():
    with make_engine() as engine:
        text = "---\nwifi: hunter2\n---"
        engine.items.put([NewItem(("a",), "k", {"text": text}, [text])])
        ((_, score),) = engine.items.search(Wanted(("a",), "hunter2"))
        assert score is not None
