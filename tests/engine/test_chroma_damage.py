"""An embedded Chroma that is damaged while nobody uses it: never opened, built again, as exact.

What is damaged while it is open may crash the process: see integration_tests/reliability.
"""

import os
import shutil

import pytest

from langchain_memengine.retrieval import chroma_client, chroma_collections
from langchain_memengine.retrieval.vector_index import MAX_FAILURES
from tests.engine.test_chroma import CORPUS, SIZE, engine_of, found
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine
from tests.fakes.sentences import best, sentence


@pytest.fixture
def root(tmp_path):
    """Return a store that Chroma answered for, closed."""
    with engine_of(tmp_path) as engine:
        engine.add_texts(CORPUS)
        found(engine, "tea")
    return tmp_path


def generation_of(root):
    (generation,) = [path for path in (root / ".memengine/chroma").iterdir() if path.is_dir()]
    return generation


def garbage(path):
    path.write_bytes(b"\x5a" * path.stat().st_size)


def each_file(pattern, change):
    def damage(generation):
        files = [path for path in generation.rglob(pattern) if path.is_file()]
        assert files
        for path in files:
            change(path)

    return damage


def flip_a_page(path):
    content = bytearray(path.read_bytes())
    content[8192:12288] = content[4096:8192]
    path.write_bytes(content)


def make_unreadable(path):
    path.unlink()
    path.symlink_to(path.name)  # a loop cannot be read by root either


DAMAGE = {
    "process killed": lambda generation: (generation.parent / "receipt.json").unlink(),
    "index removed": lambda generation: [
        shutil.rmtree(path) for path in generation.iterdir() if path.is_dir()
    ],
    "database removed": each_file("chroma.sqlite3", os.remove),
    "index garbage": each_file("*.bin", garbage),
    "metadata garbage": each_file("*.pickle", garbage),
    "database garbage": each_file("chroma.sqlite3", garbage),
    "page flipped": each_file("chroma.sqlite3", flip_a_page),
    "database truncated": each_file("chroma.sqlite3", lambda path: os.truncate(path, 0)),
    "files unreadable": each_file("*", make_unreadable),
}


def soon_on_disk(client, name):
    """Return a collection that writes its index after 50 vectors instead of 1,000."""
    hnsw = {"space": "cosine", "ef_search": 200, "sync_threshold": 50, "batch_size": 50}
    return client.get_or_create_collection(
        name, embedding_function=None, configuration={"hnsw": hnsw}
    )


@pytest.fixture(scope="module")
def persisted(tmp_path_factory):
    """Return a store whose Chroma has written every kind of its files."""
    root = tmp_path_factory.mktemp("store")
    with pytest.MonkeyPatch.context() as patch, engine_of(root) as engine:
        patch.setattr(chroma_client, "collection", soon_on_disk)
        engine.add_texts([sentence(number) for number in range(120)])
        engine.search("w1")
        engine.wait_for_chroma()
    return root


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damage_is_healed_and_recall_is_that_of_exact_search(
    persisted, tmp_path, damage, monkeypatch, record_property
):
    record_property("figures", ("Chroma damaged between two runs", {"kinds": 1}))
    root = tmp_path / "store"
    shutil.copytree(persisted, root)
    damaged = generation_of(root)
    damage(damaged)
    opened = []
    connect = chroma_client.connect
    monkeypatch.setattr(
        chroma_client, "connect", lambda where: opened.append(where) or connect(where)
    )
    queries = [sentence(7), sentence(119), "w7 w100"]
    with (
        engine_of(root) as engine,
        make_engine(root, embeddings=FakeEmbeddings(SIZE), vector_search="exact") as exact,
    ):
        engine.search("w1")
        engine.wait_for_chroma()
        for query in queries:
            assert best(engine, query) == (best(exact, query)[0], {"chroma"})
        embedded = engine._embedding._required().embeddings.texts
        assert len(embedded) <= 1 + 1 + len(queries)  # the probe and the queries
    assert len(opened) == 1
    assert damaged not in opened
    assert generation_of(root) == opened[0]  # the damaged one does not stay
    record_property("figures", ("Chroma damaged between two runs", {"healed": 1}))


def test_clean_stop_is_not_built_again(root, monkeypatch):
    upserts = []
    upsert = chroma_client.upsert
    monkeypatch.setattr(chroma_client, "upsert", lambda *a: upserts.append(len(a[1])) or upsert(*a))
    before = generation_of(root)
    with engine_of(root) as engine:
        found(engine, "tea")
        engine.add_texts(["milk"])
        found(engine, "milk")
    assert upserts == [1]
    assert generation_of(root) == before


