"""A Chroma server that several processes fill, that is killed, emptied and shared."""

import os
import signal
from contextlib import contextmanager

import pytest

from integration_tests.reliability.processes import Processes, wait_for
from integration_tests.servers import replica_processes
from integration_tests.servers.chroma_run import chroma_running
from integration_tests.servers.replica_processes import SETTINGS, living, vectors_on_server
from langchain_memengine.retrieval import chroma_client
from langchain_memengine.retrieval.chroma_collections import ChromaCollections
from langchain_memengine.retrieval.chroma_server import ChromaServer
from langchain_memengine.types import Actor
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine
from tests.fakes.sentences import best, sentence

WRITERS = 3
TEXTS = 60


@pytest.fixture
def chroma(tmp_path):
    with chroma_running(tmp_path / "chroma") as server:
        yield server


@pytest.fixture
def engine_of(tmp_path, chroma):
    def opened(name="memory", size=64, **settings):
        given = {"vector_search": "chroma", "chroma_url": chroma.url, **settings}
        return make_engine(tmp_path / name, embeddings=FakeEmbeddings(size), **given)

    return opened


@contextmanager
def client_of(chroma):
    client = chroma_client.connect(ChromaServer("127.0.0.1", chroma.port, ssl=False))
    try:
        yield client
    finally:
        chroma_client.disconnect(client)


def filled(engine, texts):
    """Wait until the server has everything, and answers; return how many vectors it has."""
    found = vectors_on_server(engine)
    assert best(engine, texts[-1])[1] == {"chroma"}
    return found


def test_server_that_is_killed_and_comes_back_has_everything(engine_of, chroma, record_property):
    texts = [sentence(number) for number in range(300)]
    with engine_of() as engine, engine_of(vector_search="exact") as exact:
        for start in range(0, 300, 100):
            engine.add_texts(texts[start : start + 100])
            assert filled(engine, texts[: start + 100]) == start + 100
            chroma.kill()
            down = engine.search(texts[start], 1)
            assert (down.hits[0].text, len(down.degraded)) == (texts[start], 1)
            chroma.start()
            assert filled(engine, texts[: start + 100]) == start + 100
            assert best(engine, texts[7]) == (best(exact, texts[7])[0], {"chroma"})
    record_property("figures", ("`kill -9` of a Chroma server", {"kills": 3, "lost": 0}))


def test_collection_that_others_remove_or_damage_is_filled_again(engine_of, chroma):
    texts = [sentence(number) for number in range(50)]
    with engine_of() as engine:
        engine.add_texts(texts)
        assert filled(engine, texts) == 50
        with client_of(chroma) as client:
            (name,) = [one.name for one in client.list_collections()]
            client.delete_collection(name)
            assert engine.search(texts[3], 1).degraded == ()  # exact vectors answered
            assert filled(engine, texts) == 50
            collection = client.get_collection(name)
            collection.delete(ids=collection.get(limit=7)["ids"])
            collection.add(ids=["999999"], embeddings=[[1.0] * 64])
            engine.add_texts([sentence(50)])  # the next follower counts
            assert filled(engine, texts) == 51
            assert "999999" not in collection.get()["ids"]


def test_server_that_lost_its_files_is_filled_again(engine_of, chroma, tmp_path):
    texts = [sentence(number) for number in range(50)]
    with engine_of() as engine:
        engine.add_texts(texts)
        assert filled(engine, texts) == 50
        chroma.kill()
        (tmp_path / "chroma").rename(tmp_path / "lost")
        chroma.start()
        assert engine.search(texts[3], 1).hits[0].text == texts[3]
        assert filled(engine, texts) == 50


def test_stores_databases_and_models_on_one_server_do_not_meet(engine_of):
    """Two databases of the same store id, another store, and another model."""
    with (
        engine_of("one") as one,
        engine_of("two") as two,
        engine_of("two", store_id="Größe / ?") as other,
        engine_of("three", size=32) as model,
        engine_of("four", chroma_tenant="Größe", chroma_database="a/b") as tenant,
    ):
        engines = (one, two, other, model, tenant)
        texts = [[sentence(100 * i + n) for n in range(20 + i)] for i in range(len(engines))]
        for engine, mine in zip(engines, texts, strict=True):
            engine.add_texts(mine)
            assert filled(engine, mine) == len(mine)
        for engine, mine in zip(engines, texts, strict=True):
            assert filled(engine, mine) == len(mine)
            assert {hit.text for hit in engine.search(mine[0], 100).hits} <= set(mine)


