"""The engine behind LangChain's retriever interface."""

from datetime import timedelta
from types import SimpleNamespace

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import ConfigurableField, RunnableLambda, RunnablePassthrough
from langchain_core.tools import create_retriever_tool
from langgraph.graph import StateGraph
from pydantic import ValidationError

from langchain_memengine import MemEngineRetriever
from langchain_memengine.errors import ConfigurationError, ScopeError
from langchain_memengine.rankings import RANKINGS
from langchain_memengine.types import Actor
from tests.fakes.clock import START
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine, write


@pytest.fixture
def engine(tmp_path):
    write(tmp_path, "notes.md", "# Drinks\n\ntea from the file\n", at=START - timedelta(days=2))
    with make_engine(tmp_path, embeddings=FakeEmbeddings()) as engine:
        engine.add_texts(
            [f"tea number{i}" for i in range(9)],
            [{"n": i} for i in range(9)],
            ids=list("abcdefghi"),
        )
        engine.add_texts(["tea of alice"], actor=Actor("alice"))
        engine.add_texts(["tea of bob"], actor=Actor("bob"))
        yield engine


@pytest.fixture
def retriever(engine):
    return MemEngineRetriever(engine=engine, k=4)


def contents(documents):
    return [document.page_content for document in documents]


# Documents


def test_what_no_document_can_tell_is_logged(retriever, engine, caplog):
    engine.sync()
    embedder = engine._embedding._required().embeddings
    embedder._faults = [ConnectionError()]
    (document, *_) = retriever.invoke("tea poorer")
    assert document.metadata["memengine"]["degraded"][0].startswith("vector: ")
    assert caplog.text == ""
    embedder._faults = [ConnectionError()]
    assert retriever.invoke("zzz") == []
    assert "nothing was found, and the search was poorer: vector: " in caplog.text


def test_document_is_the_hit_with_its_receipt(engine, retriever):
    documents = retriever.invoke("file")
    hit = engine.search("file", 4).hits[0]
    assert documents[0].id == hit.id
    assert documents[0].page_content == "# Drinks\n\ntea from the file"
    receipt = documents[0].metadata["memengine"]
    assert (receipt["path"], receipt["start_line"], receipt["end_line"]) == ("notes.md", 1, 3)
    assert (receipt["heading"], receipt["scope"], receipt["source"]) == (
        "Drinks",
        "global",
        hit.source,
    )
    assert (receipt["score"], receipt["bm25"], receipt["cosine"]) == (
        hit.score,
        hit.bm25,
        hit.cosine,
    )
    assert (receipt["keyword_rank"], receipt["vector_path"]) == (1, "exact")
    assert receipt["event_at"] == "2026-05-17T12:00:00+00:00"
    assert (receipt["age_days"], receipt["ranking"], receipt["degraded"]) == (2.0, "balanced", [])


def test_metadata_is_the_memorys_own_beside_the_receipt(retriever):
    (document,) = retriever.invoke("number7", k=1)
    assert set(document.metadata) == {"n", "memengine"}
    assert document.metadata["n"] == 7


def test_degraded_search_says_so_in_every_document(engine, retriever):
    engine._embedding._required().embeddings._faults = [ConnectionError()] * 3
    documents = retriever.invoke("tea")
    assert len(documents) == 4
    for document in documents:
        assert document.metadata["memengine"]["degraded"][0].startswith("vector: ")


# Fields and arguments


def test_unknown_fields_and_arguments_are_rejected(engine, retriever):
    with pytest.raises(ValidationError, match="top_k"):
        MemEngineRetriever(engine=engine, top_k=3)
    with pytest.raises(ConfigurationError, match=r"no argument 'top_k'.*max_tokens"):
        retriever.invoke("tea", top_k=3)
    with pytest.raises(ConfigurationError, match="no argument 'engine'"):
        retriever.invoke("tea", engine=engine)
    with pytest.raises(ConfigurationError, match=r"k: .* greater than or equal to 0"):
        retriever.invoke("tea", k=-1)
    with pytest.raises(ValidationError, match="k"):
        retriever.k = -1
    with pytest.raises(ConfigurationError, match="'best'"):
        retriever.invoke("tea", ranking="best")


async def test_unknown_argument_is_rejected_by_ainvoke_too(retriever):
    with pytest.raises(ConfigurationError, match="no argument 'top_k'"):
        await retriever.ainvoke("tea", top_k=3)


