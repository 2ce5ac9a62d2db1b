"""What a provider's failure says."""

import pytest

from langchain_memengine.models.failures import address_of


class OllamaEmbeddings:
    base_url = None


@pytest.mark.parametrize(
    ("host", "shown"),
    [
        ("https://user:secret@host:1/v1?key=x#y", "https://host:1/v1"),
        ("user:secret@host:11434", "host:11434"),
        ("localhost:11434", "localhost:11434"),
        ("", "http://127.0.0.1:11434"),
        ("http://[nonsense", None),
    ],
)
def test_an_address_is_shown_without_its_secrets(monkeypatch, host, shown):
    monkeypatch.setenv("OLLAMA_HOST", host)
    assert address_of(OllamaEmbeddings()) == shown


def test_an_embedder_without_an_address_has_none():
    assert address_of(object()) is None
