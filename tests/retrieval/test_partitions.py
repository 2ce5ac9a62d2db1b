"""The derived indexes follow the database, whatever was done to it in between."""

import hashlib
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from langchain_memengine.retrieval.partitions import Partitions
from langchain_memengine.storage import access, chunks, embeddings
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.times import to_ms
from langchain_memengine.types import (
    Chunk,
    Filter,
    Provenance,
)
from tests.fakes.clock import START

MODEL = "m/2"


@pytest.fixture
def database():
    database = Database("sqlite://", store_id="s", now=START, busy_timeout_ms=0)
    yield database
    database.close()


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


def put(tx, source, texts, owner="", event_at=START):
    provenance = Provenance(scope="personal" if owner else "global", owner=owner, event_at=event_at)
    pairs = [
        (Chunk(digest(f"{source}{i}{t}"), source, i, 1, 1, 1, t, digest(t)), provenance)
        for i, t in enumerate(texts)
    ]
    chunks.replace_sources(tx, {source: pairs}, now=START)


def vector(text):
    return np.asarray([len(text), 1.0], np.float32)


def partitions():
    return Partitions(str.split, k1=0.9, b=0.4)


def current(tx, followed, key, model=None):
    (partition,) = followed.view(tx, tx.counters(), (key,), model).partitions
    return partition


def state(database, followed, key="shared", model=None):
    """Return number, BM25 of "tea", cosine and accesses of each chunk that a partition has."""
    with database.read() as tx:
        partition = current(tx, followed, key, model)
        scores = partition.keyword.scores(["tea"])
        cosines = partition.vectors.cosines(np.asarray([1.0, 0.0], np.float32))
        live = [row.num for row in chunks.index_rows(tx, key)]
        slots = partition.slots_of(np.asarray(live, np.int64))
        assert partition.nums[slots].tolist() == live
        assert partition.keyword.corpus_size == len(live)
        return [
            (
                num,
                round(float(scores[slot]), 9),
                float(cosines[slot]),
                int(partition.accesses[slot]),
            )
            for num, slot in zip(live, slots.tolist(), strict=True)
        ]


STEPS = st.lists(
    st.one_of(
        st.tuples(
            st.sampled_from(["put", "put a day later"]),
            st.sampled_from("abc"),
            st.lists(st.sampled_from(["tea", "tea tea milk", "milk", "x y z"]), max_size=3),
        ),
        st.tuples(st.just("embed"), st.sampled_from(["tea", "tea tea milk", "milk"]), st.none()),
        st.tuples(st.just("access"), st.sampled_from("abc"), st.integers(1, 3)),
        st.tuples(st.just("look"), st.sampled_from([None, MODEL]), st.none()),
    ),
    max_size=12,
)


@settings(max_examples=40)
@given(STEPS)
@example(
    [
        ("put", "a", ["tea"]),
        ("embed", "tea", None),
        ("look", MODEL, None),
        ("look", None, None),
        ("put", "b", ["milk"]),
        ("embed", "milk", None),
    ]
)
@example(
    [
        ("put", "a", ["tea"]),
        ("access", "a", 3),
        ("look", MODEL, None),
        ("put a day later", "a", ["tea"]),
    ]
)
def test_following_step_by_step_is_the_same_as_loading_afresh(steps):
    database = Database("sqlite://", store_id="s", now=START, busy_timeout_ms=0)
    followed = partitions()
    for what, name, value in steps:
        if what == "look":
            state(database, followed, model=name)
            continue
        with database.write() as tx:
            if what == "put":
                put(tx, name, value)
            elif what == "put a day later":
                put(tx, name, value, event_at=START + timedelta(days=1))
            elif what == "embed":
                embeddings.put(tx, {digest(name): vector(name)}, MODEL, touch=True)
            else:
                found = chunks.index_rows(tx, "shared")
                ids = [digest(f"{name}{i}{row.text}") for i, row in enumerate(found)]
                access.record(tx, dict.fromkeys(ids, value), now=START)
    assert state(database, followed, model=MODEL) == state(database, partitions(), model=MODEL)
    database.close()


def test_partitions_of_owners_are_apart(database):
    with database.write() as tx:
        put(tx, "a", ["tea"])
        put(tx, "b", ["tea", "milk"], owner="bob")
    followed = partitions()
    assert len(state(database, followed)) == 1
    assert len(state(database, followed, "personal/bob")) == 2
    assert state(database, followed, "personal/alice") == []


