"""Exports and imports: everything that is somebody's, and nothing else."""

import io
import json
from datetime import timedelta

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from langchain_memengine.errors import ConfigurationError, StorageFullError
from langchain_memengine.types import (
    Actor,
    Fact,
    Filter,
)
from tests.fakes.clock import START
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine, texts, write

ALICE, BOB = Actor("alice"), Actor("bob")


@pytest.fixture
def engine(tmp_path, clock):
    with make_engine(tmp_path / "one", embeddings=FakeEmbeddings(), clock=clock) as engine:
        yield engine


@pytest.fixture
def other(tmp_path):
    with make_engine(tmp_path / "two", embeddings=FakeEmbeddings()) as engine:
        yield engine


def fill(engine, actor, owner):
    who = actor.user_id
    old = engine.remember(f"{who} likes tea", id="a", metadata={"n": [1, None]}, actor=actor)
    engine.update("a", text=f"{who} likes чай", actor=actor)
    new = engine.remember(f"{who} likes milk", expires_at=START + timedelta(days=9), actor=actor)
    engine.supersede(old.id, new.id, actor=actor)
    engine.add_texts([f"{who} added\n\n" + "long words " * 900], ids=["x/y"], actor=actor)
    said = [HumanMessage(f"{who} said", id="1"), AIMessage("ok", id="2")]
    update = engine.archive.commit("t" + who, "", "archive", said, owner=owner, now=START)
    engine.commit("t" + who, update.partition("<")[0], "fact", [f"{who} learnt"], actor=actor)
    engine.promote_facts("task", [Fact("chat", f"{who} pinned")], owner=owner)


def exported(engine, **options):
    target = io.StringIO()
    engine.export(target, **options)
    return target.getvalue()


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


def test_an_export_holds_everything_of_the_actor_and_comes_back_whole(engine, other, tmp_path):
    for actor, owner in ((ALICE, "alice"), (BOB, "bob"), (engine.actor, "")):
        fill(engine, actor, owner)
    path = tmp_path / "export.jsonl"
    counted = engine.export(path, actor=ALICE)
    # What a conversation of several users keeps is its own, and no user's.
    assert counted.exported == {"records": 4, "texts": 6, "messages": 2, "notes": 4}
    text = path.read_text(encoding="utf-8")
    assert "bob" not in text
    assert "чай" in text

    report = other.import_(path, actor=ALICE)
    # What everyone reads needs an admin to be written.
    assert report.imported == {"records": 2, "texts": 4, "messages": 2, "notes": 2}
    assert set(report.skipped) == {
        "records: not yours to write",
        "texts: not yours to write",
        "notes: not yours to write",
    }
    assert other.import_(path, actor=ALICE).imported == {}
    assert other.get("a", actor=ALICE) == engine.get("a", actor=ALICE)
    assert other.revisions("a", actor=ALICE) == engine.revisions("a", actor=ALICE)
    assert other.list_records(actor=ALICE, scope="personal") == engine.list_records(
        actor=ALICE, scope="personal"
    )
    assert other.restore("talice", actor=ALICE) == engine.restore("talice", actor=ALICE)
    assert other.read_memory("alice") == engine.read_memory("alice")
    for query in ("alice likes", "alice said", "alice learnt", "alice added", "long words"):
        found = []
        for one in (engine, other):
            hits = one.search(query, 200, filter=Filter(scope="personal"), actor=ALICE).hits
            # A file's chunks are named after its workspace, and a cosine's floor is the store's.
            found.append(sorted(hit.id for hit in hits if hit.bm25 and not hit.path))
        assert found[0], query
        assert found[0] == found[1], query
    other.undo(other.revisions("a", actor=ALICE)[-1].id, actor=ALICE)

    again = other.import_(io.StringIO(exported(engine)))
    assert again.imported == {"records": 2, "texts": 2, "notes": 2}
    assert again.skipped == {}


def test_what_is_here_and_differs_stays(engine, other):
    for one in (engine, other):
        one.remember(f"tea at {one.root.name}", id="a")
        one.add_texts([f"text of {one.root.name}"], ids=["b"])
        one.promote_facts("task", [Fact("chat", f"fact of {one.root.name}")])
    report = other.import_(io.StringIO(exported(engine)))
    assert report.imported == {}
    assert report.skipped == {
        "records: the record here differs": 1,
        "texts: the text here differs": 1,
        "notes: the note here differs": 1,
    }
    assert other.get("a").text == "tea at two"


