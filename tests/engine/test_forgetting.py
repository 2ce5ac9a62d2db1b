"""Forgetting: nothing is left anywhere, and nothing else goes."""

import io
import shutil
from datetime import timedelta

import numpy as np
import pytest
from langchain_core.messages import AIMessage, HumanMessage

from langchain_memengine.engine.forgetting import BEYOND
from langchain_memengine.errors import (
    ConfigurationError,
    NotFoundError,
    ScopeError,
    StorageError,
)
from langchain_memengine.faces.store import MemEngineStore
from langchain_memengine.retrieval import snapshot, snapshot_keeping
from langchain_memengine.storage import job_rows, jobs
from langchain_memengine.storage.chunk_values import SHARED_PARTITION
from langchain_memengine.storage.job_values import NewJob
from langchain_memengine.types import (
    Actor,
    Fact,
    Filter,
)
from tests.fakes.clock import START
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine, texts, write
from tests.fakes.facts import contradicting, fact, learner

ALICE, BOB, ADMIN = Actor("alice"), Actor("bob"), Actor("root", is_admin=True)
WORD = "zebraquux"
SECRET = f"The {WORD} opens the garden door"


def files_with(root, word=WORD):
    """Return every file below a folder that holds a word, in whatever case or encoding."""
    found = []
    for path in sorted(root.rglob("*")):
        if path.is_file():
            content = path.read_bytes().lower()
            if any(word.encode(code) in content for code in ("utf-8", "utf-16-le")):
                found.append(path.relative_to(root).as_posix())
    return found


def remember_everywhere(engine, actor, owner):
    """Leave the same words wherever the engine keeps any, for one owner."""
    record = engine.remember("old words", actor=actor)
    record = engine.update(record.id, text=SECRET, metadata={"about": WORD}, actor=actor)
    engine.append_daily("talk", f"- tea\n- {SECRET}\n- milk", owner=owner)
    engine.promote_facts(
        "task", [Fact("chat", SECRET), Fact("chat", "Tea is at four")], owner=owner
    )
    messages = [
        HumanMessage(f"Remember: {SECRET}.\n\nIt is {WORD}.", id="1"),
        AIMessage("I will.", id="2"),
    ]
    update = engine.archive.commit(
        "t", "", "archive", messages, summary=f"They said: {SECRET}", owner=owner, now=START
    )
    head = update.partition("<")[0]
    engine.commit("t", head, "fact", [f"So {SECRET}"], actor=actor)
    engine.history("s", actor=actor).add([HumanMessage(SECRET, id="h")])
    sessions = engine.sessions(actor)
    sessions.search(sessions.create("t"), SECRET)
    with engine._database.write() as tx:
        payload = {"text": f"{SECRET} ж"}
        jobs.put(tx, NewJob("fact_extract", payload, owner=record.owner), now=START)
    return record


def engine_of(root, vector_search="exact"):
    return make_engine(root, embeddings=FakeEmbeddings(), vector_search=vector_search)


@pytest.fixture
def engine(tmp_path):
    with engine_of(tmp_path / "root") as engine:
        yield engine


@pytest.mark.parametrize(("actor", "vectors"), [(ALICE, "exact"), (ADMIN, "chroma")])
def test_nothing_is_left_anywhere(tmp_path, actor, vectors, monkeypatch):
    with engine_of(tmp_path / "root", vectors) as engine:
        forget_everything(engine, actor, monkeypatch)
    assert files_with(engine.root) == []