def test_forgotten_vectors_leave_the_server(engine_of, chroma):
    with engine_of() as engine, engine_of() as replica:
        record = engine.remember("The safe opens with 1234.")
        engine.add_texts([sentence(number) for number in range(20)])
        assert filled(engine, [sentence(3)]) == filled(replica, [sentence(3)]) == 21
        engine.forget([record.id])
        assert filled(replica, [sentence(3)]) == 20


def test_server_is_asked_only_about_partitions_that_changed(engine_of, monkeypatch):
    asked = []
    looked_up = ChromaCollections.looked_up
    anna, bert = Actor("anna"), Actor("bert")
    with engine_of() as engine:
        engine.add_texts(["tea of all"])
        for actor in (anna, bert):
            engine.add_texts([f"tea of {actor.user_id}"], actor=actor)
            engine.search("tea", actor=actor)
            engine.wait_for_chroma()
        monkeypatch.setattr(
            ChromaCollections,
            "looked_up",
            lambda self, *a: asked.append(a[0]) or looked_up(self, *a),
        )
        engine.add_texts(["more tea"], actor=anna)
        for actor in (anna, bert):
            engine.search("tea", actor=actor)
            engine.wait_for_chroma()
            hits = engine.search("tea", actor=actor).hits
            assert "chroma" in {hit.receipt.vector_path for hit in hits}
    assert asked == ["personal/anna"]


def test_batches_are_no_larger_than_the_server_takes(engine_of, monkeypatch):
    """The server says how much it takes at once; a smaller figure stands in for a smaller one."""
    sizes = []
    upsert = chroma_client.upsert
    with engine_of() as engine:
        engine.add_texts([sentence(number) for number in range(50)])
        client = engine._derived.chroma[0]._collections._open()
        most = client.get_max_batch_size()
        assert most > 0
        monkeypatch.setattr(type(client), "get_max_batch_size", lambda _: 20)
        monkeypatch.setattr(
            chroma_client, "upsert", lambda *a: sizes.append(len(a[1])) or upsert(*a)
        )
        assert filled(engine, [sentence(49)]) == 50
    assert sizes == [20, 20, 10]


def test_server_that_does_not_answer_is_given_up(tmp_path, chroma, monkeypatch):
    monkeypatch.setattr(chroma_client, "ANSWER_SECONDS", 0.3)
    with client_of(chroma) as client:
        assert client.heartbeat() > 0
        os.kill(chroma.process, signal.SIGSTOP)  # it takes connections and says nothing
        os.waitpid(chroma.process, os.WUNTRACED)  # until it has stopped
        try:
            with pytest.raises(Exception, match="timed out"):
                client.heartbeat()
            monkeypatch.setattr(chroma_client, "CONNECT_SECONDS", 0.3)
            with pytest.raises(Exception, match="timed out"), client_of(chroma):
                pass
        finally:
            os.kill(chroma.process, signal.SIGCONT)


def test_writers_at_once_lose_no_vectors(tmp_path, chroma, replica_program, record_property):
    """Each of them fills the server with what all of them write."""
    (tmp_path / SETTINGS).write_text(
        f'{{"database_url": "sqlite:///{tmp_path}/memory.sqlite", "chroma_url": "{chroma.url}"}}'
    )
    with Processes(replica_program, tmp_path) as processes:
        for number in range(WRITERS):
            processes.start("write", f"writer{number}", 60, TEXTS)
        wait_for(
            lambda: len(processes.lines("ended")) == WRITERS or processes.lines("failures"),
            "the writers",
            90,
        )
    assert processes.lines("failures") == []
    there, _ = living(tmp_path)
    with replica_processes.engine_of(tmp_path) as engine:
        assert filled(engine, sorted(there)) == len(there) >= WRITERS * TEXTS / 2
    record_property(
        "figures", ("writers at once on `chroma run`", {"writers": WRITERS, "vectors lost": 0})
    )
