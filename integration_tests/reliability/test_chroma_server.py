"""A Chroma server (`chroma run`): it looks after its files; what fails is answered exactly."""

from integration_tests.servers.chroma_run import chroma_running
from langchain_memengine.engine.restoring import restore
from langchain_memengine.retrieval import chroma_client
from langchain_memengine.retrieval.chroma_server import ChromaServer
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine
from tests.fakes.sentences import best, sentence


def lose_five(port):
    client = chroma_client.connect(ChromaServer("127.0.0.1", port, ssl=False))
    (collection,) = client.list_collections()
    collection.delete(ids=collection.get(limit=5)["ids"])
    chroma_client.disconnect(client)


def test_server_answers_is_verified_filled_anew_and_may_fail(tmp_path):
    root, backup = tmp_path / "memory", tmp_path / "backup.sqlite"

    def engine_of(vector_search="chroma"):
        return make_engine(
            root,
            embeddings=FakeEmbeddings(),
            vector_search=vector_search,
            chroma_url=server.url,
        )

    def answers_as_exact(engine):
        engine.search("w1")
        engine.wait_for_chroma()
        with engine_of("exact") as exact:
            return best(engine, sentence(7)) == (best(exact, sentence(7))[0], {"chroma"})

    with chroma_running(tmp_path / "server") as server:
        with engine_of() as engine:
            engine.add_texts([sentence(n) for n in range(120)], ids=[str(n) for n in range(120)])
            assert answers_as_exact(engine)
            assert engine.doctor()["chroma"].status == "ok"
            engine.backup(backup)
            engine.delete([str(number) for number in range(60)])

            engine.search("w1")
            engine.wait_for_chroma()
            lose_five(server.port)
            assert engine.doctor()["chroma"].found == "shared: 55 of 60 vectors"
            assert engine.doctor(repair=True)["chroma"].status == "ok"
        restore(backup, root)
        with engine_of() as engine:  # another database now, which counts past the first one
            for number in range(3):
                engine.add_texts([sentence(1000 + number)])
            assert answers_as_exact(engine)
            assert engine.doctor()["chroma"].status == "ok"
        server.kill()
        with engine_of() as engine:
            engine.search("w1")
            engine.wait_for_chroma()
            for _ in range(2):  # each search tells, though none asks the server
                down = engine.search(sentence(7), 3)
                assert down.hits[0].text == sentence(7)
                assert {hit.receipt.vector_path for hit in down.hits} <= {"exact", None}
                assert "Check that server" in down.degraded[0]
            report = engine.doctor()
            assert (report["chroma"].status, report.ok) == ("warning", True)
            server.start()
            assert answers_as_exact(engine)