def forget_everything(engine, actor, monkeypatch):
    monkeypatch.setattr("langchain_memengine.retrieval.snapshot_keeping.MIN_CHUNKS", 1)
    owner = "" if actor.is_admin else actor.user_id
    record = remember_everywhere(engine, actor, owner)
    engine.add_texts([f"tea {i}" for i in range(600)], actor=actor)
    assert WORD in texts(engine.search(SECRET, 20, actor=actor))[0]
    engine.wait_for_chroma()
    engine.record_access(engine.search(SECRET, 20, actor=actor).hits)
    engine.write_accesses()
    engine._save_partitions()
    before = files_with(engine.root)
    assert any(name.startswith(".memengine/index/") for name in before)
    assert any("archive/" in name for name in before)
    assert any(name.endswith("MEMORY.md") for name in before)

    report = engine.forget([record.id], actor=actor)

    assert files_with(engine.root) == []
    assert report.removed["records"] == 1
    assert report.removed["revisions"] == 2
    assert report.removed["messages"] == 2
    assert report.removed["notes"] == 3
    assert report.removed["jobs"] == report.removed["recorded queries"] == 1
    assert report.removed["embeddings"] >= 4
    assert report.out_of_reach[-len(BEYOND) :] == BEYOND
    assert report.out_of_reach == BEYOND
    assert not any(WORD in text for text in texts(engine.search(SECRET, 50, actor=actor)))
    assert engine.history("s", actor=actor).read() == []
    assert [m.id for m in engine.restore("t", actor=actor)] == ["2"]
    found = engine.search("tea 7", 1, actor=actor)
    engine.wait_for_chroma()
    assert engine.search("tea 7", 1, actor=actor).hits[0].id == found.hits[0].id
    assert not files_with(engine.root / ".memengine")
    folder = engine.root / ".memengine" / "chroma"
    vector = FakeEmbeddings().embed_query(SECRET)
    stored = np.asarray(vector, "<f4").tobytes()
    assert not any(stored in p.read_bytes() for p in folder.rglob("*") if p.is_file())


def test_what_is_beside_the_words_stays(engine):
    record = remember_everywhere(engine, ALICE, "alice")
    engine.forget([record.id], actor=ALICE)
    assert engine.read_memory("alice").count("Tea is at four") == 1
    (daily,) = (engine.root / "users" / "alice" / "daily").iterdir()
    assert daily.read_text() == "## 12:00 — talk\n\n- tea\n- milk\n"
    (transcript,) = (engine.root / "users" / "alice" / "archive" / "t").iterdir()
    assert "I will." in transcript.read_text()
    assert "## Person" not in transcript.read_text()
    assert texts(engine.search("tea milk", 1, actor=ALICE)) == ["## 12:00 — talk\n\n- tea\n- milk"]


@pytest.mark.parametrize("actor", [ALICE, ADMIN])
def test_what_a_log_shows_of_a_forgotten_conversation_goes_and_the_rest_stays(engine, actor):
    said = HumanMessage(f"Remember: {SECRET}.", id="1")
    update = engine.archive.commit(
        "t", "", "flush", [said], summary=f"- {SECRET}", owner="alice", now=START
    )
    engine.append_daily("flush", "- tea at four", owner="alice", record="another")
    engine.append_daily("flush", f"- {SECRET}", owner="alice", record=update.partition("<")[0])
    engine.forget(thread="t", actor=actor)
    assert files_with(engine.root) == []
    assert "tea at four" in engine.read_daily(START.date(), "alice")


def test_what_a_log_shows_of_a_forgotten_record_goes_in_whatever_words(engine):
    record = engine.remember("Where the key is")
    engine.append_daily("talk", f"- {SECRET}", record=record.id)
    engine.forget([record.id])
    assert files_with(engine.root) == []


def test_conversations_whose_long_ids_begin_alike_are_forgotten_one_by_one(engine):
    one, other = "t" * 300 + "1", "t" * 300 + "2"
    engine.add_texts([f"{SECRET} once", "tea at four"], [{"thread_id": one}, {"thread_id": other}])
    assert engine.forget(thread=one).removed["chunks"] == 1
    assert texts(engine.search("tea key garden", 9)) == ["tea at four"]


@pytest.mark.parametrize("vector_search", ["exact", "chroma"])
def test_indexes_that_cannot_be_removed_are_told(tmp_path, monkeypatch, vector_search):
    monkeypatch.setattr(snapshot_keeping, "MIN_CHUNKS", 1)
    with make_engine(tmp_path, embeddings=FakeEmbeddings(), vector_search="chroma") as engine:
        record = engine.remember(SECRET)
        engine.search(SECRET)
        engine.wait_for_chroma()
    words = snapshot.folder_of(tmp_path / ".memengine/index", SHARED_PARTITION)
    vectors = tmp_path / ".memengine/chroma"
    assert words.exists()
    with make_engine(tmp_path, embeddings=FakeEmbeddings(), vector_search=vector_search) as engine:
        with monkeypatch.context() as patch:
            patch.setattr(shutil, "rmtree", lambda *_, **__: None)
            report = engine.forget([record.id])
        assert report.out_of_reach == (
            f"Words and vectors in {words}, which could not be removed: remove it.",
            f"Vectors in {vectors}, which could not be removed: remove it.",
            *BEYOND,
        )
        assert engine.forget([engine.remember(SECRET).id]).out_of_reach == BEYOND
        assert not words.exists()
        assert not vectors.exists()


