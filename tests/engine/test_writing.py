"""Texts that an application adds and deletes."""

import json
import math
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document

from langchain_memengine.errors import ConfigurationError, ScopeError
from langchain_memengine.types import Actor, Filter
from tests.fakes.clock import START
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine, texts

ALICE, BOB = Actor("alice"), Actor("bob")


# Ids


def test_ids_are_made_where_none_are_given(engine):
    first, second, third = engine.add_texts(["tea", "tea", "tea"], ids=["a", None, None])
    assert first == "a"
    assert len({first, second, third}) == 3
    assert len(engine.search("tea").hits) == 3


def test_same_id_again_replaces_the_text(engine):
    engine.add_texts(["tea", "coffee"], ids=["a", "b"])
    engine.add_texts(["water"], ids=["a"])
    assert texts(engine.search("tea coffee water", 9)) in (["coffee", "water"], ["water", "coffee"])


def test_same_id_twice_in_one_call_means_the_last(engine):
    assert engine.add_texts(["tea", "water", "milk"], ids=["a", "b", "a"]) == ["a", "b", "a"]
    assert sorted(texts(engine.search("tea water milk"))) == ["milk", "water"]


def test_blank_text_replaces_a_text_by_nothing(engine):
    engine.add_texts(["tea"], ids=["a"])
    engine.add_texts(["  \n"], ids=["a"])
    assert engine.search("tea").hits == ()
    assert engine.stats().chunks == 0


@pytest.mark.parametrize("odd", ["a/b", "ä ö", "%2F", "a\0b", "\ud800", "..", "x" * 500])
def test_any_id_can_be_replaced_and_deleted(engine, odd):
    (stored,) = engine.add_texts(["tea"], ids=[odd])
    assert engine.add_texts(["green tea"], ids=[stored]) == [stored]
    assert texts(engine.search("tea")) == ["green tea"]
    assert engine.delete([odd]) == 1
    assert engine.search("tea").hits == ()


def test_adding_nothing_does_nothing(engine):
    before = engine.stats()
    assert engine.add_texts([]) == []
    assert engine.add_documents([]) == []
    assert engine.delete([]) == 0
    assert engine.stats() == before


def test_lists_of_different_length_are_named(engine):
    with pytest.raises(ConfigurationError, match="2 texts came with 1 metadatas"):
        engine.add_texts(["a", "b"], [{}])
    with pytest.raises(ConfigurationError, match="1 texts came with 2 ids"):
        engine.add_texts(["a"], ids=["1", "2"])
    assert engine.stats().chunks == 0


def test_single_text_in_place_of_a_list_is_named(engine):
    engine.add_texts(["tea"], ids=["t"])
    with pytest.raises(ConfigurationError, match=r"texts is a single text. Pass a list: \[text\]"):
        engine.add_texts("tea")
    with pytest.raises(ConfigurationError, match="ids is a single text"):
        engine.delete("t")
    assert engine.stats().chunks == 1


def test_documents_keep_their_id_and_metadata(engine):
    document = Document(id="d1", page_content="tea", metadata={"cat": "drink"})
    assert engine.add_documents([document]) == ["d1"]
    assert engine.add_documents([document], ids=["d2"]) == ["d2"]
    assert [hit.metadata for hit in engine.search("tea").hits] == [{"cat": "drink"}] * 2


def test_6000_texts_in_one_call(engine):
    seen: list[tuple[int, int]] = []
    ids = engine.add_texts(
        [f"tea number{i}" for i in range(6000)],
        progress=lambda done, total: seen.append((done, total)),
    )
    assert len(set(ids)) == 6000
    assert engine.stats().chunks == 6000
    assert texts(engine.search("number5999")) == ["tea number5999"]
    assert seen[-1] == (6000, 6000)