CASES = [
    ({"k": 2}, 2),
    ({"k": 0}, 0),
    ({"k": None}, 6),
    ({"k": None, "ranking": "decsr"}, 8),
    ({"k": 50, "path": "*.md"}, 1),
    ({"k": 50, "source": "doc:*"}, 9),
    ({"k": 50, "scope": "personal"}, 0),
    ({"k": 50, "user_id": "alice", "scope": "personal"}, 1),
    ({"k": 50, "filter": {"n": {"$in": [1, 2]}}}, 2),
    ({"k": 50, "until": START}, 1),
    ({"k": 50, "since": START.replace(tzinfo=None)}, 9),
    ({"k": 50, "max_chars": 24, "source": "doc:*"}, 2),
    ({"k": 50, "max_tokens": 4, "source": "doc:*"}, 1),
    ({"k": 1, "ranking": RANKINGS["goclaw"]}, 1),
]


@pytest.mark.parametrize(("options", "count"), CASES)
async def test_fields_are_arguments_and_async_is_the_same(engine, retriever, options, count):
    by_argument = retriever.invoke("tea", **options)
    assert len(by_argument) == count
    by_field = MemEngineRetriever(engine=engine, **{"k": 4, **options})
    assert by_field.invoke("tea") == by_argument
    assert await by_field.ainvoke("tea") == by_argument
    assert await retriever.ainvoke("tea", **options) == by_argument
    assert len(retriever.invoke("tea")) == 4  # the retriever itself stays as it was


def test_empty_query_finds_nothing(retriever):
    assert retriever.invoke("") == []


# Users


def test_user_comes_from_argument_then_field_then_config_then_engine(engine, retriever):
    config = {"configurable": {"user_id": "alice"}}
    own = MemEngineRetriever(engine=engine, k=50, user_id="bob")

    def user(found):
        return {text.removeprefix("tea of ") for text in contents(found) if "tea of" in text}

    assert user(retriever.invoke("tea", k=50)) == set()
    assert user(retriever.invoke("tea", config, k=50)) == {"alice"}
    assert user(own.invoke("tea")) == {"bob"}
    assert user(own.invoke("tea", config)) == {"bob"}
    assert user(own.invoke("tea", config, user_id="alice")) == {"alice"}
    assert user(retriever.invoke("tea", config, k=50, user_id="bob")) == {"bob"}


def test_user_of_the_config_may_be_a_number(engine, retriever):
    engine.add_texts(["tea of 7"], actor=Actor("7"))
    assert "tea of 7" in contents(retriever.invoke("tea", {"configurable": {"user_id": 7}}, k=50))


async def test_user_of_the_config_counts_in_ainvoke_and_batch(retriever):
    configs = [{"configurable": {"user_id": user}} for user in ("alice", "bob")]
    found = retriever.batch(["alice bob"] * 2, configs, k=1)
    assert [contents(documents) for documents in found] == [["tea of alice"], ["tea of bob"]]
    assert await retriever.abatch(["alice bob"] * 2, configs, k=1) == found
    assert await retriever.ainvoke("alice bob", configs[1], k=1) == found[1]


def test_user_of_the_config_is_known_inside_a_chain(retriever):
    chain = RunnableLambda(lambda query: retriever.invoke(query, k=1))
    found = chain.invoke("alice bob", {"configurable": {"user_id": "alice"}})
    assert contents(found) == ["tea of alice"]


@pytest.mark.parametrize("context", [{"user_id": "alice"}, SimpleNamespace(user_id="alice")])
async def test_in_a_graph_the_user_comes_from_the_runtime_context(retriever, context):
    def look(state):
        return {"found": contents(retriever.invoke("alice bob", k=1))}

    async def alook(state):
        return {"found": contents(await retriever.ainvoke("alice bob", k=1))}

    for node in (look, alook):
        graph = StateGraph(dict, context_schema=type(context)).add_node("look", node)
        app = graph.set_entry_point("look").compile()
        assert (await app.ainvoke({}, context=context))["found"] == ["tea of alice"]
        bob = {"configurable": {"user_id": "bob"}}
        assert (await app.ainvoke({}, bob, context=context))["found"] == ["tea of bob"]


