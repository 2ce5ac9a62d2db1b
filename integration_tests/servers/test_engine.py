"""An engine on a database server: every chapter once, by two engines that share the database."""

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from integration_tests.sharing import two_engines
from langchain_memengine.conversation.lineage import join_heads
from langchain_memengine.errors import StorageError
from langchain_memengine.faces.store import MemEngineStore
from langchain_memengine.storage import jobs
from langchain_memengine.storage.job_values import NewJob
from langchain_memengine.types import Actor
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine, texts, write

ANN = Actor("ann")


@pytest.fixture
def settings(url, store_id):
    """Where the store is."""
    return {"database_url": url, "graph_url": url, "store_id": store_id}


@pytest.fixture
def engines(settings, tmp_path):
    with two_engines(tmp_path / "memory", settings) as engines:
        yield engines


def test_files_and_texts_are_found_by_both(engines):
    one, two = engines
    two.add_texts(["Coffee is for guests 🙂"], ids=["coffee"])
    for engine in (one, two):
        assert texts(engine.search("green tea"))[0].endswith("green tea from Uji.")
        assert texts(engine.search("coffee", 1)) == ["Coffee is for guests 🙂"]
    write(one.root, "MEMORY.md", "# Tea\n\nWe drink black tea from Assam.")
    one.sync()
    assert texts(two.search("tea", 1))[0].endswith("black tea from Assam.")
    assert one.stats().chunks == two.stats().chunks == 2


def test_a_path_that_is_too_long_is_one_files_problem(engines):
    one, _ = engines
    limit = one._database._dialect.KEY_LIMIT
    room = limit.chars - len("file:/") - len(one._sources[0].workspace_id) - len(".md")
    longest = "/".join(["f" * 99] * 15)[:room]
    write(one.root, f"{longest}.md", "Oolong is just short enough.")
    write(one.root, f"{longest}2.md", "Assam is too long.")
    write(one.root, f"{'🙂' * 60}.md", "Sencha is wide.")
    report = one.sync()
    assert (report.indexed, report.failed) == (2, ())
    assert [problem.path for problem in report.skipped] == [f"{longest}2.md"]
    assert f"{limit.chars + 1:,} characters" in report.skipped[0].reason
    assert texts(one.search("oolong", 1)) == ["Oolong is just short enough."]


def test_records_are_changed_undone_and_forgotten(engines):
    one, two = engines
    record = one.remember("Ann likes oolong", actor=ANN)
    two.update(record.id, text="Ann likes sencha", actor=ANN)
    assert texts(one.search("Ann likes", 1, actor=ANN)) == ["Ann likes sencha"]
    changed = one.revisions(record.id, actor=ANN)[-1]
    two.undo(changed.id, actor=ANN)
    assert one.get(record.id, actor=ANN).text == "Ann likes oolong"
    report = two.forget([record.id], actor=ANN)
    assert report.removed["records"] == 1
    assert any("database server" in place for place in report.out_of_reach)
    assert "Ann likes oolong" not in texts(one.search("Ann likes", actor=ANN))


def test_conversations_are_archived_committed_and_restored(engines):
    one, two = engines
    said = [HumanMessage("Where is the teapot?", id="1"), AIMessage("On the shelf.", id="2")]
    one.history("s", actor=ANN).add(said)
    kept = two.history("s", actor=ANN).read()
    assert [message.content for message in kept] == [message.content for message in said]
    head = join_heads("", one.commit("t", "", "fact", ["The teapot is blue"], actor=ANN))
    assert texts(two.search("teapot blue", 1, thread_id="t", head=head, actor=ANN)) == [
        "The teapot is blue"
    ]
    later = join_heads(head, two.commit("t", head, "fact", ["The teapot broke"], actor=ANN))
    seen = texts(one.search("teapot", thread_id="t", head=head, actor=ANN))
    assert "The teapot broke" not in seen
    seen = texts(one.search("teapot", thread_id="t", head=later, actor=ANN))
    assert "The teapot broke" in seen


def test_the_graph_the_experiences_and_the_jobs_are_shared(engines):
    one, two = engines
    one.graph.add_triples([("Ann", "knows", "Bob"), ("Bob", "drinks", "Tea")])
    found = two.graph.neighbours("Ann", hops=2)
    assert sorted(entity.name for entity in found.entities) == ["Ann", "Bob", "Tea"]
    learnt = one.experiences.record("brew tea", {"steps": ["boil"]})
    assert [e.id for e in two.experiences.find_similar("brew tea")] == [learnt.id]
    with one._database.write() as tx:
        jobs.put(tx, NewJob("auto_learn_error", {"x": 1}), now=one.now())
    assert two.run_jobs().left == 0
    assert {job.kind: job.state for job in one.jobs()}["auto_learn_error"] == "done"


def test_a_reader_reads_what_is_there(engines, settings):
    one, _ = engines
    one.remember("Ann likes oolong", actor=ANN)
    with make_engine(read_only=True, embeddings=FakeEmbeddings(), **settings) as reader:
        assert texts(reader.search("oolong", 1, actor=ANN)) == ["Ann likes oolong"]
        with pytest.raises(StorageError, match="read_only"):
            reader.remember("more", actor=ANN)


def test_doctor_says_what_it_cannot_check_and_backup_what_to_use(engines, url, tmp_path):
    one, _ = engines
    report = one.doctor()
    assert report.ok
    assert "the server's to check" in report["database"].found
    tool = "pg_dump" if url.startswith("postgresql") else "mariadb-dump"
    with pytest.raises(StorageError, match=tool):
        one.backup(tmp_path / "copy.sqlite")
    assert not (tmp_path / "copy.sqlite").exists()


def test_items_of_a_store_are_shared(engines):
    one, two = (MemEngineStore(engine, fields=["$"]) for engine in engines)
    one.put(("prefs", "ann"), "tea", {"text": "oolong in the morning", "n": 1})
    assert two.get(("prefs", "ann"), "tea").value == {"text": "oolong in the morning", "n": 1}
    assert [i.key for i in two.search(("prefs",), query="oolong", filter={"n": 1})] == ["tea"]
    two.delete(("prefs", "ann"), "tea")
    assert one.search(("prefs",)) == []
