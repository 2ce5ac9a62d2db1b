import pytest

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.models.embedding import Embedder
from langchain_memengine.models.local import MiniLMEmbeddings, WordLlamaEmbeddings
from langchain_memengine.models.providers import CHOICES, embedder_name, make_embedder
from tests.fakes.embeddings import FakeEmbeddings


class Named:
    """Has what an embedder needs, and derives from nothing."""

    def __init__(self, **attributes):
        vars(self).update(attributes)

    def embed_documents(self, texts):
        return [[1.0, 0.0] for _ in texts]

    def embed_query(self, text):
        return [1.0, 0.0]


def test_none_is_keyword_search_only():
    assert make_embedder(None) is None


@pytest.mark.parametrize(
    ("spec", "embeddings", "name"),
    [
        ("local", WordLlamaEmbeddings, "WordLlama/l2_supercat_256"),
        ("local:wordllama", WordLlamaEmbeddings, "WordLlama/l2_supercat_256"),
        ("local:minilm", MiniLMEmbeddings, "MiniLM/all-MiniLM-L6-v2-int8"),
    ],
)
def test_local_embedders_by_name(spec, embeddings, name):
    embedder = make_embedder(spec)
    assert isinstance(embedder.embeddings, embeddings)
    assert embedder.name == name


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("openai:text-embedding-3-small", "OpenAIEmbeddings/text-embedding-3-small"),
        ("google_genai:gemini-embedding-001", "GoogleGenerativeAIEmbeddings/gemini-embedding-001"),
        ("ollama:nomic-embed-text:v1.5", "OllamaEmbeddings/nomic-embed-text:v1.5"),
    ],
)
def test_providers_by_name(monkeypatch, spec, name):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("GOOGLE_API_KEY", "k")
    assert make_embedder(spec).name == name


def test_openai_needs_no_download_and_leaves_retries_to_the_wrapper(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    embeddings = make_embedder("openai:m").embeddings
    assert (embeddings.check_embedding_ctx_length, embeddings.max_retries) == (False, 0)


@pytest.mark.parametrize(
    ("spec", "variable"),
    [("openai:m", "OPENAI_API_KEY"), ("google_genai:m", "GOOGLE_API_KEY")],
)
def test_a_missing_key_names_its_variable(monkeypatch, spec, variable):
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ConfigurationError, match=variable) as caught:
        make_embedder(spec)
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize(
    "spec", ["", "word2vec", "local:bert", "openai", "openai:", "ollama: ", "OpenAI:m", "none"]
)
def test_what_is_no_choice_is_answered_with_the_choices(spec):
    with pytest.raises(ConfigurationError) as caught:
        make_embedder(spec)
    assert CHOICES in str(caught.value)


@pytest.mark.parametrize("thing", [7, object(), FakeEmbeddings])
def test_what_cannot_embed_is_refused(thing):
    with pytest.raises(ConfigurationError, match="no embed_documents"):
        make_embedder(thing)


def test_any_object_that_embeds_will_do():
    embedder = make_embedder(Named())
    assert isinstance(embedder, Embedder)
    assert embedder.embed_texts(["a"]).tolist() == [[1.0, 0.0]]


def test_batch_size_and_attempts_reach_the_embedder():
    fake = FakeEmbeddings(8)
    make_embedder(fake, batch_size=2, attempts=1).embed_texts(["a", "b", "c"])
    assert fake.calls == [["a", "b"], ["c"]]


@pytest.mark.parametrize(
    ("attributes", "name"),
    [
        ({}, "Named"),
        ({"model": "m"}, "Named/m"),
        ({"model_name": "n"}, "Named/n"),
        ({"model_id": "i"}, "Named/i"),
        ({"model": object(), "model_name": "n"}, "Named/n"),
        ({"model": "", "model_id": "i"}, "Named/i"),
        ({"model": "m", "embedder_name": "Mine/v2"}, "Mine/v2"),
    ],
)
def test_an_instance_is_named_after_class_and_model(attributes, name):
    assert embedder_name(Named(**attributes)) == name