def test_nobody_imports_in_the_name_of_others(engine, other):
    fill(engine, ALICE, "alice")
    text = exported(engine, actor=ALICE)
    report = other.import_(io.StringIO(text), actor=BOB)
    assert report.imported == {}
    assert all(reason.endswith("not yours to write") for reason in report.skipped)
    forged = lines(text)
    for line in forged:
        if line["kind"] == "texts":
            for one in line["chunks"]:
                one["provenance"]["owner"] = "bob"
                one["chunk"]["hash"] = "0" * 64
        if line["kind"] == "records":
            line["record"] |= {"owner": "bob", "origin": "tool", "trust": "trusted"}
    report = other.import_(io.StringIO("\n".join(map(json.dumps, forged))), actor=BOB)
    assert report.imported == {}
    assert other.audit().records == ()
    assert other.stats().chunks == 0


def test_notes_that_are_set_aside_or_no_text_are_left_out_and_counted(engine):
    write(engine.root, "MEMORY.md", "Tea is at four")
    write(engine.root, "daily/2026-05-19.md", b"\0\xff")
    write(engine.root, "daily/2026-05-20.md", "We had milk")
    engine.sync()
    (hit,) = engine.search("tea", filter=Filter(path="MEMORY.md")).hits
    engine.quarantine(source=hit.source)
    report = engine.export(target := io.StringIO())
    assert report.left_out == {"quarantined notes": 1, "unreadable files": 1}
    assert [one["name"] for one in lines(target.getvalue())[1:]] == ["daily/2026-05-20.md"]


def test_damaged_lines_are_counted_and_the_rest_comes_in(engine, other):
    engine.remember("tea at four", id="a")
    engine.remember("tea at five", id="b")
    head, first, second = exported(engine).splitlines()
    damaged = [
        head, first[: len(first) // 2], "", "[]", '{"kind": "?"}', '{"kind": "records"}',
        '{"kind": "texts", "source": 3, "chunks": []}',
        '{"kind": "notes", "name": "../x", "text": "x"}',
        '{"kind": "messages", "thread_id": "t", "commits": [], "heads": [], "messages": [{}]}',
        first.replace("2026-05-19", "2026-99-19"), second.replace("tea at", "te\\ud800a at"),
    ]  # fmt: skip
    report = other.import_(io.StringIO("\n".join(damaged)))
    assert report.imported == {"records": 1}
    assert sum(report.skipped.values()) == 8
    assert not (other.root.parent / "x").exists()


@pytest.mark.parametrize(
    "name",
    ["memengine.toml", ".memengine/x.md", "users/alice/../bob/x.md", "/x.md", "x.md/", "a\\b.md"],
)
def test_an_import_writes_notes_only(other, name):
    head = '{"kind": "memengine export", "version": 1}\n'
    line = json.dumps({"kind": "notes", "name": name, "text": "x"})
    before = sorted(other.root.rglob("*"))
    assert other.import_(io.StringIO(head + line)).skipped == {"notes: damaged": 1}
    assert sorted(other.root.rglob("*")) == before


def record_line(engine):
    engine.remember("first", id="a", actor=ALICE)
    engine.update("a", text="second", actor=ALICE)
    return lines(exported(engine, actor=ALICE))


@pytest.mark.parametrize(
    "forge",
    [
        lambda record: record["record"].update(scope="everywhere"),
        lambda record: record["record"].update(scope="global"),
        lambda record: record["record"].update(origin="nobody"),
        lambda record: record["record"].update(trust="absolute"),
        lambda record: record["record"].update(id="a"),
        lambda record: record["record"].update(text=7),
        lambda record: record["record"].update(text=" "),
        lambda record: record["record"].update(metadata=[]),
        lambda record: record["record"].update(commit_id=["c"]),
        lambda record: record["record"].update(source="x" * 1025),
        lambda record: record["record"].update(created_at=None),
        lambda record: record["record"].update(created_at="2026-05-19T12:00:00"),
        lambda record: record["record"].update(expires_at="9999-12-31T23:59:59-10:00"),
        lambda record: record["revisions"][0].update(at=None),
        lambda record: record["revisions"][0].update(kind="nonsense"),
        lambda record: record["revisions"][1]["before"]["record"].update(thread_id="x" * 256),
        lambda record: record["revisions"][0].update(target_id="b" * 32),
        lambda record: record["revisions"][1]["before"]["record"].update(id="b" * 32),
        lambda record: record["revisions"][1]["before"]["record"].update(owner="bob"),
        lambda record: record["superseded_by"].append(
            {"old_id": "x", "new_id": "y", "commit_id": None, "at": START.isoformat()}
        ),
    ],
)
def test_a_forged_record_comes_not_in(engine, other, forge):
    head, line = record_line(engine)
    forge(line)
    report = other.import_(io.StringIO(f"{json.dumps(head)}\n{json.dumps(line)}"), actor=ALICE)
    assert report.imported == {}
    assert set(report.skipped) <= {"records: damaged", "records: not yours to write"}
    assert other.audit().records == ()


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ({"tokens": "many"}, {}),
        ({"tokens": 2**31}, {}),
        ({"end_line": -1}, {}),
        ({"ord": None}, {}),
        ({"heading": ["x"]}, {}),
        ({}, {"commit_id": ["x"]}),
        ({}, {"thread_id": "x" * 256}),
        ({}, {"event_at": "9999-12-31T23:59:59-10:00"}),
        ({}, {"origin": "nobody"}),
    ],
)
def test_a_text_that_no_table_takes_is_left_out_and_the_rest_comes_in(engine, other, part, value):
    engine.add_texts(["first", "second"], ids=["a", "b"])
    head, first, second = lines(exported(engine))
    first["chunks"][0]["chunk"] |= part
    first["chunks"][0]["provenance"] |= value
    report = other.import_(io.StringIO("\n".join(map(json.dumps, (head, first, second)))))
    assert (report.imported, report.skipped) == ({"texts": 1}, {"texts: damaged": 1})
    assert texts(other.search("first second")) == ["second"]


