"""Our store against the contract of LangGraph's, and LangGraph's own in-memory one beside it."""

import asyncio
import time
from datetime import timedelta

import pytest
from langgraph.config import get_store
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.store.base import GetOp, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

from langchain_memengine.errors import ConfigurationError, ScopeError, StorageError
from langchain_memengine.faces.store import MemEngineStore, readable
from tests.faces.store_contract import StoreContract, clauses
from tests.fakes.clock import FixedClock
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine

# What LangGraph's own store does not do, though its interface says so or ours promises it.
DIFFERENCES = {
    "test_an_update_keeps_the_time_of_creation": "created_at is set anew by every put",
    "test_a_value_that_was_given_out_is_not_the_stored_one": "it gives out its own objects",
    "test_what_lacks_a_key_is_in_no_range": "comparing None raises TypeError",
    "test_pages_of_a_query_hold_everything_once": "each page has unscored items from the first on",
    "test_an_update_without_index_is_no_longer_ranked": "the old vector stays",
    "test_a_namespace_without_items_is_not_listed": "reading a namespace makes it",
}


class TestMemEngineStore(StoreContract):
    @pytest.fixture
    def clock(self):
        return FixedClock()

    @pytest.fixture(autouse=True)
    def _remember_clock(self, clock):
        self.clock = clock

    @pytest.fixture
    def made(self, clock):
        with make_engine(embeddings=FakeEmbeddings(256), clock=clock) as engine:
            yield lambda fields: MemEngineStore(engine, fields=fields)

    def wait(self):
        self.clock.pass_days(1)


class TestInMemoryStore(StoreContract):
    @pytest.fixture
    def made(self, request):
        name = request.node.originalname
        if name in DIFFERENCES:
            request.applymarker(pytest.mark.xfail(strict=True, reason=DIFFERENCES[name]))
        return lambda fields: InMemoryStore(
            index={"dims": 256, "embed": FakeEmbeddings(256), "fields": fields}
        )

    def wait(self):
        time.sleep(0.001)


def test_the_differences_are_about_tests_that_exist():
    assert DIFFERENCES.keys() <= clauses()


MINUTE = 1 / (24 * 60)


@pytest.fixture
def engine(clock):
    with make_engine(embeddings=FakeEmbeddings(), clock=clock) as engine:
        yield engine


@pytest.fixture
def store(engine):
    return MemEngineStore(engine, fields=["text"])


