"""Three clients, eleven faults, embeddings and chat: nothing crashes, is lost, or is made up."""

from datetime import UTC, datetime

import numpy as np
import pytest
from langchain_core.messages import AIMessage, HumanMessage

from integration_tests.models.clients import KEY, SPECS, chat_model, send_to
from langchain_memengine import CompactionLimits, summarization_node
from tests.fakes import provider_server as faults
from tests.fakes.clock import FixedClock
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine, texts
from tests.fakes.provider_server import Fault, ProviderServer

LASTING = 200
"""Requests that fail: more than there will be."""

TEXTS = ["the cat sat", "a dog barks", "rivers run to the sea"]
NOTE = "a note about otters"
QUERY = "cat dog rivers otters"
REFUSED = b'{"error": {"message": "This violates our policy.", "code": "content_policy_violation"}}'
GARBAGE = b'{"data": "none", "embedding": 7, "candidates": {"a": [null]}, "message": ["x"]}'

EMBEDDING_FAULTS = {
    "429": faults.RATE_LIMITED,
    "500": faults.SERVER_ERROR,
    "401": faults.UNAUTHORIZED,
    "timeout": faults.SILENT,
    "drop": faults.DROPPED,
    "malformed": faults.MALFORMED,
    "short": faults.SHORT_ANSWER,
    "not a number": faults.NOT_A_NUMBER,
    "empty": faults.EMPTY_ANSWER,
    "refusal": Fault(status=400, body=REFUSED),
    "garbage": Fault(body=GARBAGE),
}
EMBEDDINGS, CHATS = "provider faults, embeddings", "provider faults, chat"


@pytest.fixture(scope="module")
def loopback():
    with ProviderServer(size=16, reply=lambda path, body: "Ann asked about kilns.") as server:
        yield server


@pytest.fixture
def server(loopback, monkeypatch):
    loopback.requests.clear()
    loopback.recover()
    send_to(loopback, monkeypatch)
    yield loopback
    loopback.recover()


@pytest.fixture(params=SPECS)
def spec(request):
    return request.param


def engine_on(root, spec, clock, waits):
    engine = make_engine(
        root,
        embeddings=spec,
        clock=clock,
        embedding_attempts=2,
        sync_on_search=False,
        vector_search="exact",
    )
    engine._embedding._embedder._sleep = waits.append
    return engine


def assert_right(result, query):
    """Compare every cosine with that of the vectors worked out here; return whose they are."""
    found = {hit.text: hit.cosine for hit in result.hits if hit.cosine is not None}
    asked, *vectors = map(np.array, FakeEmbeddings(16).embed_documents([query, *found]))
    for cosine, vector in zip(found.values(), vectors, strict=True):
        expected = asked @ vector / np.linalg.norm(asked) / np.linalg.norm(vector)
        assert cosine == pytest.approx(expected, abs=1e-5)
    return found.keys()


@pytest.mark.parametrize("knows_its_model", [False, True], ids=["first", "later"])
@pytest.mark.parametrize("kind", EMBEDDING_FAULTS)
def test_embeddings_that_cannot_be_had_are_made_up_for(
    server, spec, kind, knows_its_model, tmp_path, record_property
):
    record_property("figures", (EMBEDDINGS, {"tried": 1}))
    clock, waits = FixedClock(datetime(2026, 5, 19, tzinfo=UTC)), []
    with engine_on(tmp_path, spec, clock, waits) as engine:
        if knows_its_model:
            engine.add_texts(["known before"])
        server.fail(*[EMBEDDING_FAULTS[kind]] * LASTING)
        engine.add_texts(TEXTS)
        (tmp_path / "note.md").write_text(NOTE)
        report = engine.sync()
        assert (report.indexed, report.failed) == (1, ())
        result = engine.search(QUERY, 10)
        assert {*TEXTS, NOTE} <= set(texts(result))
        assert KEY not in str(report) + str(result)
        if kind == "short":  # one vector for several texts: asked for one text, it is right
            assert (report.complete, result.degraded) == (True, ())
        else:
            assert (report.complete, report.pending) == (False, 4)
            assert any("could not embed" in n or "returned" in n for n in report.degraded), report
            assert any(note.startswith("vector:") for note in result.degraded), result
            assert assert_right(result, QUERY) == set()
            assert [(job.kind, job.state) for job in engine.jobs()] == [("embed", "ready")]
            assert engine.run_jobs().done == 0  # it fails as well, and waits

        server.recover()
        clock.pass_days(1)
        engine.run_jobs()
        result = engine.search(QUERY, 10)
        assert {*TEXTS, NOTE} <= assert_right(result, QUERY)
        assert (result.degraded, engine.jobs("ready"), engine.sync().complete) == ((), [], True)
        assert engine.stats().refused == 0
    record_property("figures", (EMBEDDINGS, {"made up for": 1, "wrong vectors": 0}))


