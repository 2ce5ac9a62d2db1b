"""Structured replies of the three provider clients over loopback: good, bad and none."""

import json
from collections.abc import Iterator

import pytest
from pydantic import BaseModel

from langchain_memengine.errors import ChatModelError, ExtractionError
from langchain_memengine.models import chat_providers
from langchain_memengine.models.extracting import Extractor
from tests.fakes.provider_server import DROPPED, MALFORMED, SILENT, Fault, ProviderServer

SPECS = ("openai:small", "google_genai:gemini-2.5-flash", "ollama:llama3.1:8b")
SHAPED = {  # where each provider is told the schema
    "openai": lambda body: body["response_format"]["json_schema"]["schema"],
    "google_genai": lambda body: body["generationConfig"]["responseJsonSchema"],
    "ollama": lambda body: body["format"],
}
KEY = "sk-secret"


class Place(BaseModel):
    name: str
    since: int


class Places(BaseModel):
    """Where somebody lived."""

    reasoning: str
    places: list[Place]


GOOD = {"reasoning": "r", "places": [{"name": "Köln", "since": 1999}, {"name": "東京", "since": 5}]}


@pytest.fixture(scope="module")
def loopback() -> Iterator[ProviderServer]:
    with ProviderServer() as server:
        yield server


@pytest.fixture
def server(loopback, monkeypatch):
    loopback.requests.clear()
    loopback.recover()
    loopback.reply = lambda path, body: json.dumps(GOOD)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_BASE", f"{loopback.url}/v1")
    monkeypatch.setenv("GOOGLE_API_KEY", KEY)
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", loopback.url)
    monkeypatch.setenv("OLLAMA_HOST", loopback.url)
    monkeypatch.setattr(chat_providers, "REQUEST_TIMEOUT_SECONDS", 0.3)
    return loopback


@pytest.fixture(params=SPECS)
def spec(request):
    return request.param


@pytest.fixture
def extractor(server, spec):
    model = chat_providers.make_chat_model(spec)
    return Extractor(model, Places, sleep=lambda seconds: None)


def ask(extractor):
    return extractor.ask([("human", "Where did they live?")])


def test_schema_is_sent_and_the_reply_is_the_value(server, extractor, spec):
    assert ask(extractor).model_dump() == GOOD
    (request,) = server.requests
    schema = SHAPED[spec.partition(":")[0]](request.body)
    assert list(schema["properties"]) == ["reasoning", "places"]
    assert "$ref" not in json.dumps(schema)


# Google's client subclasses what aiohttp would rather not have subclassed.
@pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning")
async def test_async_client_does_the_same(server, extractor):
    assert (await extractor.aask([("human", "Where?")])).model_dump() == GOOD


def test_ways_that_a_model_refuses_are_followed_by_others(server, extractor):
    for refused in range(4):
        server.requests.clear()
        server.fail(*[Fault(status=400)] * refused)
        fresh = Extractor(extractor._ways[-1].model, Places)
        assert ask(fresh).model_dump() == GOOD
        assert len(server.requests) == refused + 1


def test_tools_are_the_second_way(server, extractor):
    server.fail(Fault(status=400))
    ask(extractor)
    assert server.requests[1].body.get("tools")


@pytest.mark.parametrize(
    ("reply", "names"),
    [
        (f"```json\n{json.dumps(GOOD)}\n```", ["Köln", "東京"]),
        (json.dumps(GOOD)[:-30], ["Köln"]),
        (json.dumps(GOOD["places"]), ["Köln", "東京"]),
        ('{"places": [{"name": "Köln", "since": 1999}, {"name": "x"}]}', ["Köln"]),
    ],
    ids=["fenced", "cut", "bare list", "bad entry"],
)
def test_what_is_sound_of_a_malformed_reply_is_kept(server, extractor, reply, names):
    server.reply = lambda path, body: reply
    assert [place.name for place in ask(extractor).places] == names
    assert len(server.requests) == 1


def test_useless_reply_is_repaired_once(server, extractor):
    replies = iter(["No idea.", json.dumps(GOOD)])
    server.reply = lambda path, body: next(replies)
    assert ask(extractor).model_dump() == GOOD
    assert "no JSON object" in json.dumps(server.requests[1].body)


@pytest.mark.parametrize("reply", ["", "I found nothing.", '{"places": 5}'])
def test_useless_replies_are_an_error(server, extractor, reply):
    server.reply = lambda path, body: reply
    with pytest.raises(ExtractionError):
        ask(extractor)
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    "fault", [Fault(status=429), Fault(status=500), SILENT, DROPPED, MALFORMED],
    ids=["429", "500", "silent", "dropped", "malformed"],
)  # fmt: skip
def test_fault_that_passes_costs_a_call(server, extractor, fault):
    server.fail(fault)
    assert ask(extractor).model_dump() == GOOD
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("fault", "calls", "retryable"),
    [(Fault(status=500), 4, True), (Fault(status=401), 1, False), (DROPPED, 4, True)],
    ids=["500", "401", "dropped"],
)
def test_lasting_fault_is_one_error_without_the_key(server, extractor, fault, calls, retryable):
    server.fail(*[fault] * calls)
    with pytest.raises(ChatModelError) as caught:
        ask(extractor)
    assert caught.value.retryable is retryable
    assert len(server.requests) == calls
    assert KEY not in str(caught.value)