class TestTimeToLive:
    @pytest.fixture(autouse=True)
    def _item(self, store, clock):
        store.put(("a",), "k", {"text": "tea"}, ttl=10)
        clock.pass_days(6 * MINUTE)

    def seen(self, store):
        return [
            store.get(("a",), "k", refresh_ttl=False) is not None,
            bool(store.search(("a",), refresh_ttl=False)),
            bool(store.search(("a",), query="tea", refresh_ttl=False)),
            bool(store.search(("a",), filter={"text": "tea"}, refresh_ttl=False)),
            bool(store.list_namespaces()),
        ]

    def test_an_item_that_is_not_read_expires(self, store, clock):
        assert self.seen(store) == [True] * 5
        clock.pass_days(4 * MINUTE)
        assert self.seen(store) == [False] * 5

    @pytest.mark.parametrize(
        "read",
        [
            lambda store: store.get(("a",), "k"),
            lambda store: store.search(("a",)),
            lambda store: store.search(("a",), query="tea"),
            lambda store: store.put(("a",), "k", {"text": "tea"}, ttl=10),
            lambda store: asyncio.run(store.aget(("a",), "k")),
        ],
    )
    def test_reading_and_writing_start_its_time_anew(self, store, clock, read):
        read(store)
        clock.pass_days(9 * MINUTE)
        assert self.seen(store) == [True] * 5
        clock.pass_days(1 * MINUTE)
        assert self.seen(store) == [False] * 5

    def test_a_put_without_a_time_to_live_keeps_for_ever(self, store, clock):
        store.put(("a",), "k", {"text": "tea"})
        clock.pass_days(999)
        assert self.seen(store) == [True] * 5

    def test_the_defaults_of_the_store_apply(self, engine, clock):
        store = MemEngineStore(
            engine, fields=["text"], ttl={"default_ttl": 10, "refresh_on_read": False}
        )
        store.put(("a",), "k", {"text": "tea"})
        store.put(("a",), "kept", {"text": "tea"}, ttl=None)
        clock.pass_days(9 * MINUTE)
        assert store.get(("a",), "k") is not None
        assert store.search(("a",), query="tea")
        clock.pass_days(1 * MINUTE)
        assert store.get(("a",), "k") is None
        assert store.get(("a",), "kept") is not None

    def test_an_expired_item_is_new_when_it_is_put_again(self, store, clock):
        clock.pass_days(1)
        store.put(("a",), "k", {"text": "tea"})
        assert store.get(("a",), "k").created_at == clock.now

    def test_a_sweep_and_any_write_remove_what_expired(self, store, clock, engine):
        store.put(("a",), "second", {"text": "tea"}, ttl=1)
        clock.pass_days(1)
        assert engine.stats().chunks == 2
        store.put(("b",), "k", {"text": "coffee"})
        assert engine.stats().chunks == 1
        store.put(("b",), "k", {"text": "coffee"}, ttl=1)
        clock.pass_days(1)
        assert store.sweep_ttl() == 1
        assert store.sweep_ttl() == engine.stats().chunks == 0

    def test_a_time_to_live_that_means_nothing_is_refused(self, store):
        for ttl in (-1, float("nan"), 1e300):
            with pytest.raises(ConfigurationError, match="ttl"):
                store.put(("a",), "k", {}, ttl=ttl)

    def test_expired_items_take_nobody_s_place(self, store, clock):
        for i in range(40):
            store.put(("a",), f"gone{i}", {"text": "tea"}, ttl=20)
        store.put(("a",), "kept", {"text": "tea and a great deal more"})
        clock.pass_days(1)
        assert [item.key for item in store.search(("a",), query="tea", limit=1)] == ["kept"]


def test_items_belong_to_no_actor_and_no_search_of_the_engine_finds_them(store, engine):
    store.put(("local",), "k", {"text": "secret tea"})
    engine.add_texts(["public tea"])
    assert [hit.text for hit in engine.search("secret tea").hits] == ["public tea"]
    assert store.search((), query="public tea")[0].value == {"text": "secret tea"}
    with pytest.raises(ScopeError):
        engine.add_texts(["tea"], scope="store")


def test_a_batch_with_a_value_that_is_no_json_stores_nothing(store):
    with pytest.raises(ConfigurationError, match="'bad'"):
        store.batch([PutOp(("a",), "good", {}), PutOp(("a",), "bad", {"x": object()})])
    assert store.search(("a",)) == []


def test_negative_pages_are_refused(store):
    for options in ({"limit": -1}, {"offset": -1}):
        with pytest.raises(ConfigurationError):
            store.search(("a",), **options)
        with pytest.raises(ConfigurationError):
            store.list_namespaces(**options)


def test_a_long_item_is_found_by_its_last_word_and_comes_once(store):
    text = "\n\n".join(f"Paragraph {i} is about nothing in particular. " * 20 for i in range(30))
    store.put(("a",), "long", {"text": f"{text}\n\nThe password is swordfish."})
    for i in range(20):
        store.put(("a",), str(i), {"text": f"paragraph about nothing {i}"})
    found = store.search(("a",), query="swordfish", limit=21)
    assert found[0].key == "long"
    assert len({item.key for item in found}) == len(found) == 21


def test_an_item_of_many_pieces_does_not_crowd_the_others_out(store):
    store.put(("a",), "many", {"c": [f"tea {i}" for i in range(200)]}, index=["c[*]"])
    for i in range(5):
        store.put(("a",), str(i), {"text": f"tea among a good deal of other words, {i}"})
    found = store.search(("a",), query="tea", limit=4)
    assert found[0].key == "many"
    assert len({item.key for item in found}) == 4
    assert all(item.score is not None for item in found)


