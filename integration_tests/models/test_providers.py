"""The three provider clients over loopback: whatever goes wrong, never a wrong vector."""

from collections.abc import Iterator

import numpy as np
import pytest

from integration_tests.models.clients import KEY, SPECS, chat_model, send_to
from langchain_memengine.errors import EmbeddingError
from langchain_memengine.models import providers
from langchain_memengine.models.embedding import Embedder
from tests.fakes import provider_server as faults
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.provider_server import Fault, ProviderServer

TEXTS = ["the cat sat", "a dog", "rivers run to the sea"]


@pytest.fixture(scope="module")
def loopback() -> Iterator[ProviderServer]:
    with ProviderServer(size=16) as server:
        yield server


@pytest.fixture
def server(loopback, monkeypatch):
    loopback.requests.clear()
    send_to(loopback, monkeypatch)
    return loopback


@pytest.fixture(params=SPECS)
def spec(request):
    return request.param


@pytest.fixture
def waits():
    return []


@pytest.fixture
def embedder(server, spec, waits):
    made = providers.make_embedder(spec)
    return Embedder(made.embeddings, name=made.name, sleep=waits.append)


def right_vectors(texts):
    vectors = np.array(FakeEmbeddings(16).embed_documents(texts))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def assert_right(vectors, texts=TEXTS):
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, right_vectors(texts), atol=1e-6)


def test_a_healthy_provider_is_asked_once(server, embedder, waits):
    assert_right(embedder.embed_texts(TEXTS))
    assert (len(server.requests), waits) == (1, [])


def test_a_query_has_the_vector_of_its_text(embedder):
    assert_right(embedder.embed_query(TEXTS[0])[None], TEXTS[:1])


def test_the_key_is_sent_and_texts_are_not_turned_into_token_ids(server, embedder, spec):
    embedder.embed_query("plain words")
    (request,) = server.requests
    assert "plain words" in str(request.body)
    sent = request.headers.get("authorization", "") + request.headers.get("x-goog-api-key", "")
    assert (KEY in sent) is not spec.startswith("ollama")


@pytest.mark.parametrize(
    ("fault", "expected_wait"),
    [
        # Ollama and Gemini keep the answer's headers in a cause of what they raise.
        pytest.param(faults.RATE_LIMITED, 3.0, id="429"),
        pytest.param(faults.SERVER_ERROR, 0.5, id="500"),
        pytest.param(faults.SILENT, 0.5, id="timeout"),
        pytest.param(faults.DROPPED, 0.5, id="dropped"),
    ],
)
def test_a_passing_fault_is_retried(server, embedder, waits, fault, expected_wait):
    server.fail(fault)
    assert_right(embedder.embed_texts(TEXTS))
    assert (len(server.requests), waits) == (2, [expected_wait])


@pytest.mark.parametrize(
    "fault",
    [faults.MALFORMED, faults.SHORT_ANSWER, faults.EMPTY_ANSWER],
    ids=["malformed", "short", "empty"],
)
def test_one_senseless_answer_costs_calls_and_nothing_else(server, embedder, fault):
    server.fail(fault)
    assert_right(embedder.embed_texts(TEXTS))


def test_numbers_that_are_not_finite_never_become_a_vector(server, embedder):
    server.fail(faults.NOT_A_NUMBER)
    vectors, errors = embedder.embed_salvaging(TEXTS)
    for i in set(range(len(TEXTS))) - set(errors):
        np.testing.assert_allclose(vectors[i], right_vectors(TEXTS)[i], atol=1e-6)
    for i, error in errors.items():
        assert not vectors[i].any()
        assert TEXTS[i] not in str(error)


@pytest.mark.parametrize(
    ("fault", "calls", "retryable"),
    [
        pytest.param(faults.RATE_LIMITED, 4, True, id="429"),
        pytest.param(faults.SERVER_ERROR, 8, True, id="500-probe-too"),
        pytest.param(faults.DROPPED, 4, True, id="dropped"),
        pytest.param(faults.UNAUTHORIZED, 1, False, id="401"),
        pytest.param(Fault(status=404), 1, False, id="404"),
        pytest.param(Fault(status=400), 2, False, id="400-probe-too"),
    ],
)
def test_a_lasting_fault_ends_in_one_error_for_all_texts(server, embedder, fault, calls, retryable):
    server.fail(*[fault] * calls)
    with pytest.raises(EmbeddingError) as caught:
        embedder.embed_texts(TEXTS)
    assert len(server.requests) == calls
    assert caught.value.retryable is retryable
    assert embedder.name in str(caught.value)
    assert KEY not in str(caught.value)
    if fault.status:
        assert f"status {fault.status}" in str(caught.value)


@pytest.mark.parametrize(
    ("fault", "calls"),
    [
        (faults.UNAUTHORIZED, 1),
        (faults.SHORT_ANSWER, 0),
        (faults.EMPTY_ANSWER, 1),
        (faults.NOT_A_NUMBER, 1),
    ],
    ids=["401", "short", "empty", "nan"],
)
def test_a_query_fails_with_an_error_or_is_right(server, embedder, fault, calls):
    server.fail(*[fault] * calls)
    if calls:
        with pytest.raises(EmbeddingError):
            embedder.embed_query(TEXTS[0])
    assert_right(embedder.embed_query(TEXTS[0])[None], TEXTS[:1])


def test_a_refused_connection_says_where_the_provider_was_looked_for(server, spec, monkeypatch):
    for variable in ("OPENAI_API_BASE", "GOOGLE_GEMINI_BASE_URL", "OLLAMA_HOST"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")  # the discard port: nobody listens
    made = providers.make_embedder(spec)
    embedder = Embedder(made.embeddings, name=made.name, sleep=lambda seconds: None)
    with pytest.raises(EmbeddingError) as caught:
        embedder.embed_query("anyone there?")
    assert caught.value.retryable
    if spec.startswith("ollama"):
        assert "Is Ollama running at http://127.0.0.1:9?" in str(caught.value)


def test_the_wrong_key_names_its_variable(server, embedder, spec):
    server.fail(faults.UNAUTHORIZED)
    with pytest.raises(EmbeddingError) as caught:
        embedder.embed_query("hello")
    variable = {
        "openai": "OPENAI_API_KEY",
        "google_genai": "GOOGLE_API_KEY",
        "ollama": "OLLAMA_API_KEY",
    }
    assert variable[spec.partition(":")[0]] in str(caught.value)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_the_loopback_server_also_chats(server, spec, stream):
    chat = chat_model(spec, server.url)
    text = "".join(c.text for c in chat.stream("hi")) if stream else chat.invoke("hi").text
    assert text == "a reply"