def test_vectors_on_a_server_that_this_engine_does_not_ask_are_told(tmp_path):
    with make_engine(
        tmp_path,
        embeddings=FakeEmbeddings(),
        vector_search="exact",
        chroma_url="http://127.0.0.1:9",
    ) as engine:
        record = engine.remember(SECRET)
        beyond = engine.forget([record.id]).out_of_reach
    assert beyond[0] == "Vectors on the Chroma server, until an engine that uses it searches."


def test_an_undo_of_what_was_forgotten_says_so(engine):
    record = engine.remember(SECRET, actor=ALICE)
    (added,) = engine.revisions(record.id, actor=ALICE)
    engine.forget([record.id], actor=ALICE)
    (left,) = engine.revisions(record.id, actor=ALICE)
    assert (left.kind, left.before.record, left.after.record) == ("forgotten", None, None)
    with pytest.raises(NotFoundError, match="was forgotten"):
        engine.undo(added.id, actor=ALICE)
    with pytest.raises(NotFoundError):
        engine.get(record.id, actor=ALICE)


def test_a_job_loses_its_payload_and_is_cancelled(engine):
    record = remember_everywhere(engine, ALICE, "alice")
    engine.forget([record.id], actor=ALICE)
    with engine._database.read() as tx:
        (job,) = job_rows.latest(tx, limit=5)
    assert (job.state, job.payload) == ("cancelled", {})


def test_another_users_equal_words_stay(engine):
    mine, theirs = (remember_everywhere(engine, Actor(who), who) for who in ("alice", "bob"))
    report = engine.forget([mine.id], actor=ALICE)
    assert report.out_of_reach == BEYOND
    assert not any("alice" in name for name in files_with(engine.root))
    assert engine.get(theirs.id, actor=BOB) == theirs
    assert SECRET in engine.read_memory("bob")
    assert len(engine.history("s", actor=BOB).read()) == 1
    assert len(engine.restore("t", actor=BOB)) in {0, 2}  # of the newest branch, whoever made it
    assert any(WORD in text for text in texts(engine.search(SECRET, 20, actor=BOB)))


# By source, conversation and owner


def test_a_conversation_is_forgotten_with_all_it_left(engine):
    remember_everywhere(engine, ALICE, "alice")
    said = engine.remember("They spoke of plums", thread_id="t", actor=ALICE)
    kept = engine.remember("They spoke of pears", thread_id="u", actor=ALICE)
    report = engine.forget(thread="t", actor=ALICE)
    assert report.removed["messages"] == 2
    assert report.removed["sessions"] == report.removed["records"] == 1
    assert not (engine.root / "users" / "alice" / "archive").exists()
    assert engine.search("", actor=ALICE).hits == ()
    found = engine.search("They spoke", 50, filter=Filter(source="record:*"), actor=ALICE)
    assert kept.text in texts(found)
    assert said.text not in texts(found)
    assert engine.search(WORD, filter=Filter(source="message:*"), actor=ALICE).hits == ()


def test_an_owner_is_forgotten_by_themselves_or_an_admin(engine):
    for who in ("alice", "bob"):
        remember_everywhere(engine, Actor(who), who)
        engine.add_texts([f"{who} added {WORD}"], actor=Actor(who))
    write(engine.root, "users/alice/own.md", f"alice wrote {WORD}")
    write(engine.root, "users/alice/own.txt", f"alice wrote {WORD}")
    engine.sync()
    with pytest.raises(ScopeError, match="needs an admin"):
        engine.forget(owner="alice", actor=BOB)
    report = engine.forget(owner="alice", actor=ADMIN)
    assert not (engine.root / "users" / "alice").exists()
    assert report.removed["records"] == report.removed["sessions"] == 1
    assert {count.owner for count in engine.audit().records} == {"bob"}
    assert engine.search(WORD, actor=ALICE).hits == ()
    engine.forget(owner="bob", actor=BOB)
    assert files_with(engine.root) == []