def test_a_conversation_is_taken_in_once_and_only_as_its_own_tables_hold_it(engine, other):
    said = [HumanMessage("tea at four", id="1")]
    engine.archive.commit("t", "", "archive", said, owner=engine.actor.user_id, now=START)
    head, texts_line, line = lines(exported(engine))[:3]
    assert (texts_line["kind"], line["kind"]) == ("texts", "messages")

    def taken_in(changed):
        text = "\n".join(map(json.dumps, (head, changed)))
        report = other.import_(io.StringIO(text))
        return report.imported, report.skipped

    late = {**line["commits"][0], "created_at": "9999-12-31T23:59:59-10:00"}
    assert taken_in({**line, "commits": [late]}) == ({}, {"messages: damaged": 1})
    long = {**line["messages"][0], "message_id": "x" * 256}
    assert taken_in({**line, "messages": [long]}) == ({}, {"messages: damaged": 1})
    assert other.restore("t") == []
    assert taken_in({**line, "commits": line["commits"] * 2}) == ({"messages": 1}, {})
    assert other.restore("t") == said


def test_a_conversation_with_a_long_id_comes_back(engine, other):
    said, thread = [HumanMessage("tea at four", id="1")], "ы" * 255
    engine.archive.commit(thread, "", "archive", said, owner=engine.actor.user_id, now=START)
    report = other.import_(io.StringIO(exported(engine)))
    assert report.skipped == {}
    assert other.restore(thread) == said
    assert texts(other.search("tea", thread_id=thread)) == ["tea at four"]


def test_any_line_end_within_words_comes_back(engine, other):
    text = "one\u2028two\x85three\x0bfour\rfive\nsix"
    record = engine.remember(text, actor=ALICE)
    other.import_(io.StringIO(exported(engine, actor=ALICE), newline=""), actor=ALICE)
    assert other.get(record.id, actor=ALICE) == record


@pytest.mark.parametrize("text", ["", "no json", "{}", "[1]", "\n"])
def test_what_is_no_export_is_said(engine, text):
    with pytest.raises(ConfigurationError, match="no export"):
        engine.import_(io.StringIO(text))


