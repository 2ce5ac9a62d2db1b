"""Where a Chroma server is: its address, the names of its parts, and who gets its key."""

import pytest

from langchain_memengine.config import MemEngineConfig
from langchain_memengine.errors import ConfigurationError
from langchain_memengine.retrieval.chroma_server import ChromaServer, legal_name, server_of
from tests.fakes.engines import make_engine


def server(url, **settings):
    return server_of(MemEngineConfig(chroma_url=url, **settings))


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://localhost", ChromaServer("localhost", 8000, ssl=False)),
        ("http://10.0.0.7:58000/", ChromaServer("10.0.0.7", 58000, ssl=False)),
        ("https://api.trychroma.com", ChromaServer("api.trychroma.com", 443, ssl=True)),
        ("http://[::1]:8000", ChromaServer("::1", 8000, ssl=False)),
    ],
)
def test_address_is_read(url, expected):
    assert server(url) == expected
    assert server(expected.url) == expected


def test_no_address_is_no_server():
    assert server_of(MemEngineConfig()) is None


@pytest.mark.parametrize(
    "url", ["localhost:8000", "ftp://host", "http://", "http://host:port", "", "http://[::1"]
)
def test_address_that_is_none_is_refused_when_the_engine_opens(url):
    with pytest.raises(ConfigurationError, match="is no server address"):
        make_engine(chroma_url=url)


@pytest.mark.parametrize(
    "url",
    ["http://anna:secret@host", "http://secret@host", "http://host/secret", "http://h?secret"],
)
def test_address_with_more_in_it_is_refused_without_being_shown(url):
    with pytest.raises(ConfigurationError, match="scheme, host and port only") as caught:
        server(url)
    assert "secret" not in str(caught.value)


def test_key_is_sent_by_https_only_and_never_shown(monkeypatch):
    monkeypatch.setenv("CHROMA_API_KEY", "secret")
    cloud = server("https://api.trychroma.com", chroma_tenant="anna", chroma_database="notes")
    assert cloud.key == "secret"
    assert "secret" not in f"{cloud} {cloud!r}"
    assert server("http://localhost:8000").key is None
    monkeypatch.setenv("CHROMA_API_KEY", "")
    assert cloud.key is None


def test_names_that_chroma_takes_stay_and_others_become_legal():
    assert legal_name("Team-7.notes_a") == "Team-7.notes_a"
    odd = ["", "ab", "a/b", "Größe", "-abc", "abc-", "x" * 513, "a b", "abc\n"]
    made = [legal_name(name) for name in odd]
    assert len(set(made)) == len(odd)
    assert all(legal_name(name) == name for name in made)
    named = server("http://localhost", chroma_tenant="Größe", chroma_database="a/b")
    assert (named.tenant, named.database) == (legal_name("Größe"), legal_name("a/b"))
