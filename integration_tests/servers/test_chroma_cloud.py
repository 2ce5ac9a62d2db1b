"""A Chroma that wants a key, as Chroma Cloud does, and Chroma's own client of that beside ours."""

from contextlib import closing

import chromadb
import pytest

from integration_tests.servers.chroma_cloud import DATABASE, KEY, TENANT, cloud_before
from integration_tests.servers.chroma_run import chroma_running
from integration_tests.servers.replica_processes import vectors_on_server
from langchain_memengine.retrieval.chroma_server import API_KEY_VARIABLE
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine
from tests.fakes.sentences import best, sentence


@pytest.fixture
def cloud(tmp_path, monkeypatch):
    certificate = tmp_path / "certificate.pem"
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with chroma_running(tmp_path / "chroma") as server, cloud_before(server, certificate) as cloud:
        yield cloud


def engine_of(cloud, **settings):
    given = {"vector_search": "chroma", "chroma_url": cloud.url, **settings}
    return make_engine(embeddings=FakeEmbeddings(64), **given)


@pytest.mark.parametrize(
    "named",
    [{}, {"chroma_tenant": TENANT, "chroma_database": DATABASE}],
    ids=["of the key", "named"],
)
def test_what_the_key_opens_is_filled_as_chromas_own_client_sees(cloud, monkeypatch, named):
    monkeypatch.setenv(API_KEY_VARIABLE, KEY)
    texts = [sentence(number) for number in range(30)]
    with engine_of(cloud, **named) as engine:
        engine.add_texts(texts)
        assert vectors_on_server(engine) == 30
        assert best(engine, texts[7])[1] == {"chroma"}
    assert set(cloud.keys) <= {KEY, None}
    cloud.keys.clear()
    with closing(
        chromadb.CloudClient(api_key=KEY, cloud_host="localhost", cloud_port=cloud.server_port)
    ) as client:
        (collection,) = client.list_collections()
        assert collection.count() == 30
        assert (client.tenant, client.database) == (TENANT, DATABASE)
    assert set(cloud.keys) == {KEY}  # the same header


def test_a_key_that_is_not_known_costs_the_search_nothing_but_chroma(cloud, monkeypatch, caplog):
    monkeypatch.setenv(API_KEY_VARIABLE, "ck-another")
    with engine_of(cloud) as engine:
        engine.add_texts([sentence(number) for number in range(30)])
        engine.search(sentence(7))
        engine.wait_for_chroma()
        found = engine.search(sentence(7), 1)
    assert found.hits[0].text == sentence(7)
    (told,) = found.degraded
    assert "no such key" in told
    assert "ck-another" not in told + caplog.text
    assert "ck-another" in cloud.keys
