"""The graph extraction through the three real chat clients, over loopback."""

import json

import pytest

from langchain_memengine.faces.graph_nodes import graph_extraction
from tests.fakes.engines import make_engine
from tests.fakes.provider_server import SERVER_ERROR, ProviderServer

GOOD = {
    "reasoning": "About Anna.",
    "entities": [{"name": "Anna", "type": "Person", "aliases": []}],
    "relations": [{"source": "Anna", "type": "knows", "target": "Bert", "confidence": 1.0}],
}
ODD = [{"subject": "Anna", "predicate": "knows", "object": "Bert"}, {"subject": None}]


def openai(url):
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(model="gpt", api_key="x", base_url=f"{url}/v1", max_retries=0)


def gemini(url):
    from langchain_google_genai import ChatGoogleGenerativeAI

    return ChatGoogleGenerativeAI(model="gemini", api_key="x", base_url=url, max_retries=1)


def ollama(url):
    from langchain_ollama import ChatOllama

    return ChatOllama(model="llama", base_url=url)


@pytest.fixture
def server():
    with ProviderServer() as server:
        yield server


@pytest.fixture(params=[openai, gemini, ollama])
def learn(request, server):
    with make_engine() as engine:
        graph = graph_extraction(engine, request.param(server.url), retry_seconds=0.01)

        def learnt():
            counts = graph.invoke({"text": "Anna knows Bert."})["graph_counts"]
            return counts, [str(one) for one in engine.graph.neighbours("Anna").relations]

        yield learnt


def test_a_reply_in_the_schema_is_learnt(server, learn):
    server.reply = lambda path, body: json.dumps(GOOD)
    counts, relations = learn()
    assert relations == ["Anna —knows→ Bert"]
    assert (counts["rejected"], len(server.requests)) == (0, 1)


def test_a_reply_that_fits_no_schema_keeps_what_it_tells(server, learn):
    server.reply = lambda path, body: json.dumps({"triples": ODD})
    counts, relations = learn()
    assert relations == ["Anna —knows→ Bert"]
    assert counts["rejected"] == 1


def test_prose_is_asked_for_once_more(server, learn):
    replies = iter(["Well, Anna seems to know Bert.", json.dumps(GOOD)])
    server.reply = lambda path, body: next(replies)
    counts, relations = learn()
    assert relations == ["Anna —knows→ Bert"]
    assert (counts["rejected"], len(server.requests)) == (0, 2)


def test_an_outage_is_waited_out(server, learn):
    server.reply = lambda path, body: json.dumps(GOOD)
    server.fail(SERVER_ERROR)
    _, relations = learn()
    assert relations == ["Anna —knows→ Bert"]