def test_vectors_are_those_of_the_model_asked_for(database):
    with database.write() as tx:
        put(tx, "a", ["tea"])
        embeddings.put(tx, {digest("tea"): vector("tea")}, MODEL, touch=False)
    followed = partitions()
    assert [row[2] for row in state(database, followed, model=None)] == [-2.0]
    assert [row[2] for row in state(database, followed, model=MODEL)] == [3.0]
    assert [row[2] for row in state(database, followed, model="other")] == [-2.0]


def test_cold_partitions_are_dropped_and_come_back(database):
    followed = partitions()
    with database.write() as tx:
        for i in range(70):
            put(tx, f"a{i}", ["tea"], owner=f"user{i}")
    with database.read() as tx:
        for i in range(70):
            current(tx, followed, f"personal/user{i}")
    assert len(state(database, followed, "personal/user0")) == 1


def test_mask_and_age_of_a_slot(database):
    with database.write() as tx:
        put(tx, "a", ["tea"])
        put(tx, "b", ["milk"])
    with database.read() as tx:
        partition = current(tx, partitions(), "shared")
        assert partition.mask(tx, Filter(source="b"), None, None).tolist() == [False, True]
        now = to_ms(START)
        assert partition.mask(tx, Filter(), now, None).tolist() == [True, True]
        assert partition.mask(tx, Filter(), None, now).tolist() == [False, False]
        slots = np.asarray([0, 1])
        assert partition.age_days(slots, now + 43_200_000).tolist() == [0.5, 0.5]
        assert partition.age_days(slots, now - 1).tolist() == [0.0, 0.0]


def test_loading_a_partition_reads_its_own_rows_and_not_the_store(database):
    with database.write() as tx:
        put(tx, "a", ["tea"])
    sent = []
    with database.read() as tx:
        driver = tx.connection.connection.driver_connection
        driver.set_trace_callback(sent.append)
        current(tx, partitions(), "personal/anna", MODEL)
        driver.set_trace_callback(None)
        of_chunks = [statement for statement in sent if "FROM chunks" in statement]
        plans = [driver.execute(f"EXPLAIN QUERY PLAN {one}").fetchall() for one in of_chunks]
    assert len(plans) == 1  # rows; there is nothing that could have vectors
    for (*_, step), *_ in plans:
        assert "ix_chunks_partition" in step


def test_an_added_text_alone_is_split_and_nothing_is_built_again(database):
    split = []

    def splitter(text):
        split.append(text)
        return text.split()

    followed = Partitions(splitter, k1=0.9, b=0.4)
    with database.write() as tx:
        put(tx, "a", [f"tea {number}" for number in range(50)])
    with database.read() as tx:
        before = current(tx, followed, "shared")
        merges, postings = before.keyword.merges, before.keyword
    split.clear()
    with database.write() as tx:
        put(tx, "b", ["milk"])
    with database.read() as tx:
        after = current(tx, followed, "shared")
        assert after.keyword.scores(["milk"]).argmax() == 50
    assert split == ["milk"]
    assert after.keyword is postings
    assert after.keyword.merges == merges


def test_a_view_is_whole_when_the_index_went_on_meanwhile(database):
    followed = partitions()
    with database.write() as tx:
        put(tx, "a", ["tea"])
    with database.read() as tx:
        before = tx.counters()
        assert len(followed.view(tx, before, ("shared",), None)) == 1
    with database.write() as tx:
        put(tx, "b", ["tea", "milk"])
    with database.read() as tx:
        followed.follow(tx, tx.counters())
        # A search that began before asks for the view of then: its sizes must be those of now.
        view = followed.view(tx, before, ("shared",), None)
        assert len(view) == len(view.partitions[0].nums) == 3


def test_only_what_is_in_memory_follows_and_keeps_its_model(database):
    followed = partitions()
    with database.write() as tx:
        put(tx, "a", ["tea"])
        embeddings.put(tx, {digest("tea"): vector("tea")}, MODEL, touch=True)
    with database.read() as tx:
        followed.follow(tx, tx.counters())
        assert len(current(tx, followed, "shared", MODEL).vectors) == 1
    with database.write() as tx:
        put(tx, "b", ["milk"])
        put(tx, "c", ["tea"], owner="anna")
        embeddings.put(tx, {digest("milk"): vector("milk")}, MODEL, touch=True)
    with database.read() as tx:
        followed.follow(tx, tx.counters())
        assert list(followed._loaded) == ["shared"]
        assert len(followed._loaded["shared"].vectors) == 2