def test_long_text_becomes_chunks_of_one_source(engine):
    engine.add_texts(["\n\n".join(f"paragraph{i} " + "word " * 200 for i in range(6))], ids=["a"])
    assert engine.stats().chunks > 3
    assert engine.search("paragraph5").hits[0].source == "doc:/a"
    assert engine.delete(["a"]) == 1
    assert engine.stats().chunks == 0


def test_a_text_is_found_by_what_looks_like_front_matter(engine):
    engine.add_texts(["---\nwifi: hunter2\n---\nThe rest."], ids=["a"])
    assert engine.search("hunter2").hits[0].source == "doc:/a"


# Metadata


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ({}, {}),
        (None, {}),
        ({"a": []}, {"a": []}),
        ({"a": {}}, {"a": {}}),
        ({"a": None}, {"a": None}),
        ({"a": datetime(2026, 1, 2, 3, tzinfo=timezone(timedelta(hours=1)))},
         {"a": "2026-01-02T02:00:00+00:00"}),
        ({"a": START.replace(tzinfo=None)}, {"a": "2026-05-19T12:00:00+00:00"}),
        ({"a": date(2026, 1, 2)}, {"a": "2026-01-02"}),
        ({"a": math.nan, "b": math.inf}, {"a": None, "b": None}),
        ({"a": [1, "x", None, {"b": 2.5}]}, {"a": [1, "x", None, {"b": 2.5}]}),
        ({"a": (1, 2), "b": {3}}, {"a": [1, 2], "b": [3]}),
        ({1: True, "\ud800": "\0x"}, {"1": True, "\ufffd": "x"}),
        ({"a": 2**70}, {"a": 2**70}),
        ({"имя": "Ö"}, {"имя": "Ö"}),
    ],
)  # fmt: skip
def test_metadata_comes_back(engine, given, stored):
    engine.add_texts(["tea"], [given])
    assert engine.search("tea").hits[0].metadata == stored


def cyclic():
    value: dict = {}
    value["self"] = value
    return value


@pytest.mark.parametrize(
    "bad",
    [{"a": object()}, {"a": b"x"}, {"a": 1 << 20_000}, {"a": cyclic()}, {"a": [{"b": {1j}}]}],
    ids=["object", "bytes", "huge", "cyclic", "nested"],
)
def test_metadata_that_cannot_be_stored_is_named_and_nothing_is_stored(engine, bad):
    with pytest.raises(ConfigurationError, match="metadata"):
        engine.add_texts(["tea", "coffee"], [{}, bad])
    assert engine.stats().chunks == 0


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**64), 2**64) | st.floats(allow_nan=False,
    allow_infinity=False) | st.text(st.characters(exclude_characters="\0", codec="utf-8")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(
    exclude_characters="\0", codec="utf-8"), max_size=5), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


def test_any_json_metadata_comes_back_as_it_was(engine):
    @given(st.dictionaries(st.text(st.characters(exclude_characters="\0", codec="utf-8")), JSON))
    def comes_back(metadata):
        engine.add_texts(["tea"], [metadata], ids=["a"])
        found = engine.search("tea").hits[0].metadata
        assert json.dumps(found, sort_keys=True) == json.dumps(metadata, sort_keys=True)

    comes_back()


@pytest.mark.parametrize(
    ("metadata", "age_days"),
    [
        ({}, 0.0),
        ({"event_at": START - timedelta(days=2)}, 2.0),
        ({"timestamp": "2026-05-18T12:00:00+00:00"}, 1.0),
        ({"date": "2026-05-18"}, 1.5),
        ({"date": "some day"}, 0.0),
        ({"date": "some day", "event_at": None, "created_at": "2026-05-18T14:00:00+02:00"}, 1.0),
        ({"date": "0001-01-01T00:00:00+05:00"}, 0.0),
        ({"date": "2030-01-01"}, 0.0),
    ],
)
def test_age_counts_from_the_metadatas_date(engine, metadata, age_days):
    engine.add_texts(["tea"], [metadata])
    assert engine.search("tea").hits[0].receipt.age_days == pytest.approx(age_days)