def test_what_agents_learnt_for_an_owner_goes_with_them(engine):
    for user in ("alice", "bob"):
        engine.experiences.record(f"open the {WORD}", {"steps": [WORD]}, user=user)
    report = engine.forget(owner="alice", actor=ADMIN)
    assert report.removed == {"experiences": 1}
    assert engine.experiences.find_similar(WORD, user="alice") == []
    assert len(engine.experiences.find_similar(WORD, user="bob")) == 1


def test_items_of_stores_are_told_of_and_stay(engine):
    store = MemEngineStore(engine)
    store.put(("memories", "alice"), "1", {"text": "likes tea"})
    store.put(("users", "bob", "alice"), "2", {"text": SECRET})
    store.put(("memories", "alice2"), "3", {"text": SECRET})
    report = engine.forget(owner="alice", actor=ALICE)
    assert report.out_of_reach == (
        "Items of a LangGraph store in namespaces named 'alice': 2. Delete them with the store.",
        *BEYOND,
    )
    record = engine.remember(SECRET)
    report = engine.forget([record.id])
    assert report.out_of_reach == (
        "Items of a LangGraph store that hold the same words: 2. Delete them with the store.",
        *BEYOND,
    )
    record = engine.remember(SECRET, actor=ALICE)
    assert engine.forget([record.id], actor=ALICE).out_of_reach == BEYOND
    assert len(store.search(())) == 3


def said(text, one):
    return HumanMessage(text, id=one, additional_kwargs={"user_id": "alice"})


@pytest.mark.parametrize(
    ("what", "actor"),
    [
        ({"owner": "alice"}, ALICE),
        ({"owner": "alice"}, ADMIN),
        ({"thread": "t"}, ALICE),
        ({"thread": "t"}, ADMIN),
        ({"source": "message:t/*"}, ALICE),
        ({"source": "message:t/*"}, ADMIN),
    ],
)
def test_nothing_is_left_of_what_was_learnt(tmp_path, what, actor):
    cities = ("Zebraquux", "Quuxstadt")
    lived = {
        city: [fact(f"I live in {city}", f"User lives in {city}", "lives in", exclusive=True)]
        for city in cities
    }
    model = learner(lived, contradicting)
    root = tmp_path / "root"
    with make_engine(root, embeddings=FakeEmbeddings(), chat_model=model) as engine:
        head = ""
        for number, city in enumerate(cities):
            words = [said(f"I live in {city}", str(number))]
            update = engine.archive.commit("t", head, "archive", words, owner="alice", now=START)
            head = update.partition("<")[0]
            engine.learn(words, thread_id="t", head=head, actor=ALICE)
            assert engine.run_jobs().dead == 0
        engine.learn([said("I live in Zebraquux, still", "9")], thread_id="t", head=head)
        (now,) = engine.facts(actor=ALICE)
        assert now.text == "User lives in Quuxstadt"
        assert len(engine.history_of("user", actor=ALICE)) == 2  # the first one is superseded
        engine.quarantine([now.id])

        report = engine.forget(actor=actor, **what)

        assert report.removed["records"] == 2
        assert engine.facts(actor=ALICE) == engine.quarantined() == []
        dump = "\n".join(engine._database._engine.raw_connection().driver_connection.iterdump())
        assert [word for word in cities if word.casefold() in dump.casefold()] == []
    for city in cities:
        assert files_with(root, city.casefold()) == []


def test_the_graph_forgets_with_its_only_evidence(engine):
    (known,) = engine.add_texts([f"Anna has the {WORD}"], ids=["t"])
    chunk = engine.search(WORD).hits[0]
    engine.graph.add_triples([("Anna", "has", WORD)], evidence=chunk.id)
    assert engine.graph.neighbours("Anna").relations
    assert any(name.endswith("kg.sqlite-wal") for name in files_with(engine.root))
    engine.forget([known])
    assert files_with(engine.root) == []
    assert engine.graph.counts().relations == 0


def test_all_that_was_learnt_from_one_source_is_forgotten(engine):
    for number in (1, 2):
        engine.remember(
            f"{SECRET} {number}", origin="tool", scope="agent_notes", source=f"web/{number}"
        )
    engine.remember("They spoke of pears", source="mail/1")
    report = engine.forget(source="web/*")
    assert report.removed["records"] == 2
    assert [r.text for r in engine.list_records()] == ["They spoke of pears"]
    assert files_with(engine.root) == []