def test_store_that_never_searched_leaves_the_receipt(root):
    receipt = root / ".memengine/chroma/receipt.json"
    before = receipt.stat().st_mtime_ns
    with engine_of(root) as engine:
        engine.add_texts(["milk"])
    assert receipt.stat().st_mtime_ns == before


def answering_short(monkeypatch):
    nearest = chroma_client.nearest
    monkeypatch.setattr(chroma_client, "nearest", lambda *a: nearest(*a)[:1])


def raising(monkeypatch):
    def broken(*_):
        raise RuntimeError("segment is damaged")

    monkeypatch.setattr(chroma_client, "nearest", broken)


@pytest.mark.parametrize(
    ("fail", "why"),
    [(answering_short, "it found 1 of 40 vectors"), (raising, "segment is damaged")],
    ids=["short", "raises"],
)
def test_failure_while_searching_is_answered_exactly_told_once_and_healed(
    root, monkeypatch, fail, why
):
    query = "tea morning"
    with engine_of(root) as engine:
        expected, _ = found(engine, query)
        before = generation_of(root)
        with monkeypatch.context() as patch:
            fail(patch)
            first = engine.search(query, 10)
            second = engine.search(query, 10)
            engine.wait_for_chroma()
        assert len(first.degraded) == 1
        assert why in first.degraded[0]
        assert second.degraded == ()
        assert {hit.receipt.vector_path for hit in (*first.hits, *second.hits)} <= {"exact", None}
        assert [hit.id for hit in second.hits] == expected
        assert found(engine, query) == (expected, {"chroma"})
        assert generation_of(root) != before


def test_a_vector_that_its_graph_does_not_reach_is_found_exactly_and_is_no_damage(
    root, monkeypatch
):
    nearest = chroma_client.nearest
    with engine_of(root) as engine:
        expected, paths = found(engine, "tea morning")
        assert paths == {"chroma"}
        before = generation_of(root)
        with monkeypatch.context() as patch:
            patch.setattr(chroma_client, "nearest", lambda *a: nearest(*a)[:-1])
            assert found(engine, "tea morning") == (expected, {"exact"})
        assert found(engine, "tea morning") == (expected, {"chroma"})
        assert generation_of(root) == before


def test_wrong_count_is_healed(root):
    with engine_of(root) as engine:
        found(engine, "tea")
        index = engine._derived.chroma[0]
        ((partition, model),) = index._built
        collection = index._collections.known(partition, model)
        collection.delete(ids=collection.get(limit=1)["ids"])
        engine.add_texts(["milk"])  # following it tells: 40 vectors instead of 41
        engine.search("tea")
        engine.wait_for_chroma()
        assert index._failures == 1
        assert found(engine, "tea milk")[1] == {"chroma"}
        assert index._collections.known(partition, model).count() == 41


def test_session_gives_up_after_some_failures_and_the_next_one_heals(root, monkeypatch, caplog):
    with engine_of(root) as engine, monkeypatch.context() as patch:

        def full(*_):
            raise OSError(28, "No space left on device")

        patch.setattr(chroma_client, "connect", full)
        for _ in range(MAX_FAILURES + 2):
            assert len(engine.search("tea").hits) == 6
            engine.wait_for_chroma()
        assert caplog.text.count("No space left on device") == MAX_FAILURES
    with engine_of(root) as engine:
        assert found(engine, "tea")[1] == {"chroma"}


def test_follower_that_is_stopped_half_way_goes_on_the_next_time(root, monkeypatch):
    monkeypatch.setattr(chroma_collections, "BATCH", 10)
    with engine_of(root) as engine:
        engine.add_texts([f"milk {i}" for i in range(30)])
        upsert = chroma_client.upsert

        def stopping(*args):
            upsert(*args)
            engine._derived.chroma[1]._stop.set()

        with monkeypatch.context() as patch:
            patch.setattr(chroma_client, "upsert", stopping)
            engine.search("milk")
            engine.wait_for_chroma()
    before = generation_of(root)
    with engine_of(root) as engine:
        assert found(engine, "milk")[1] == {"chroma"}
        assert engine._derived.chroma[0]._failures == 0
    assert generation_of(root) == before


def test_nothing_opens_chroma_again_once_the_engine_is_closed(root):
    engine = engine_of(root)
    found(engine, "tea")
    engine.close()
    assert (root / ".memengine/chroma/receipt.json").exists()
    with pytest.raises(Exception, match="closed"):
        engine._derived.chroma[0]._collections._open()
