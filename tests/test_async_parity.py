"""Each async method does what its sync twin does."""

import asyncio
import inspect
from dataclasses import replace

import pytest
from langchain_core.documents import Document
from langchain_core.messages import HumanMessage

from langchain_memengine.answers import SearchResult
from langchain_memengine.conversation.lineage import join_heads
from langchain_memengine.engine.memory_engine import MemoryEngine
from langchain_memengine.errors import ConfigurationError
from langchain_memengine.faces.history import MemEngineChatMessageHistory
from langchain_memengine.faces.retriever import MemEngineRetriever
from langchain_memengine.types import (
    Actor,
    Filter,
)
from tests.fakes.clock import START
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine, write

TWINS = {
    "aadd_documents": "add_documents",
    "acommit": "commit",
    "aforget": "forget",
    "aindex_file": "index_file",
    "alearn": "learn",
    "arecall": "recall",
    "aremember": "remember",
    "arestore": "restore",
    "asearch": "search",
    "async_files": "sync",
}


@pytest.fixture
def engines(tmp_path):
    """Two engines on equal folders, for what changes its store."""
    for name in ("one", "two"):
        write(tmp_path / name, "a.md", "tea")
        write(tmp_path / name, "MEMORY.md", "pinned")
    with (
        make_engine(tmp_path / "one", embeddings=FakeEmbeddings()) as one,
        make_engine(tmp_path / "two", embeddings=FakeEmbeddings()) as two,
    ):
        yield one, two


def untimed(result: SearchResult) -> SearchResult:
    return replace(result, timings={})


def test_every_async_method_has_a_twin_that_is_tested_here():
    found = {
        name
        for name, member in inspect.getmembers(MemoryEngine, inspect.iscoroutinefunction)
        if not name.startswith("_")
    }
    assert found == set(TWINS)
    assert all(callable(getattr(MemoryEngine, name)) for name in TWINS.values())


async def test_files_are_indexed_the_same(engines):
    one, two = engines
    assert await one.async_files(dry_run=True) == two.sync(dry_run=True)
    assert await one.async_files() == two.sync()
    write(one.root, "b.md", "more tea")
    write(two.root, "b.md", "more tea")
    assert await one.aindex_file("b.md") is two.index_file("b.md") is True
    assert await one.aindex_file("b.md") is two.index_file("b.md") is False
    with pytest.raises(ConfigurationError):
        await one.aindex_file("missing.md")


async def test_documents_are_added_the_same(engines):
    one, two = engines
    documents = [Document(id="d", page_content="tea", metadata={"a": 1})]
    assert await one.aadd_documents(documents) == two.add_documents(documents) == ["d"]
    assert await one.aadd_documents(documents, ids=["e"], scope="personal") == ["e"]
    two.add_documents(documents, ids=["e"], scope="personal")
    found = [
        [(hit.id, hit.scope) for hit in engine.search("tea", filter=Filter(source="doc:*")).hits]
        for engine in engines
    ]
    assert found[0] == found[1]


async def test_search_and_recall_answer_the_same(engines):
    one, _ = engines
    one.add_texts(["tea with milk", "milk"])
    one.sync()
    options = {"ranking": "goclaw", "filter": Filter(until=None), "max_tokens": 50}
    assert untimed(await one.asearch("tea", 2, **options)) == untimed(
        one.search("tea", 2, **options)
    )
    options = {"pinned_cap": 3, "thread_id": "t"}
    assert await one.arecall("tea", 2, **options) == one.recall("tea", 2, **options)
    with pytest.raises(ConfigurationError):
        await one.asearch("tea", -1)


async def test_commits_and_restored_messages_are_the_same(engines):
    one, two = engines
    options = {"learnt_from": ["m"], "checkpoint_id": "c"}
    update = await one.acommit("t", "", "fact", ["tea"], **options)
    assert update == two.commit("t", "", "fact", ["tea"], **options)
    head = join_heads("", update)
    one.archive.commit("t", head, "archive", [HumanMessage("hi", id="1")], now=START)
    assert await one.arestore("t", ["1"]) == one.restore("t", ["1"])
    assert await one.arestore("t", head=head) == one.restore("t", head=head) == []


async def test_records_are_remembered_the_same(engines):
    one, two = engines
    options = {"id": "r", "metadata": {"a": 1}, "actor": Actor("alice")}
    assert await one.aremember("tea", **options) == two.remember("tea", **options)


async def test_records_are_forgotten_the_same(engines):
    for engine in engines:
        engine.remember("tea", id="r", thread_id="t")
    one, two = engines
    assert await one.aforget(["r"]) == two.forget(["r"])
    assert await one.aforget(thread="t") == two.forget(thread="t")


async def test_learning_is_queued_the_same(engines):
    one, two = engines
    said = [HumanMessage("I like tea", id="1")]
    assert await one.alearn(said, thread_id="t") == two.learn(said, thread_id="t") == 1
    assert [job.payload for job in one.jobs()] == [job.payload for job in two.jobs()]


async def test_history_answers_the_same(engines):
    history = MemEngineChatMessageHistory(engines[0], "s")
    await history.aadd_messages([HumanMessage("hi", id="1")])
    assert await history.aget_messages() == history.messages == [HumanMessage("hi", id="1")]
    await history.aclear()
    assert history.messages == []


async def test_retriever_answers_the_same(engines):
    one, _ = engines
    one.add_texts(["tea with milk", "milk"])
    retriever = MemEngineRetriever(engine=one)
    assert await retriever.ainvoke("tea", k=2) == retriever.invoke("tea", k=2)


async def test_many_searches_run_at_once(engines):
    one, _ = engines
    one.add_texts([f"tea number{i}" for i in range(8)])
    results = await asyncio.gather(*(one.asearch(f"number{i}", 1) for i in range(8)))
    assert [result.hits[0].text for result in results] == [f"tea number{i}" for i in range(8)]


async def test_event_loop_goes_on_while_a_search_waits(engines):
    one, _ = engines
    one.sync()
    with one._sync_lock:  # the search wants to sync, and waits in its thread
        waiting = asyncio.create_task(one.asearch("tea"))
        for _ in range(10):
            await asyncio.sleep(0)
        assert not waiting.done()
    assert len((await waiting).hits) == 1