def test_files_and_added_texts_are_sources(engine):
    write(engine.root, "a.md", f"# Note\n\n{SECRET}")
    engine.sync()
    engine.add_texts([f"{WORD} added"], ids=["x"])
    engine.forget(source="file:*")
    assert not (engine.root / "a.md").exists()
    assert texts(engine.search(WORD, 1)) == [f"{WORD} added"]
    engine.forget(["x"])
    assert files_with(engine.root) == []
    assert engine.indexed_files() == []


def test_a_file_outside_the_root_and_a_persons_own_file_are_named(tmp_path):
    write(tmp_path, "team/a.md", SECRET)
    write(tmp_path, "root/own.md", f"My own note: {SECRET}")
    sources = {"team": tmp_path / "team"}
    with make_engine(tmp_path / "root", sources=sources) as engine:
        engine.sync()
        record = engine.remember(SECRET)
        report = engine.forget([record.id])
        named = report.out_of_reach[: -len(BEYOND)]
        assert any(line.startswith("own.md holds") for line in named)
        assert any("a.md holds the same words" in line for line in named)
        report = engine.forget(source="file:team*")
        assert any("outside the root" in line for line in report.out_of_reach)
        assert (tmp_path / "team" / "a.md").exists()


def test_a_short_text_is_looked_for_only_where_it_stands_alone(engine):
    record = engine.remember("tea")
    engine.append_daily("talk", "- tea\n- We had tea with milk")
    engine.history("s").add([HumanMessage("tea", id="1"), HumanMessage("No tea?", id="2")])
    engine.forget([record.id])
    (daily,) = (engine.root / "daily").iterdir()
    assert daily.read_text() == "## 12:00 — talk\n\n- We had tea with milk\n"
    assert [m.id for m in engine.history("s").read()] == ["2"]


def test_a_short_message_goes_alone(engine):
    for thread in ("t", "u"):
        messages = [HumanMessage("ok", id="1"), HumanMessage(f"Said in {thread}", id="2")]
        engine.archive.commit(thread, "", "archive", messages, now=START)
    engine.append_daily("talk", "ok")
    engine.forget(source="message:t/1*")
    assert [m.id for m in engine.restore("t")] == ["2"]
    assert [m.id for m in engine.restore("u")] == ["1", "2"]
    transcripts = {p.parent.name: p.read_text() for p in engine.root.glob("archive/*/*.md")}
    assert "\nok\n" not in transcripts["t"]
    assert "\nok\n" in transcripts["u"]
    assert (engine.root / "daily" / "2026-05-19.md").read_text().count("ok") == 1
    engine.forget(thread="t")
    assert [m.id for m in engine.restore("u")] == ["1", "2"]
    assert {p.parent.name for p in engine.root.glob("archive/*/*.md")} == {"u"}


def test_more_than_fits_into_one_statement_goes_at_once(engine):
    ids = engine.add_texts([f"tea {i}" for i in range(600)])
    assert engine.forget(ids[:-1]).removed["chunks"] == 599
    assert engine.stats().chunks == engine.stats().embeddings == 1


def test_a_reader_forgets_and_imports_nothing(engine):
    engine.append_daily("talk", SECRET)
    engine.remember(SECRET, id="x")
    with make_engine(engine.root, read_only=True) as reader:
        for call in (
            lambda: reader.forget(["x"]),
            lambda: reader.vacuum(archive_older_than=timedelta(0)),
            lambda: reader.import_(io.StringIO("[]")),
        ):
            with pytest.raises(StorageError, match="read_only=True"):
                call()
    assert SECRET in (engine.root / "daily" / "2026-05-19.md").read_text()


# Who may forget


def test_nobody_forgets_what_is_not_theirs(engine):
    shared = engine.remember("Tea at four")
    mine = engine.remember(SECRET, actor=ALICE, thread_id="t", source="chat/1")
    with pytest.raises(ScopeError):
        engine.forget([shared.id], actor=ALICE)
    with pytest.raises(NotFoundError):
        engine.forget([mine.id], actor=BOB)
    for options in ({"thread": "t"}, {"source": "chat/1"}, {"source": "record:*"}, {"source": "*"}):
        assert engine.forget(actor=BOB, **options).removed == {}
    assert engine.get(mine.id, actor=ALICE) == mine
    assert engine.get(shared.id) == shared