def test_a_user_without_a_name_is_refused(retriever):
    nobody = {"configurable": {"user_id": ""}}
    with pytest.raises(ScopeError, match="user_id of the run is empty"):
        retriever.invoke("tea", nobody)
    assert contents(retriever.invoke("alice", nobody, user_id="alice", k=1)) == ["tea of alice"]


def test_own_user_keeps_the_rights_of_the_engines_actor(engine, retriever):
    engine.add_texts(["secret rule"], scope="agent_config")
    assert contents(retriever.invoke("rule", k=1)) == ["secret rule"]
    assert contents(retriever.invoke("rule", k=1, user_id="local")) == ["secret rule"]
    assert contents(retriever.invoke("rule", k=1, user_id="alice")) == []


# Accesses


async def test_accesses_are_recorded_only_when_asked(engine, retriever):
    retriever.invoke("number3", k=1)
    engine.write_accesses()
    assert engine.search("number3").hits[0].receipt.access_count == 0
    retriever.invoke("number3", k=1, record_access=True)
    await retriever.ainvoke("number3", k=1, record_access=True)
    engine.write_accesses()
    assert engine.search("number3").hits[0].receipt.access_count == 2


# In LangChain


class Recorder(BaseCallbackHandler):
    """Keeps what a retriever's start reports."""

    def on_retriever_start(self, serialized, query, **kwargs):
        self.query, self.metadata, self.tags = query, kwargs["metadata"], kwargs["tags"]


def test_langsmith_parameters_reach_callbacks(engine):
    recorder = Recorder()
    retriever = MemEngineRetriever(engine=engine, tags=["memory"], metadata={"app": "x"})
    retriever.invoke("tea", {"callbacks": [recorder]})
    assert recorder.query == "tea"
    assert recorder.tags == ["memory"]
    assert recorder.metadata["ls_retriever_name"] == "memengine"
    assert recorder.metadata["ls_vector_store_provider"] == "chroma"
    assert recorder.metadata["ls_embedding_provider"] == "FakeEmbeddings"
    assert recorder.metadata["ls_embedding_model"] == "bag-of-words"
    assert recorder.metadata["app"] == "x"


def test_keyword_only_engine_names_no_embedding_model():
    with make_engine() as engine:
        params = MemEngineRetriever(engine=engine)._get_ls_params()
        assert "ls_embedding_provider" not in params


def test_as_a_tool(retriever):
    tool = create_retriever_tool(
        retriever, "memory", "Search.", response_format="content_and_artifact"
    )
    call = {"name": "memory", "args": {"query": "number3"}, "id": "1", "type": "tool_call"}
    message = tool.invoke(call)
    assert message.content.startswith("tea number3")
    assert message.artifact[0].page_content == "tea number3"


def test_in_a_chain(retriever):
    prompt = ChatPromptTemplate.from_template("{context}|{question}")
    chain = (
        {"context": retriever | contents, "question": RunnablePassthrough()}
        | prompt
        | (lambda value: value.to_string())
    )
    assert chain.invoke("number3").startswith("Human: ['tea number3'")


def test_bound_arguments_and_configured_fields(retriever):
    assert len(retriever.bind(k=2).invoke("tea")) == 2
    assert len(retriever.with_config(tags=["x"]).invoke("tea")) == 4
    flexible = retriever.configurable_fields(k=ConfigurableField(id="memory_k"))
    assert len(flexible.invoke("tea")) == 4
    assert len(flexible.invoke("tea", {"configurable": {"memory_k": 1}})) == 1


def test_batch_keeps_the_order_of_queries(retriever):
    queries = ["number3", "number5", ""]
    assert retriever.batch(queries) == [retriever.invoke(query) for query in queries]


async def test_events_are_streamed(retriever):
    events = [event async for event in retriever.astream_events("number3", version="v2")]
    assert [event["event"] for event in events] == ["on_retriever_start", "on_retriever_end"]
    assert contents(events[1]["data"]["output"])[0] == "tea number3"


def test_in_an_ensemble_with_another_retriever(engine, retriever):
    from langchain_classic.retrievers import EnsembleRetriever

    other = MemEngineRetriever(engine=engine, k=4, ranking="goclaw")
    ensemble = EnsembleRetriever(retrievers=[retriever, other], weights=[0.5, 0.5])
    assert contents(ensemble.invoke("number3"))[0] == "tea number3"


def test_engine_stays_out_of_the_repr(retriever):
    assert "engine" not in repr(retriever)
    assert isinstance(retriever.invoke("tea")[0], Document)
