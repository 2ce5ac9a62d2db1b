"""Absurd numbers are refused by name, wherever they are given."""

import inspect
import re
from datetime import timedelta
from math import inf, nan

import numpy as np
import pytest
from langchain_core.messages import HumanMessage

from langchain_memengine import compact_messages, get_memory_stats, given, memory_flush
from langchain_memengine.config import MemEngineConfig, load_config
from langchain_memengine.conversation.sessions import MemorySessions
from langchain_memengine.engine.memory_engine import MemoryEngine
from langchain_memengine.errors import ConfigurationError
from langchain_memengine.graph.knowledge_graph import KnowledgeGraph
from langchain_memengine.knowledge.experience import ExperienceStore
from langchain_memengine.rankings import RANKINGS, Ranking
from tests.fakes.clock import START
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine

HUGE = 10**5000  # more digits than Python writes
NUMBERS = (10**30, HUGE, -(10**30), -1, inf, -inf, nan, True, "3", None, [])
WHOLE = (*NUMBERS, 2.5, 3.0, np.float64(3))
AGES = (*NUMBERS, timedelta(days=-1), timedelta.min, timedelta.max, timedelta(days=365_001))


def shown(value):
    """Return the name of a case."""
    return "huge" if value is HUGE else repr(value)


@pytest.mark.parametrize("value", WHOLE, ids=shown)
def test_what_is_no_whole_number_is_refused(value):
    with pytest.raises(ConfigurationError, match=r"^limit=.* must be a whole number from 0 to 2,1"):
        given.whole("limit", value)


def test_a_whole_number_of_another_library_becomes_pythons_own():
    assert type(given.whole("limit", np.int64(3))) is int
    assert given.whole("limit", 0) == 0
    assert given.whole("limit", given.MOST) == 2**31 - 1
    with pytest.raises(ConfigurationError, match=r"^k=0 must be a whole number from 1 to 9\.$"):
        given.whole("k", 0, least=1, most=9)


@pytest.mark.parametrize("value", NUMBERS, ids=shown)
def test_what_is_no_number_is_refused(value):
    with pytest.raises(ConfigurationError, match=r"^days=.* must be a number from 0 to 2,147"):
        given.real("days", value)


def test_a_number_becomes_pythons_own():
    assert type(given.real("days", np.float32(0.5))) is float
    assert given.real("days", 1) == 1.0


@pytest.mark.parametrize("value", AGES, ids=shown)
def test_what_is_no_age_is_refused(value):
    with pytest.raises(ConfigurationError, match=r"^age=.* must be a timedelta from 0 to 365,000"):
        given.age("age", value)


def test_an_age_is_as_it_was():
    assert given.age("age", timedelta(days=365_000)) == timedelta(days=365_000)
    assert given.age("age", timedelta()) == timedelta()


# Every public call

ABSURD = {"int": WHOLE, "float": NUMBERS, "timedelta": AGES}
OTHERS = {
    "query": "tea",
    "chunk_id": "tea",
    "name": "Anna",
    "names": ["Anna"],
    "source": "Anna",
    "target": "Bert",
    "intent": "brew tea",
    "solution": 1,
}
"""What else a call needs; a new call may need more."""


def numbers_of(kind):
    """Return (call, argument, its type) for all numbers that the public calls of a class take."""
    return [
        (kind, name, parameter.name, found[0], "None" in str(parameter.annotation))
        for name, call in inspect.getmembers(kind, inspect.isfunction)
        if not (name.startswith("_") or inspect.iscoroutinefunction(call))
        for parameter in inspect.signature(call).parameters.values()
        if (found := re.findall(r"^(int|float|timedelta)\b", str(parameter.annotation)))
    ]


CALLS = [
    one
    for kind in (MemoryEngine, ExperienceStore, KnowledgeGraph, MemorySessions)
    for one in numbers_of(kind)
]