def test_metadata_cannot_lead_to_the_messages_of_others(engine):
    for who in ("alice", "bob"):
        message = HumanMessage(f"{who} said so", id="1")
        engine.archive.commit("t", "", "archive", [message], owner=who, now=START)
    metadata = {"message_id": "1", "thread_id": "t"}
    engine.add_texts(["a trap of alice"], [metadata], ids=["x"], actor=ALICE)
    record = engine.remember("another trap", metadata=metadata, thread_id="t", actor=ALICE)
    engine.forget(["x", record.id], actor=ALICE)
    found = texts(engine.search("said so", actor=BOB, filter=Filter(source="message:*")))
    assert found in ([], ["bob said so"])
    with engine._database.read() as tx:
        kept = tx.connection.exec_driver_sql("SELECT owner FROM messages ORDER BY 1").all()
    assert kept == [("alice",), ("bob",)]


@pytest.mark.parametrize("options", [{}, {"ids": []}, {"source": ""}, {"ids": ["a"], "owner": "b"}])
def test_what_to_forget_must_be_said(engine, options):
    with pytest.raises(ConfigurationError, match="what to forget"):
        engine.forget(**options)


def test_ids_are_a_list_and_must_be_known(engine):
    record = engine.remember(SECRET)
    with pytest.raises(ConfigurationError, match="single text"):
        engine.forget("abc")
    with pytest.raises(NotFoundError, match=r"added text 'unknown' to forget\. Its id is what"):
        engine.forget([record.id, "unknown"])
    assert engine.get(record.id) == record


# Hooks and other processes


def test_hooks_see_what_goes_and_count(engine):
    record, seen = engine.remember(SECRET), []

    def hook(doomed):
        seen.extend(chunk.source for chunk in doomed.chunks)
        return {"relations": 3}

    engine.forget_hooks = [hook]
    assert engine.forget([record.id]).removed["relations"] == 3
    assert seen == [f"record:{record.id}"]


def test_an_engine_that_maintains_the_index_writes_no_forgotten_word_later(tmp_path, monkeypatch):
    monkeypatch.setattr("langchain_memengine.retrieval.snapshot_keeping.MIN_CHUNKS", 1)
    root = tmp_path / "root"
    with make_engine(root) as holder:
        record = holder.remember(SECRET)
        holder.add_texts([f"tea {i}" for i in range(50)])
        assert holder.search(WORD).hits
        with make_engine(root) as other:
            other.forget([record.id])
    assert files_with(root) == []
    with make_engine(root) as engine:
        assert len(engine.search("tea", 60).hits) == 50


def test_a_store_without_a_folder_forgets_its_notes_too():
    with make_engine() as engine:
        record = engine.remember(SECRET)
        engine.append_daily("talk", SECRET)
        engine.promote_facts("task", [Fact("chat", SECRET)])
        engine.sync()
        assert engine.forget([record.id]).removed["notes"] == 2
        assert engine.read_memory() == ""
        assert engine.search(WORD).hits == ()


def test_rows_of_a_large_store_leave_nothing_in_the_pages(tmp_path):
    root = tmp_path / "root"
    with make_engine(root) as engine:
        new = [f"{WORD if i % 7 == 0 else 'tea'} {i} " + "x" * (i * 37 % 900) for i in range(900)]
        for ending in ("", " again"):
            engine.add_texts([text + ending for text in new], ids=[str(i) for i in range(900)])
        engine.forget([str(i) for i in range(0, 900, 7)])
        assert engine.stats().chunks == 900 - len(range(0, 900, 7))
        assert files_with(root) == []


@pytest.mark.parametrize("said", [f"{WORD} --> garden door", f"<!-- {WORD} opens it -->"])
def test_words_that_could_end_a_comment_go(engine, said):
    record = engine.remember(said)
    engine.promote_facts("task", [Fact("chat", said), Fact("chat", "Tea is at four")])
    engine.append_daily("talk", f"- {said}\n- tea")
    engine.forget([record.id])
    assert files_with(engine.root) == []
    assert "Tea is at four" in engine.read_memory()


def test_what_is_no_text_is_not_said_to_hold_the_words(tmp_path):
    write(tmp_path, "blob.md", b"\x00\x01\xff")
    with make_engine(tmp_path) as engine:
        engine.add_texts(["Ada likes tea, not coffee."], ids=["t"])
        told = engine.forget(["t"]).out_of_reach
    assert told[0] == "blob.md is no text: look yourself what it holds."
    assert not any("holds the same words" in line for line in told)