# Scopes


def test_same_text_of_two_users_is_kept_for_both(engine):
    engine.add_texts(["tea"], [{"by": "alice"}], actor=ALICE)
    engine.add_texts(["tea"], [{"by": "bob"}], actor=BOB)
    assert [hit.metadata["by"] for hit in engine.search("tea", actor=ALICE).hits] == ["alice"]
    assert [hit.metadata["by"] for hit in engine.search("tea", actor=BOB).hits] == ["bob"]
    assert engine.stats().chunks == 2


def test_same_id_of_two_users_names_two_texts(engine):
    engine.add_texts(["tea of alice"], ids=["1"], actor=ALICE)
    engine.add_texts(["tea of bob"], ids=["1"], actor=BOB)
    engine.add_texts(["tea of all"], ids=["1"])
    assert sorted(texts(engine.search("tea", actor=ALICE))) == ["tea of alice", "tea of all"]
    assert engine.delete(["1"], actor=BOB) == 1
    assert texts(engine.search("tea", actor=BOB)) == ["tea of all"]
    assert sorted(texts(engine.search("tea", actor=ALICE))) == ["tea of alice", "tea of all"]


def test_only_admins_write_for_everyone(engine):
    with pytest.raises(ScopeError, match=r"alice.*global"):
        engine.add_texts(["tea"], scope="global", actor=ALICE)
    with pytest.raises(ScopeError, match="Only the engine"):
        engine.add_texts(["tea"], scope="agent_notes")
    engine.add_texts(["tea"], ids=["a"])
    with pytest.raises(ScopeError):
        engine.delete(["a"], actor=ALICE)
    assert texts(engine.search("tea")) == ["tea"]
    assert engine.delete(["a", "a", "unknown"]) == 1


def test_agent_configuration_is_for_admins_only(engine):
    engine.add_texts(["secret rule"], scope="agent_config")
    assert texts(engine.search("rule")) == ["secret rule"]
    assert engine.search("rule", actor=ALICE).hits == ()


def test_deleting_what_another_user_owns_deletes_nothing(engine):
    engine.add_texts(["tea"], ids=["a"], actor=ALICE)
    assert engine.delete(["a"], actor=BOB) == 0
    assert len(engine.search("tea", actor=ALICE).hits) == 1


# Embeddings


def test_equal_texts_are_embedded_once():
    embeddings = FakeEmbeddings()
    with make_engine(embeddings=embeddings) as engine:
        engine.add_texts(["tea", "tea", "coffee"])
        engine.add_texts(["tea"])
        assert sorted(embeddings.texts[1:]) == ["coffee", "tea"]  # behind the probe
        assert engine.stats().embeddings == 4


def test_embedder_that_is_down_costs_no_text():
    embeddings = FakeEmbeddings(fail_with=[ConnectionError()] * 2)
    with make_engine(embeddings=embeddings) as engine:
        engine.add_texts(["tea"])
        assert texts(engine.search("tea")) == ["tea"]
        assert engine.sync().pending == 0
        assert engine.search("tea").hits[0].cosine == pytest.approx(1.0)


def test_a_text_that_waits_for_its_vector_gets_it_with_the_same_text_of_another(tmp_path):
    down = ConnectionError("nobody answers")
    # The probe sentence, "rain", the first query; then nobody answers.
    embedder = FakeEmbeddings(fail_with=[None, None, None, down])
    with make_engine(tmp_path, embeddings=embedder, sync_on_search=False) as engine:
        engine.add_texts(["rain"])
        engine.search("rain")
        engine.add_texts(["green tea"], ids=["a"])
        assert [hit.cosine for hit in engine.search("green").hits] == [None]
        engine.add_texts(["green tea"], ids=["b"])
        assert all(hit.cosine for hit in engine.search("green", 2).hits)
    with make_engine(tmp_path, embeddings=embedder, sync_on_search=False) as engine:
        assert all(hit.cosine for hit in engine.search("green", 2).hits)


