"""Any chat model, asked for a value: ways of asking, one repair, failures with a name."""

import asyncio
import json

import pytest
from langchain_core.exceptions import OutputParserException
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableLambda
from langgraph.errors import GraphBubbleUp
from pydantic import BaseModel

from langchain_memengine.errors import ChatModelError, ExtractionError
from langchain_memengine.models.extracting import Extractor
from tests.fakes.chat_models import ScriptedChatModel

PROMPT = [HumanMessage("What is there?")]


class Word(BaseModel):
    text: str


class Words(BaseModel):
    """Some words."""

    reasoning: str
    words: list[Word]


class StatusError(Exception):
    def __init__(self, status):
        self.status_code = status


GOOD = {"reasoning": "r", "words": [{"text": "тест"}]}
FOUND = Words(reasoning="r", words=[Word(text="тест")])


def extractor(model, waits=None):
    return Extractor(model, Words, sleep=(waits if waits is not None else []).append)


def scripted(*replies):
    return ScriptedChatModel(replies=list(replies))


@pytest.mark.parametrize("reply", [GOOD, json.dumps(GOOD)], ids=["called", "told"])
def test_good_reply_is_its_value(reply):
    model = scripted(reply)
    assert extractor(model).ask(PROMPT) == FOUND
    assert asyncio.run(extractor(model).aask(PROMPT)) == FOUND
    assert len(model.calls) == 2


def test_any_runnable_is_told_the_schema():
    seen = []

    def model(messages):
        seen.append(messages[-1].text)
        return json.dumps(GOOD)

    assert extractor(RunnableLambda(model)).ask(PROMPT) == FOUND
    assert "JSON" in seen[0]
    assert '"words"' in seen[0]
    assert "$ref" not in seen[0]


def test_bad_reply_is_sent_back_once_with_what_is_wrong():
    model = scripted("Nothing.", GOOD)
    assert extractor(model).ask(PROMPT) == FOUND
    asked, answered, again = model.calls[1]
    assert asked == PROMPT[0]
    assert answered == AIMessage("Nothing.")
    assert "no JSON object" in again.text


@pytest.mark.parametrize("reply", ["", "No.", {"words": 5}, {"words": [{"text": 5}]}])
def test_second_bad_reply_is_an_error_that_names_the_shape(reply):
    model = scripted(reply)
    with pytest.raises(ExtractionError, match="as a Words") as caught:
        extractor(model).ask(PROMPT)
    assert caught.value.retryable is False
    assert len(model.calls) == 2


def test_client_that_reads_replies_itself_is_asked_again():
    model = scripted(OutputParserException("secret words"), GOOD)
    assert extractor(model).ask(PROMPT) == FOUND
    assert "secret" not in model.calls[1][-1].text


def test_way_that_a_model_does_not_know_is_followed_by_the_next_one():
    def plain_words_only(messages):
        told = "JSON schema" in str(messages[-1].text)
        return json.dumps(GOOD) if told else StatusError(400)

    model = ScriptedChatModel(replies=plain_words_only)
    asking = extractor(model)
    assert asking.ask(PROMPT) == FOUND
    assert len(model.calls) == 3
    assert asking.ask(PROMPT) == FOUND  # what it does not know is not tried again
    assert len(model.calls) == 4


@pytest.mark.parametrize("error", [StatusError(400), StatusError(422), NotImplementedError()])
def test_every_sign_of_a_way_it_does_not_know_counts(error):
    assert extractor(scripted(error, GOOD)).ask(PROMPT) == FOUND


def test_text_that_no_way_can_ask_about_costs_later_ones_nothing():
    model = scripted(*[StatusError(400)] * 4, GOOD)
    asking = extractor(model)
    with pytest.raises(ChatModelError, match=r"StatusError \(400\)"):
        asking.ask(PROMPT)
    assert asking.ask(PROMPT) == FOUND
    assert len(model.calls) == 5


@pytest.mark.parametrize("error", [StatusError(429), StatusError(503), TimeoutError()])
def test_failure_that_passes_is_waited_for(error):
    waits = []
    model = scripted(error, error, GOOD)
    assert extractor(model, waits).ask(PROMPT) == FOUND
    assert waits == [0.5, 1.0]
    model = scripted(error, error, GOOD)
    assert asyncio.run(extractor(model, waits).aask(PROMPT)) == FOUND
    assert waits == [0.5, 1.0] * 2


@pytest.mark.parametrize(
    ("error", "calls", "retryable"),
    [(StatusError(500), 4, True), (StatusError(401), 1, False), (KeyError("key"), 1, False)],
)
def test_failure_that_lasts_has_a_name_and_says_whether_it_may_pass(error, calls, retryable):
    model = scripted(error)
    with pytest.raises(ChatModelError, match=type(error).__name__) as caught:
        extractor(model).ask(PROMPT)
    assert caught.value.retryable is retryable
    assert len(model.calls) == calls
    with pytest.raises(ChatModelError):
        asyncio.run(extractor(model).aask(PROMPT))


def test_refusal_is_final():
    model = scripted(AIMessage("", response_metadata={"finish_reason": "SAFETY"}))
    with pytest.raises(ChatModelError, match="refused"):
        extractor(model).ask(PROMPT)
    assert len(model.calls) == 1


def test_graph_that_pauses_when_asked_has_not_failed():
    def pause(messages):
        raise GraphBubbleUp

    with pytest.raises(GraphBubbleUp):
        extractor(RunnableLambda(pause)).ask(PROMPT)