def test_other_versions_and_missing_files_are_said(engine, tmp_path):
    with pytest.raises(ConfigurationError, match="version 99"):
        engine.import_(io.StringIO('{"kind": "memengine export", "version": 99}'))
    with pytest.raises(ConfigurationError, match="cannot be read"):
        engine.import_(tmp_path / "missing")
    with pytest.raises(ConfigurationError, match="unknown"):
        engine.export(io.StringIO(), format="xml")


def test_mem0_memories_become_unverified_records_of_the_actor(engine):
    export = {"results": [{"id": "1", "memory": "Ann likes tea", "created_at": "2024-05-01"}]}
    text = json.dumps(export)
    assert engine.import_(io.StringIO(text), actor=ALICE).imported == {"records": 1}
    assert engine.import_(io.StringIO(text), actor=ALICE).unchanged == {"records": 1}
    (record,) = engine.list_records(scope="personal", actor=ALICE)
    assert (record.origin, record.trust, record.source) == ("app", "unverified", "mem0:1")
    (hit,) = engine.search("Ann likes tea", actor=ALICE).hits
    assert hit.event_at.isoformat() == "2024-05-01T00:00:00+00:00"


def test_mem0_memories_whose_long_ids_begin_alike_are_all_taken_in(engine):
    ids = ["x" * 80 + end for end in "ab"]
    text = json.dumps([{"id": one, "memory": f"tea for {one[-1]}"} for one in ids])
    assert engine.import_(io.StringIO(text)).imported == {"records": 2}
    assert engine.import_(io.StringIO(text)).unchanged == {"records": 2}
    assert {record.text for record in engine.list_records()} == {"tea for a", "tea for b"}


def test_what_cannot_be_stored_is_skipped_and_a_failing_database_is_not(engine, monkeypatch):
    deep: list[object] = []
    for _ in range(60):
        deep = [deep]
    found = [{"memory": "tea", "metadata": {"x": deep}}, {"memory": "milk"}]
    report = engine.import_(io.StringIO(json.dumps(found)))
    assert (report.imported, report.skipped) == ({"records": 1}, {"records: cannot be stored": 1})

    def full(*_, **__):
        raise StorageFullError("The disk is full.")

    monkeypatch.setattr(engine._indexer, "put_with", full)
    with pytest.raises(StorageFullError):
        engine.import_(io.StringIO(json.dumps([{"memory": "rum"}])))


def test_memories_of_several_users_go_to_nobody_else(engine):
    memories = [{"id": u, "memory": f"{u} likes tea", "user_id": u} for u in ("alice", "bob")]
    report = engine.import_(io.StringIO(json.dumps(memories)), actor=ALICE)
    assert (report.imported, report.skipped) == ({"records": 1}, {"of another user": 1})
    assert [r.text for r in engine.list_records(actor=ALICE)] == ["alice likes tea"]


def test_chatgpt_messages_become_texts_of_their_conversation(engine):
    said = (("a", None, "user", "My tea"), ("b", "a", "assistant", "Your tea"))
    mapping = {
        node: {
            "parent": parent,
            "message": {"author": {"role": role}, "content": {"parts": [text]}},
        }
        for node, parent, role, text in said
    }
    export = json.dumps([{"id": "c", "title": "T", "current_node": "b", "mapping": mapping}])
    assert engine.import_(io.StringIO(export), actor=ALICE).imported == {"texts": 2}
    assert engine.import_(io.StringIO(export), actor=ALICE).unchanged == {"texts": 2}
    found = {hit.text: hit for hit in engine.search("tea", actor=ALICE).hits}
    assert found["My tea"].receipt.trust == "trusted"
    assert found["Your tea"].receipt.origin == "assistant"
    assert engine.forget(thread="c", actor=ALICE).removed["chunks"] == 2


def test_markdown_is_for_people(engine):
    fill(engine, ALICE, "alice")
    text = exported(engine, format="markdown", actor=ALICE)
    assert text.startswith("# Memory of alice\n")
    assert "alice likes чай" in text
    assert "**human**: alice said" in text
    assert "*user, 2026-05-19*" in text
    assert texts(engine.search("alice likes", 1, actor=ALICE))[0] in text