def test_without_an_embedder_words_decide_and_the_rest_follows_unscored():
    with make_engine() as engine:
        store = MemEngineStore(engine)
        store.put(("a",), "1", {"text": "coffee"})
        store.put(("a",), "2", {"text": "tea"})
        found = store.search(("a",), query="tea")
        assert [(item.key, item.score is None) for item in found] == [("2", False), ("1", True)]


def test_items_outlive_the_engine_and_can_be_read_only(tmp_path):
    with make_engine(tmp_path, embeddings=FakeEmbeddings()) as engine:
        MemEngineStore(engine).put(("a",), "k", {"text": "tea"}, ttl=5)
    with make_engine(tmp_path, embeddings=FakeEmbeddings(), read_only=True) as engine:
        store = MemEngineStore(engine)
        assert store.get(("a",), "k").value == {"text": "tea"}  # and its time is not written
        assert store.search(("a",), query="tea")[0].score is not None
        with pytest.raises(StorageError, match="read_only"):
            store.put(("a",), "k", {})


def test_two_engines_on_one_database_see_each_other(tmp_path):
    with (
        make_engine(tmp_path, embeddings=FakeEmbeddings()) as one,
        make_engine(tmp_path, embeddings=FakeEmbeddings()) as two,
    ):
        here, there = MemEngineStore(one), MemEngineStore(two)
        here.put(("a",), "k", {"text": "tea"})
        assert there.search(("a",), query="tea")[0].value == {"text": "tea"}
        there.delete(("a",), "k")
        assert here.search(("a",), query="tea") == []


def test_a_graph_reaches_its_store(store):
    def remember(state):
        get_store().put(("z",), "1", {"ok": True})
        return {}

    graph = StateGraph(MessagesState).add_node("remember", remember).add_edge(START, "remember")
    graph.compile(store=store).invoke({"messages": []})
    assert store.get(("z",), "1").value == {"ok": True}


def test_fields_must_be_a_list(engine):
    with pytest.raises(ConfigurationError, match=r"Pass \['text'\]"):
        MemEngineStore(engine, fields="text")


def test_an_unknown_operation_is_refused(store):
    with pytest.raises(ConfigurationError, match="str"):
        store.batch(["get"])


def test_many_threads_may_use_a_store(store):
    async def all_at_once():
        await asyncio.gather(*(store.aput(("a",), str(i), {"text": f"tea {i}"}) for i in range(20)))
        return await asyncio.gather(*(store.asearch(("a",), query=f"tea {i}") for i in range(20)))

    assert all(len(found) == 10 for found in asyncio.run(all_at_once()))


def test_reading_an_item_in_a_batch_refreshes_it_unless_told_not_to(store, clock):
    store.put(("a",), "k", {"text": "tea"}, ttl=10)
    clock.pass_days(6 * MINUTE)
    store.batch([GetOp(("a",), "k", refresh_ttl=False), SearchOp(("a",), refresh_ttl=False)])
    clock.pass_days(3 * MINUTE)
    store.batch([GetOp(("a",), "k")])
    clock.pass_days(9 * MINUTE)
    assert store.get(("a",), "k") is not None


def test_a_value_is_read_as_lines():
    value = {"a": {"b": ["x", {"c": 1}], "d": None}, "e": True, "f": "two\nlines"}
    assert readable(value) == "a.b: x\na.b.c: 1\ne: True\nf: two\nlines"
    assert readable({}) == readable({"a": [], "b": {}}) == ""


def test_times_come_from_the_engine_s_clock(store, clock):
    store.put(("a",), "k", {})
    clock.now += timedelta(minutes=1)
    store.put(("a",), "k", {})
    item = store.get(("a",), "k")
    assert item.updated_at - item.created_at == timedelta(minutes=1)
