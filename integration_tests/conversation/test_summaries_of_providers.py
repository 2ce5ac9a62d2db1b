"""The three provider clients over loopback write summaries, or fail; no text is ever lost."""

import asyncio
from collections.abc import Iterator

import pytest
from langchain_core.messages import HumanMessage
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_ollama import ChatOllama
from langchain_openai import ChatOpenAI

from langchain_memengine.conversation.compaction import CompactionLimits
from langchain_memengine.conversation.context import acompact_messages, compact_messages
from tests.fakes import provider_server as faults
from tests.fakes.provider_server import ProviderServer

HISTORY = [HumanMessage("Kilns. ".ljust(400, "x"), id=f"h{number}") for number in range(5)]
LIMITS = CompactionLimits(max_tokens=400)
SECONDS = 0.5  # the silent server waits longer


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with ProviderServer(reply=lambda path, body: "Of kilns.") as server:
        yield server


@pytest.fixture(params=["openai", "google_genai", "ollama"])
def model(request, server):
    match request.param:
        case "openai":
            return ChatOpenAI(
                model="gpt-4o-mini",
                api_key="sk-secret",
                base_url=f"{server.url}/v1",
                max_retries=0,
                timeout=SECONDS,
            )
        case "google_genai":
            return ChatGoogleGenerativeAI(
                model="gemini-2.5-flash",
                api_key="sk-secret",
                base_url=server.url,
                max_retries=1,
                timeout=SECONDS,
            )
        case _:
            return ChatOllama(
                model="llama3.1", base_url=server.url, client_kwargs={"timeout": SECONDS}
            )


# google-genai subclasses aiohttp's session, which aiohttp warns of.
@pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning")
def test_provider_writes_the_summary(model):
    result = compact_messages(HISTORY, model, limits=LIMITS)
    assert (result.summary, result.note) == ("Of kilns.", "")
    assert asyncio.run(acompact_messages(HISTORY, model, limits=LIMITS)) == result


@pytest.mark.parametrize(
    "fault",
    [
        faults.SERVER_ERROR,
        faults.UNAUTHORIZED,
        faults.SILENT,
        faults.DROPPED,
        faults.MALFORMED,
    ],
    ids=["500", "401", "silent", "dropped", "malformed"],
)
def test_failing_provider_costs_no_text(server, model, fault):
    server.fail(*[fault] * 3)
    result = compact_messages(HISTORY, model, limits=LIMITS)
    assert list(result.messages) == HISTORY
    assert "Nothing was trimmed this time." in result.note
    assert "secret" not in result.note


@pytest.mark.parametrize("reply", ["", " \n", "word " * 1000, "I'm sorry, I can't help with that."])
def test_useless_reply_costs_no_text(server, model, reply):
    server.reply = lambda path, body: reply
    result = compact_messages(HISTORY, model, limits=LIMITS)
    assert list(result.messages) == HISTORY
    assert "Nothing was trimmed this time." in result.note