def test_a_text_whose_vector_is_forgotten_while_it_is_stored_gets_another():
    embedder = FakeEmbeddings()
    with make_engine(embeddings=embedder) as engine:
        engine.add_texts(["green tea"], ids=["a"])
        engine.sync()  # from now on everything is known to have a vector

        def forgetting(answer):
            engine.forget(["a"])
            return answer

        embedder._faults = [forgetting]
        engine.add_texts(["green tea", "rain"], ids=["b", "c"])
        assert engine.sync().embedded == 1
        assert engine.stats().embeddings == 2


def test_added_text_is_dated_now(engine):
    engine.add_texts(["tea"])
    assert engine.search("tea").hits[0].event_at == START.astimezone(UTC)


# What is no text, no list, no scope


@pytest.mark.parametrize("scope", ["everyone", "Personal", "private", ""])
def test_nothing_is_kept_under_a_scope_that_nobody_reads(engine, scope):
    before = engine.stats().chunks
    for keep in (
        lambda: engine.add_texts(["lost tea"], scope=scope or " "),
        lambda: engine.remember("lost tea", scope=scope or " "),
        lambda: engine.search("tea", filter=Filter(scope=scope)),
        lambda: engine.list_records(scope=scope),
    ):
        with pytest.raises(ConfigurationError, match=r"no scope .*: global, personal"):
            keep()
    assert engine.stats().chunks == before


def test_nobody_says_anything_that_no_origin_has(engine):
    with pytest.raises(ConfigurationError, match=r"no origin 'me'.*user, app, assistant"):
        engine.add_texts(["tea"], origin="me")
    with pytest.raises(ConfigurationError, match="no origin 'me'"):
        engine.remember("tea", origin="me", scope="global")
    with pytest.raises(ConfigurationError, match=r"no trust 'high'.*untrusted, unverified"):
        engine.remember("tea", trust="high")


@pytest.mark.parametrize("wrong", [None, 5, b"tea", ["tea"]])
def test_what_is_no_text_is_named(engine, wrong):
    for call in (
        lambda: engine.search(wrong),
        lambda: engine.add_texts([wrong]),
        lambda: engine.remember(wrong),
        lambda: engine.recall(wrong),
    ):
        with pytest.raises(ConfigurationError, match=f"a {type(wrong).__name__} given"):
            call()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"metadatas": {"a": 1}}, r"metadatas is a single one.*\[metadata\]"),
        ({"metadatas": [["a"]]}, "Metadata is a list"),
        ({"ids": "1"}, r"ids is a single one.*\[id\]"),
        ({"ids": [1]}, "a int given"),
    ],
)
def test_what_is_no_list_of_its_kind_is_named(engine, options, told):
    with pytest.raises(ConfigurationError, match=told):
        engine.add_texts(["tea"], **options)


def test_what_is_no_filter_and_no_time_is_named(engine):
    engine.add_texts(["tea"])
    day = date(2026, 5, 1)
    for options, told in (
        ({"filter": "tea"}, "filter is a str"),
        ({"filter": Filter(sources="file:*")}, "sources of a filter is a single text"),
        ({"filter": Filter(not_sources="doc:*")}, "not_sources of a filter is a single text"),
        ({"filter": Filter(since=day)}, r"date\(2026, 5, 1\) is no time. Pass a datetime"),
        ({"filter": Filter(until="2026-05-01")}, "'2026-05-01' is no time"),
        ({"as_of": day}, "is no time"),
        ({"thread_id": 5}, "a int given"),
    ):
        with pytest.raises(ConfigurationError, match=told):
            engine.search("tea", **options)
    with pytest.raises(ConfigurationError, match="is no time"):
        engine.remember("tea", expires_at=day)
    with pytest.raises(ConfigurationError, match="single text"):
        engine.sessions().create("t", sources="doc:*")