@pytest.fixture(scope="module")
def owners():
    with make_engine() as engine:
        engine.add_texts(["tea"], ids=["tea"])
        engine.graph.add_triples([("Anna", "knows", "Bert")])
        sessions = engine.sessions()
        parts = (engine, engine.experiences, engine.graph, sessions)
        yield {type(one): one for one in parts}, {**OTHERS, "session": sessions.create("t", ["*"])}


def test_the_public_calls_are_found():
    assert (MemoryEngine, "vacuum", "archive_older_than", "timedelta", True) in CALLS
    assert (ExperienceStore, "apply_decay", "half_life_days", "float", False) in CALLS
    assert len(CALLS) >= 24


@pytest.mark.parametrize(("kind", "call", "name", "of", "may_lack"), CALLS)
def test_every_public_call_refuses_absurd_numbers_by_name(owners, kind, call, name, of, may_lack):
    parts, others = owners
    called = getattr(parts[kind], call)
    needed = {
        one.name: others[one.name]
        for one in inspect.signature(called).parameters.values()
        if one.default is one.empty and one.name != name and one.kind is not one.VAR_KEYWORD
    }
    for value in ABSURD[of]:
        if not (value is None and may_lack):
            with pytest.raises(ConfigurationError, match=f"^{name}=.* must be "):
                called(**{**needed, name: value})


# Every setting


def numeric_settings(model):
    return [
        name
        for name, field in model.model_fields.items()
        if re.findall(r"\b(int|float)\b", str(field.annotation)) and name != "alpha"
    ]


@pytest.mark.parametrize("name", numeric_settings(MemEngineConfig))
def test_every_setting_refuses_absurd_numbers_by_name(name):
    for value in (10**30, HUGE, -(10**30), inf, -inf, nan, True, "inf", "nan", []):
        with pytest.raises(ConfigurationError, match=f"{name}: "):
            load_config(**{name: value})


@pytest.mark.parametrize("name", numeric_settings(Ranking))
def test_every_number_of_a_ranking_refuses_absurd_ones(name):
    for value in (10**30, -(10**30), inf, nan, True):
        ranking = {**RANKINGS["balanced"].model_dump(), name: value}
        with pytest.raises(ConfigurationError, match=rf"ranking\.{name}: "):
            load_config(ranking=ranking)


@pytest.mark.parametrize(
    "name", sorted(set(numeric_settings(MemEngineConfig)) - {"overlap_tokens"})
)
def test_an_engine_works_with_the_largest_number_of_each_setting(name):
    limits = [one.le for one in MemEngineConfig.model_fields[name].metadata if hasattr(one, "le")]
    with make_engine(**{name: min(limits)}) as engine:
        engine.add_texts(["tea"])
        assert [hit.text for hit in engine.search("tea").hits] == ["tea"]
        engine.consolidate(fold=True)
        engine.run_jobs()


@pytest.mark.parametrize("vector_search", ["exact", "chroma"])
def test_the_largest_number_of_hits_is_all_hits(tmp_path, vector_search):
    with make_engine(tmp_path, vector_search=vector_search, embeddings=FakeEmbeddings()) as engine:
        engine.add_texts(["tea", "milk"])
        for _ in range(2):
            found = engine.search("tea milk", given.MOST, max_chars=given.MOST)
            assert len(found.hits) == 2
            assert found.degraded == ()
            engine.wait_for_chroma()


@pytest.mark.parametrize(
    "wrong", ["hello", [("user", "hello")], [HumanMessage("a"), {"role": "user"}]]
)
def test_what_is_no_message_is_refused_wherever_messages_are_taken(wrong):
    with make_engine() as engine:
        for takes in (
            engine.learn,
            engine.experiences.record_tool_chain,
            engine.history("s").add,
            compact_messages,
            get_memory_stats,
            memory_flush,
            lambda messages: engine.archive.commit("t", "", "archive", messages, now=START),
        ):
            with pytest.raises(ConfigurationError, match="convert_to_messages"):
                takes(wrong)