# Chat


TALK = [
    HumanMessage("Please tell me about kilns and how hot they become when fired.", id="1"),
    AIMessage("A kiln is an oven for pottery; stoneware is fired at about 1,280 degrees.", id="2"),
    HumanMessage("And how long does it take to cool down before I may open it?", id="3"),
    AIMessage("A day or two. Opened too early, the pots may crack from the shock.", id="4"),
    HumanMessage("Thank you. What about glazes that run off the pot in the firing?", id="5"),
    AIMessage("Leave the foot of each pot bare, and put it on a shelf with kiln wash.", id="6"),
]
SUMMARY = "Ann asked about kilns."
CHAT_FAULTS = {
    **{name: EMBEDDING_FAULTS[name] for name in ("429", "500", "401", "timeout", "drop")},
    "malformed": Fault(body=b'{"choices": [{"message": {"content": "half an ans'),
    "short": Fault(body=b'{"model": "m", "choices": [], "candidates": [], "done": true}'),
    "not a number": float("nan"),
    "empty": "",
    "refusal": "I'm sorry, but I can't help with that.",
    "garbage": Fault(body=GARBAGE),
}


def removed(update):
    return [message.id for message in update.get("messages", ())]


@pytest.mark.parametrize("kind", CHAT_FAULTS)
def test_a_summary_that_cannot_be_had_costs_no_message(
    server, spec, kind, tmp_path, record_property, monkeypatch
):
    """Within the hard limit nothing is trimmed; beyond it, the archive has every word."""
    record_property("figures", (CHATS, {"tried": 1}))
    fault = CHAT_FAULTS[kind]
    if isinstance(fault, Fault):
        server.fail(*[fault] * LASTING)
    else:
        monkeypatch.setattr(server, "reply", lambda path, body: fault)
    state = {"messages": TALK}
    config = {"configurable": {"thread_id": "t"}}
    with make_engine(tmp_path) as engine:
        model = chat_model(spec, server.url)
        node = summarization_node(engine, model, limits=CompactionLimits(max_tokens=90))
        update = node.invoke(state, config)
        assert "chat model" in update["memory_note"].lower()
        assert (removed(update), update.get("summary")) == ([], None)
        assert "Nothing was trimmed" in update["memory_note"]
        assert KEY not in str(update)
        assert engine.search("kilns pottery pots").hits == ()

        strict = CompactionLimits(max_tokens=90, hard_limit=91)
        beyond = {"configurable": {"thread_id": "beyond"}}
        update = summarization_node(engine, model, limits=strict).invoke(state, beyond)
        assert "without it" in update["memory_note"]
        assert update["summary"]
        assert [m.id for m in engine.restore("beyond")] == removed(update) != []
        assert engine.restore("beyond") == TALK[: len(removed(update))]

        server.recover()
        monkeypatch.undo()
        update = node.invoke(state, config)
        assert SUMMARY in update["summary"]
        assert engine.restore("t") == TALK[: len(removed(update))]
    record_property("figures", (CHATS, {"survived": 1, "messages lost": 0}))
