"""A Chroma server (`chroma run`): it looks after its files; what fails is answered exactly."""

import gc
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import closing, contextmanager
from pathlib import Path

import chromadb
import pytest
from chromadb.api.shared_system_client import SharedSystemClient

from langchain_memengine.engine.restoring import restore
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine
from tests.fakes.sentences import best, sentence

# Chroma's client leaves its sockets to the garbage collector, closed or not.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture(autouse=True)
def _collected():
    yield
    SharedSystemClient.clear_system_cache()
    gc.collect()


@contextmanager
def served(folder, port):
    """Run a server until the end of the block; it is killed then."""
    command = [str(Path(sys.executable).with_name("chroma")), "run", "--path", str(folder)]
    process = subprocess.Popen(  # noqa: S603  # the program of the package we depend on
        [*command, "--host", "127.0.0.1", "--port", str(port)], stdout=subprocess.DEVNULL
    )
    try:
        _wait_until_up(port)
        yield
    finally:
        process.kill()
        process.wait(30)


def _wait_until_up(port):
    for _ in range(300):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v2/heartbeat").close()
        except (OSError, urllib.error.URLError):
            time.sleep(0.1)
        else:
            return
    raise AssertionError("the server did not start")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_server_answers_is_verified_filled_anew_and_may_fail(tmp_path):
    port = free_port()
    root, backup = tmp_path / "memory", tmp_path / "backup.sqlite"

    def engine_of(vector_search="chroma"):
        return make_engine(
            root,
            embeddings=FakeEmbeddings(),
            vector_search=vector_search,
            chroma_url=f"http://127.0.0.1:{port}",
        )

    def answers_as_exact(engine):
        engine.search("w1")
        engine.wait_for_chroma()
        with engine_of("exact") as exact:
            return best(engine, sentence(7)) == (best(exact, sentence(7))[0], {"chroma"})

    with served(tmp_path / "server", port):
        with engine_of() as engine:
            engine.add_texts([sentence(n) for n in range(120)], ids=[str(n) for n in range(120)])
            assert answers_as_exact(engine)
            assert engine.doctor()["chroma"].status == "ok"
            engine.backup(backup)
            engine.delete([str(number) for number in range(60)])

            engine.search("w1")
            engine.wait_for_chroma()
            with closing(chromadb.HttpClient(host="127.0.0.1", port=port)) as client:
                (collection,) = client.list_collections()
                collection.delete(ids=collection.get(limit=5)["ids"])
            assert engine.doctor()["chroma"].found == "shared: 55 of 60 vectors"
            assert engine.doctor(repair=True)["chroma"].status == "ok"
        restore(backup, root)
        with engine_of() as engine:  # another database now, which counts past the first one
            for number in range(3):
                engine.add_texts([sentence(1000 + number)])
            assert answers_as_exact(engine)
            assert engine.doctor()["chroma"].status == "ok"
    with engine_of() as engine:
        engine.search("w1")
        engine.wait_for_chroma()
        assert best(engine, sentence(7))[1] == {"exact"}
        report = engine.doctor()
        assert (report["chroma"].status, report.ok) == ("warning", True)
        with served(tmp_path / "server", port):
            assert answers_as_exact(engine)
        down = engine.search(sentence(7), 3)
        assert down.hits[0].text == sentence(7)
        assert "Check that server" in down.degraded[0]
