"""A reply as a model sends it: one question, and what is sound of the reply is kept."""

import json

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from langchain_memengine.errors import ChatModelError, ExtractionError
from langchain_memengine.graph.asking import told_extractor
from tests.fakes.chat_models import ScriptedChatModel

PROMPT = [HumanMessage("Anna knows Bert.")]
KNOWS = {"source": "Anna", "type": "knows", "target": "Bert"}
TOLD = ["Anna —knows→ Bert"]


def ask(*replies):
    model = ScriptedChatModel(replies=list(replies))
    found = told_extractor(model).ask(PROMPT)
    return [str(one) for one in found.relations], len(found.rejected), len(model.calls)


@pytest.mark.parametrize(
    ("reply", "rejected"),
    [
        ([KNOWS, {"source": None, "type": "knows", "target": "Bert"}], 1),
        ({"entities": "[]", "relations": json.dumps([KNOWS, ["Anna"]])}, 1),
        ({"relations": [{**KNOWS, "type": {"name": "knows"}}, {**KNOWS, "type": {}}]}, 1),
        ({"nodes": [{"id": None}, {"id": "Anna"}], "relationships": [KNOWS]}, 1),
        ({"triplets": [{"head": "Anna", "predicate": "knows", "tail": "Bert"}, 7]}, 1),
        ({"entities": [], "relations": [KNOWS], "reasoning": ["no", "text"]}, 0),
    ],
)
def test_a_malformed_reply_loses_only_its_bad_triples(reply, rejected):
    assert ask(json.dumps(reply)) == (TOLD, rejected, 1)
    if isinstance(reply, dict):
        assert ask(reply) == (TOLD, rejected, 1)


@pytest.mark.parametrize(
    "reply",
    [
        f"<think>{{}} or []?</think>{json.dumps([KNOWS])}",
        f"Sure:\n```json\n{json.dumps({'relations': [KNOWS]})}\n```",
        '{"relations": [["Anna", "knows", "Bert"], ["Bert", "kno',
    ],
)
def test_thoughts_prose_and_a_reply_that_breaks_off_are_no_hindrance(reply):
    assert ask(reply) == (TOLD, 0, 1)


def test_what_tells_nothing_is_asked_for_once_more_and_then_an_error():
    assert ask({"answer": 42}, {"relations": [KNOWS]}) == (TOLD, 0, 2)
    with pytest.raises(ExtractionError, match="has neither entities nor relations"):
        ask("I had rather not.", {"answer": 42})


def test_a_refusal_is_no_empty_answer():
    with pytest.raises(ChatModelError, match="refused"):
        ask(AIMessage("", additional_kwargs={"refusal": "No."}))
