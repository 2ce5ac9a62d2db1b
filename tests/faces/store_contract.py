"""What the documentation of langgraph's ``BaseStore`` promises, clause by clause.

A test module inherits the class under a name that starts with ``Test`` and overrides ``made``,
which makes an empty store that searches the given fields by meaning.
"""

import inspect
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import chain

import pytest
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)

ODD = ("a.b", "naïve 猫", 'quo"te', "per%cent_", "*", "a/b\\c", "nul\0", "lone \ud800", "A.B", "")


def keys(items):
    return [item.key for item in items]


class StoreContract:
    """Every promise of the interface; ``store`` searches the field ``text``."""

    @pytest.fixture
    def made(self) -> Callable[..., BaseStore]:
        raise NotImplementedError

    @pytest.fixture
    def store(self, made):
        return made(fields=["text"])

    # -- get, put, delete

    def test_an_item_comes_back_with_namespace_key_value_and_times(self, store):
        value = {"s": "x", "n": 1, "f": 1.5, "b": True, "none": None, "deep": {"list": [1, {}]}}
        assert store.put(("users", "1"), "k", value) is None
        item = store.get(("users", "1"), "k")
        assert (item.namespace, item.key, item.value) == (("users", "1"), "k", value)
        assert item.created_at == item.updated_at or item.created_at < item.updated_at
        assert item.created_at.tzinfo == item.updated_at.tzinfo == UTC
        assert isinstance(item.created_at, datetime)

    def test_what_is_not_there_is_none(self, store):
        store.put(("a",), "k", {})
        assert store.get(("a",), "other") is None
        assert store.get(("b",), "k") is None
        assert store.get(("a", "b"), "k") is None
        assert store.get((), "k") is None

    def test_keys_are_unique_within_their_namespace_only(self, store):
        store.put(("a",), "k", {"n": 1})
        store.put(("b",), "k", {"n": 2})
        store.put(("a", "b"), "k", {"n": 3})
        assert store.get(("a",), "k").value == {"n": 1}
        assert store.get(("b",), "k").value == {"n": 2}
        assert store.get(("a", "b"), "k").value == {"n": 3}

    def test_a_key_that_is_no_text_is_taken_as_text(self, store):
        store.put(("a",), 7, {"n": 1})
        assert store.get(("a",), "7").key == "7"
        assert store.get(("a",), 7).value == {"n": 1}

    def test_a_second_put_replaces_the_whole_value(self, store):
        store.put(("a",), "k", {"n": 1, "old": True})
        store.put(("a",), "k", {"n": 2})
        assert store.get(("a",), "k").value == {"n": 2}
        assert keys(store.search(("a",))) == ["k"]

    def test_an_update_keeps_the_time_of_creation(self, store):
        store.put(("a",), "k", {"n": 1})
        created = store.get(("a",), "k").created_at
        self.wait()
        store.put(("a",), "k", {"n": 2})
        item = store.get(("a",), "k")
        assert item.created_at == created < item.updated_at

    def wait(self) -> None:
        """Let the store's clock move on."""
        raise NotImplementedError

    def test_a_deleted_item_is_gone_and_deleting_it_again_is_fine(self, store):
        store.put(("a",), "k", {"text": "tea"})
        store.put(("a",), "other", {"text": "tea"})
        assert store.delete(("a",), "k") is None
        store.delete(("a",), "k")
        assert store.get(("a",), "k") is None
        assert keys(store.search(("a",))) == ["other"]
        assert keys(store.search(("a",), query="tea")) == ["other"]

    def test_a_value_that_was_given_out_is_not_the_stored_one(self, store):
        given = {"list": [1]}
        store.put(("a",), "k", given)
        given["list"].append(2)
        store.get(("a",), "k").value["list"].append(3)
        assert store.get(("a",), "k").value == {"list": [1]}

    @pytest.mark.parametrize("namespace", [(), ("a.b",), ("",), ("a", ""), ("langgraph",), (1,)])
    def test_put_refuses_an_invalid_namespace(self, store, namespace):
        with pytest.raises(InvalidNamespaceError):
            store.put(namespace, "k", {})

    @pytest.mark.parametrize("namespace", [("a.b",), ("",), (1,)])
    def test_reading_refuses_invalid_labels(self, store, namespace):
        for call in (
            lambda: store.get(namespace, "k"),
            lambda: store.search(namespace),
            lambda: store.delete(namespace, "k"),
            lambda: store.list_namespaces(prefix=namespace),
            lambda: store.list_namespaces(suffix=namespace),
        ):
            with pytest.raises(InvalidNamespaceError):
                call()

    def test_batches_take_labels_and_keys_of_any_characters_apart(self, store):
        store.batch(
            [PutOp((label, other), label, {"n": [i, j]})
             for i, label in enumerate(ODD) for j, other in enumerate(ODD)]
        )  # fmt: skip
        for i, label in enumerate(ODD):
            (found,) = store.batch([SearchOp((label,), limit=100)])
            assert sorted(item.value["n"] for item in found) == [[i, j] for j in range(len(ODD))]
            for j, other in enumerate(ODD):
                (item,) = store.batch([GetOp((label, other), label)])
                assert item.value == {"n": [i, j]}
                assert (item.namespace, item.key) == ((label, other), label)
        listed = store.list_namespaces(limit=1000)
        assert listed == sorted((label, other) for label in ODD for other in ODD)

    # -- batch

    def test_results_come_in_the_order_of_the_operations(self, store):
        store.put(("a",), "k", {"n": 1})
        got, listed, put, found, missing = store.batch(
            [
                GetOp(("a",), "k"),
                ListNamespacesOp(),
                PutOp(("b",), "k", {}),
                SearchOp(("a",)),
                GetOp(("c",), "k"),
            ]
        )
        assert got.value == {"n": 1}
        assert listed == [("a",)]
        assert (put, missing) == (None, None)
        assert keys(found) == ["k"]

    def test_a_batch_reads_before_it_writes(self, store):
        put, got = store.batch([PutOp(("a",), "k", {"n": 1}), GetOp(("a",), "k")])
        assert (put, got) == (None, None)
        assert store.get(("a",), "k").value == {"n": 1}

    def test_the_last_of_two_puts_in_one_batch_counts(self, store):
        store.batch([PutOp(("a",), "k", {"n": 1}), PutOp(("a",), "k", {"n": 2})])
        assert store.get(("a",), "k").value == {"n": 2}
        store.batch([PutOp(("a",), "k", {"n": 3}), PutOp(("a",), "k", None)])
        assert store.get(("a",), "k") is None

    def test_an_empty_batch_does_nothing_and_operations_may_come_from_a_generator(self, store):
        assert store.batch([]) == []
        assert store.batch(PutOp(("a",), str(i), {}) for i in range(3)) == [None] * 3
        assert len(store.search(("a",))) == 3

    async def test_the_async_methods_do_the_same(self, store):
        await store.aput(("a",), "k", {"text": "tea"})
        await store.aput(("b",), "k", {"text": "coffee"}, index=False)
        assert await store.aget(("a",), "k") == store.get(("a",), "k")
        found = await store.asearch((), query="tea", filter={"text": {"$ne": "x"}})
        assert found == store.search((), query="tea", filter={"text": {"$ne": "x"}})
        assert keys(found) == ["k", "k"]
        assert await store.alist_namespaces(suffix=("b",)) == [("b",)]
        await store.adelete(("a",), "k")
        put, got = await store.abatch([PutOp(("a",), "k", {}), GetOp(("a",), "k")])
        assert (put, got) == (None, None)
        with pytest.raises(InvalidNamespaceError):
            await store.aput((), "k", {})

    # -- search without a query

    def test_search_returns_what_is_in_and_under_a_namespace(self, store):
        for namespace in [("a",), ("a", "b"), ("a", "b", "c"), ("ab",), ("b", "a")]:
            store.put(namespace, "/".join(namespace), {"text": "tea"})
        assert sorted(keys(store.search(("a",)))) == ["a", "a/b", "a/b/c"]
        assert sorted(keys(store.search(("a", "b")))) == ["a/b", "a/b/c"]
        assert len(store.search(())) == 5
        assert store.search(("c",)) == []
        assert sorted(keys(store.search(("a",), query="tea"))) == ["a", "a/b", "a/b/c"]
        assert sorted(keys(store.search(("a", "b"), query="tea"))) == ["a/b", "a/b/c"]
        assert len(store.search((), query="tea")) == 5
        assert store.search(("c",), query="tea") == []

    def test_a_search_prefix_is_literal(self, store):
        store.put(("a", "b"), "k", {"text": "tea"})
        assert store.search(("*",)) == store.search(("a", "*")) == []
        assert store.search(("*",), query="tea") == []

    def test_limit_and_offset_page_through_everything_once(self, store):
        for i in range(25):
            store.put(("a",), str(i), {"text": "tea"})
        assert len(store.search(("a",))) == 10  # the default
        pages = [keys(store.search(("a",), limit=10, offset=offset)) for offset in (0, 10, 20)]
        assert [len(page) for page in pages] == [10, 10, 5]
        assert sorted(chain(*pages), key=int) == [str(i) for i in range(25)]
        assert store.search(("a",), limit=0) == store.search(("a",), offset=25) == []

    # -- filters

    @pytest.fixture
    def filtered(self, store):
        store.put(("a",), "1", {"text": "red tea", "n": 1, "color": "red", "tags": ["x", "y"]})
        store.put(("a",), "2", {"text": "red tea", "n": 2.5, "color": "blue", "on": True})
        store.put(
            ("a",), "3", {"text": "red tea", "n": 3, "color": "red", "deep": {"x": 1, "y": 2}}
        )
        return lambda wanted, **options: sorted(
            keys(store.search(("a",), filter=wanted, **options))
        )

    @pytest.mark.parametrize(
        ("wanted", "found"),
        [
            ({}, "123"),
            (None, "123"),
            ({"color": "red"}, "13"),
            ({"color": "red", "n": 3}, "3"),
            ({"color": {"$eq": "red"}}, "13"),
            ({"color": {"$ne": "red"}}, "2"),
            ({"n": {"$gt": 2.5}}, "3"),
            ({"n": {"$gte": 2.5}}, "23"),
            ({"n": {"$lt": 2.5}}, "1"),
            ({"n": {"$lte": 2.5}}, "12"),
            ({"n": {"$gt": 1, "$lt": 3}}, "2"),
            ({"n": {"$gte": 3.0}, "color": "red"}, "3"),
            ({"tags": ["x", "y"]}, "1"),
            ({"tags": "x"}, ""),
            ({"on": True}, "2"),
            ({"deep": {"x": 1}}, "3"),
            ({"deep": {"x": 2}}, ""),
            ({"missing": 1}, ""),
            ({"missing": None}, "123"),
            ({"on": {"$ne": True}}, "13"),
        ],
    )  # fmt: skip
    def test_filters(self, filtered, wanted, found):
        assert "".join(filtered(wanted)) == found
        assert "".join(filtered(wanted, query="tea")) == found

    @pytest.mark.parametrize("operator", ["$gt", "$gte", "$lt", "$lte"])
    def test_what_lacks_a_key_is_in_no_range(self, store, operator):
        store.put(("a",), "1", {"text": "tea", "n": 1})
        store.put(("a",), "2", {"text": "tea"})
        store.put(("a",), "3", {"text": "tea", "n": "many"})
        limit = 0 if operator.startswith("$g") else 2
        assert keys(store.search(("a",), filter={"n": {operator: limit}})) == ["1"]
        assert keys(store.search(("a",), filter={"n": {operator: limit}}, query="tea")) == ["1"]

    def test_an_unknown_operator_is_refused(self, store):
        store.put(("a",), "1", {"n": 1})
        with pytest.raises(ValueError, match="regex"):
            store.search(("a",), filter={"n": {"$regex": "x"}})

    def test_a_filter_applies_before_the_limit(self, store):
        for i in range(30):
            store.put(("a",), str(i), {"text": "tea " * (30 - i), "even": i % 2 == 0})
        found = store.search(("a",), filter={"even": False}, query="tea", limit=12)
        assert len(found) == 12
        assert not any(item.value["even"] for item in found)
        found = store.search(("a",), filter={"even": False}, limit=12, offset=10)
        assert len(found) == 5

    # -- search with a query

    def test_the_item_that_is_meant_comes_first_with_the_highest_score(self, store):
        store.put(("a",), "tea", {"text": "green tea with milk"})
        store.put(("a",), "coffee", {"text": "black coffee and sugar"})
        store.put(("a",), "train", {"text": "the train leaves at noon"})
        found = store.search(("a",), query="tea with milk")
        assert found[0].key == "tea"
        scores = [item.score for item in found]
        assert scores == sorted(scores, reverse=True)
        assert all(isinstance(score, float) for score in scores)
        assert sorted(keys(found)) == ["coffee", "tea", "train"]  # a query orders, never drops
        assert store.search(("a",))[0].score is None

    def test_only_the_named_fields_are_searched(self, store):
        store.put(("a",), "1", {"text": "coffee", "note": "tea"})
        store.put(("a",), "2", {"text": "tea", "note": "coffee"})
        assert store.search(("a",), query="tea")[0].key == "2"

    def test_by_default_the_whole_value_is_searched(self, made):
        store = made(fields=None)
        store.put(("a",), "1", {"one": {"deep": ["coffee"]}})
        store.put(("a",), "2", {"two": [{"deep": "tea"}]})
        assert store.search(("a",), query="tea")[0].key == "2"

    @pytest.mark.parametrize(
        ("paths", "words"),
        [
            (["title"], {"kiln"}),
            (["meta.title"], {"oven"}),
            (["parts[0].text"], {"first"}),
            (["parts[-1].text"], {"last"}),
            (["parts[*].text"], {"first", "last"}),
            (["tags[*]"], {"red", "blue"}),
            (["meta.title", "title"], {"oven", "kiln"}),
            (["missing", "title"], {"kiln"}),
            (["$"], {"kiln", "oven", "first", "last", "red", "blue"}),
        ],
    )  # fmt: skip
    def test_index_says_which_fields_of_one_item_are_searched(self, store, paths, words):
        value = {
            "title": "kiln",
            "meta": {"title": "oven"},
            "parts": [{"text": "first"}, {"text": "last"}],
            "tags": ["red", "blue"],
        }
        store.put(("a",), "it", value, index=paths)
        # As near to every word as one of two: an item that has the word alone comes before it.
        for word in ("kiln", "oven", "first", "last", "red", "blue"):
            store.put(("a",), "decoy", {"text": f"{word} decoy"})
            first = store.search(("a",), query=word)[0].key
            alone = word in words and paths != ["$"]
            assert first == ("it" if alone else "decoy"), word

    def test_an_item_with_several_texts_comes_once(self, store):
        store.put(("a",), "it", {"c": ["tea one", "tea two", "tea three"]}, index=["c[*]"])
        store.put(("a",), "other", {"text": "tea four"})
        assert sorted(keys(store.search(("a",), query="tea"))) == ["it", "other"]
        assert len(store.search(("a",), query="tea", limit=1)) == 1

    def test_what_is_not_indexed_comes_last_without_a_score(self, store):
        store.put(("a",), "hidden", {"text": "tea"}, index=False)
        store.put(("a",), "far", {"text": "the train leaves at noon"})
        store.put(("a",), "near", {"text": "tea"})
        found = store.search(("a",), query="tea")
        assert keys(found) == ["near", "far", "hidden"]
        assert found[-1].score is None
        assert store.get(("a",), "hidden").value == {"text": "tea"}
        assert "hidden" in keys(store.search(("a",)))

    def test_pages_of_a_query_hold_everything_once(self, store):
        for i in range(6):
            store.put(("a",), f"seen{i}", {"text": "tea " + "leaf " * i})
            store.put(("a",), f"hidden{i}", {"text": "tea"}, index=False)
        whole = keys(store.search(("a",), query="tea", limit=20))
        pages = [keys(store.search(("a",), query="tea", limit=5, offset=o)) for o in (0, 5, 10)]
        assert list(chain(*pages)) == whole
        assert len(set(whole)) == 12

    def test_an_update_is_found_by_its_new_words_only(self, store):
        store.put(("a",), "it", {"text": "tea"})
        store.put(("a",), "it", {"text": "coffee"})
        store.put(("a",), "decoy", {"text": "tea with milk"})
        assert store.search(("a",), query="tea")[0].key == "decoy"
        assert store.search(("a",), query="coffee")[0].key == "it"

    def test_an_update_without_index_is_no_longer_ranked(self, store):
        store.put(("a",), "it", {"text": "tea"})
        store.put(("a",), "it", {"text": "tea"}, index=False)
        assert store.search(("a",), query="tea")[0].score is None

    def test_an_empty_query_is_none(self, store):
        store.put(("a",), "1", {"text": "tea"})
        assert store.search(("a",), query="")[0].score is None

    # -- namespaces

    @pytest.fixture
    def listed(self, store):
        for namespace in [
            ("a", "b", "c"),
            ("a", "b", "d", "e"),
            ("a", "b", "d", "i"),
            ("a", "b", "f"),
            ("a", "c", "f"),
            ("b",),
        ]:
            store.put(namespace, "k", {})
        return store.list_namespaces

    def test_namespaces_are_listed_sorted(self, listed):
        assert listed() == [
            ("a", "b", "c"),
            ("a", "b", "d", "e"),
            ("a", "b", "d", "i"),
            ("a", "b", "f"),
            ("a", "c", "f"),
            ("b",),
        ]

    def test_the_example_of_the_documentation(self, listed):
        assert listed(prefix=("a", "b"), max_depth=3) == [
            ("a", "b", "c"),
            ("a", "b", "d"),
            ("a", "b", "f"),
        ]

    @pytest.mark.parametrize(
        ("options", "count"),
        [
            ({"prefix": ("a",)}, 5),
            ({"prefix": ("a", "*", "f")}, 2),
            ({"prefix": ("*", "b")}, 4),
            ({"prefix": ("a", "b", "c", "x")}, 0),
            ({"suffix": ("f",)}, 2),
            ({"suffix": ("*", "f")}, 2),
            ({"suffix": ("d", "*")}, 2),
            ({"prefix": ("a", "b"), "suffix": ("f",)}, 1),
            ({"suffix": ("z",)}, 0),
            ({"max_depth": 1}, 2),
            ({"max_depth": 2}, 3),
            ({"limit": 4}, 4),
            ({"limit": 4, "offset": 4}, 2),
        ],
    )  # fmt: skip
    def test_conditions_wildcards_depth_and_pages(self, listed, options, count):
        assert len(listed(**options)) == count

    def test_several_conditions_of_one_kind_must_all_hold(self, store, listed):
        conditions = (
            MatchCondition("prefix", ("a",)),
            MatchCondition("prefix", ("*", "b")),
            MatchCondition("suffix", ("f",)),
        )
        assert store.batch([ListNamespacesOp(match_conditions=conditions)]) == [[("a", "b", "f")]]

    def test_a_namespace_without_items_is_not_listed(self, store):
        store.put(("a",), "k", {})
        store.put(("b",), "k", {})
        store.delete(("a",), "k")
        store.get(("c",), "k")
        assert store.list_namespaces() == [("b",)]


def clauses() -> set[str]:
    """Return the names of the contract's tests."""
    return {name for name, _ in inspect.getmembers(StoreContract) if name.startswith("test_")}
