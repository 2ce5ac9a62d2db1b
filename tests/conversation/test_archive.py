"""The archive gives messages back exactly, finds them, and never stores anything twice."""

from datetime import timedelta

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from langchain_memengine.conversation.lineage import join_heads
from langchain_memengine.errors import NotFoundError, StorageError, UnknownCommitError
from langchain_memengine.retrieval.visibility import thread_owner
from langchain_memengine.storage import messages as message_rows
from langchain_memengine.storage.column_types import MAX_MYSQL_KEY_CHARS
from langchain_memengine.types import (
    LOCAL_ADMIN,
    Actor,
    Filter,
)
from langchain_memengine.workspace.layout import slug
from tests.fakes.clock import START
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine, texts

CALL = {"name": "weather", "args": {"город": "Рим"}, "id": "c1", "type": "tool_call"}
TURN = [
    HumanMessage("Какая погода в Риме?", id="m/1", name="Anna"),
    AIMessage("", id="m2", tool_calls=[CALL]),
    ToolMessage("sunny", id="m3", tool_call_id="c1", artifact={"celsius": 21.5}),
    AIMessage([{"type": "text", "text": "Sunny."}, {"type": "image", "base64": "aGk="}], id="m4"),
]


@pytest.fixture
def engine(tmp_path):
    with make_engine(tmp_path) as engine:
        yield engine


def archive(engine, messages, head="", *, thread="chat 1", **options):
    update = engine.archive.commit(
        thread, head, "archive", messages, **{"now": START, "checkpoint_id": "x", **options}
    )
    return join_heads(head, update)


def counts(engine):
    with engine._database.read() as tx:
        return {
            table: tx.connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one()  # noqa: S608  # our names
            for table in ("chunks", "commits", "messages", "archived_messages", "head_changes")
        }


def test_messages_come_back_exactly_and_in_order(engine):
    head = archive(engine, TURN[:2])
    head = archive(engine, TURN[2:], head)
    assert engine.restore("chat 1") == TURN
    assert engine.restore("chat 1", ["m4", "m/1"]) == [TURN[0], TURN[3]]
    assert engine.restore("chat 1", []) == []
    assert engine.restore("another") == []


def test_the_same_again_adds_nothing_and_gives_the_same_update(engine):
    head = archive(engine, TURN)
    before = counts(engine)
    assert before == {
        "chunks": 3, "commits": 1, "messages": 4, "archived_messages": 4, "head_changes": 1,
    }  # fmt: skip
    assert archive(engine, TURN, now=START + timedelta(days=9), checkpoint_id="later") == head
    assert counts(engine) == before
    (file,) = engine.root.glob("archive/*/*.md")
    assert file.read_text(encoding="utf-8").count("# Archived") == 1


def test_messages_are_found_with_where_they_are_from(engine):
    head = archive(engine, TURN)
    (hit,) = engine.search("погода", thread_id="chat 1").hits
    assert hit.text == "Какая погода в Риме?"
    assert hit.source == f"message:chat%201/m%2F1#{head}"
    assert hit.metadata == {"role": "human", "message_id": "m/1", "speaker": "Anna"}
    assert (hit.event_at, hit.scope, hit.owner) == (START, "personal", thread_owner("chat 1"))
    inside = {"thread_id": "chat 1", "filter": Filter(source="message:chat%201/*")}
    found = engine.search("sunny", **inside).hits
    assert {(h.receipt.origin, h.receipt.trust) for h in found} == {
        ("tool", "untrusted"),
        ("assistant", "unverified"),
    }


def test_a_replay_writes_nothing_down_that_was_forgotten(engine):
    head = archive(engine, TURN)
    engine.forget(source=f"message:chat%201/m3#{head}")
    (file,) = engine.root.glob("archive/*/*.md")
    file.unlink()
    archive(engine, TURN)
    lines = file.read_text(encoding="utf-8").splitlines()
    assert [one in lines for one in ("Какая погода в Риме?", "sunny", "Sunny.")] == [
        True,
        False,
        True,
    ]
    engine.forget(thread="chat 1")
    archive(engine, TURN)
    assert list(engine.root.glob("archive/*/*.md")) == []


def test_a_message_that_begins_like_front_matter_is_found(engine):
    archive(engine, [HumanMessage("---\nwifi: hunter2\n---", id="m")])
    (hit,) = engine.search("hunter2", thread_id="chat 1").hits
    assert hit.text == "---\nwifi: hunter2\n---"


def test_archived_messages_are_embedded_like_any_text(tmp_path):
    with make_engine(tmp_path, embeddings=FakeEmbeddings()) as engine:
        archive(engine, TURN)
        assert engine.stats().embeddings == engine.stats().chunks == 3


def test_two_branches_archive_the_same_message_and_an_edited_one(engine):
    root = archive(engine, TURN[:1])
    edited = HumanMessage("Favourite tea?", id="m5")
    one = archive(engine, [TURN[1], TURN[2], HumanMessage("Favourite coffee?", id="m5")], root)
    two = archive(engine, [TURN[2], edited], root, checkpoint_id="y")
    assert counts(engine)["messages"] == 5
    ids = {
        head: [message.id for message in engine.restore("chat 1", head=head)]
        for head in (root, one, two)
    }
    assert ids == {root: ["m/1"], one: ["m/1", "m2", "m3", "m5"], two: ["m/1", "m3", "m5"]}
    assert engine.restore("chat 1", ["m5"]) == [edited]  # the newest branch
    for head, drink in ((one, "coffee"), (two, "tea")):
        (found,) = engine.search("favourite", thread_id="chat 1", head=head).hits
        assert found.text == f"Favourite {drink}?"
        assert texts(engine.search("sunny", thread_id="chat 1", head=head)) == ["sunny"]


def test_a_message_archived_again_on_its_branch_is_one_hit(engine):
    head = archive(engine, TURN[2:3])
    head = archive(engine, TURN[2:], head)
    found = texts(engine.search("sunny", thread_id="chat 1", head=head))
    assert sorted(found) == ["Sunny.", "sunny"]
    assert engine.restore("chat 1", head=head) == TURN[2:]


def test_an_owner_s_archive_is_theirs_alone(engine):
    ann = Actor("Ann")
    head = archive(engine, TURN, owner="Ann", summary="Anna asked about Rome.")
    assert engine.search("sunny Rome").hits == ()
    assert engine.search("sunny Rome", thread_id="chat 1").hits == ()
    found = engine.search("Anna asked about Rome", 1, actor=ann).hits[0]
    assert (found.text, found.owner) == ("Anna asked about Rome.", slug("Ann"))
    assert found.receipt.origin == "llm_extract"
    assert engine.restore("chat 1", actor=ann) == TURN
    assert engine.restore("chat 1", head=head) == []
    with pytest.raises(NotFoundError, match="'m2'"):
        engine.restore("chat 1", ["m2"], actor=Actor("bob"))
    (file,) = engine.root.glob(f"users/{slug('Ann')}/archive/*/*.md")
    assert "## Summary\n\nAnna asked about Rome." in file.read_text(encoding="utf-8")


def test_two_users_archives_of_one_step_are_two_commits(engine):
    assert archive(engine, TURN, owner="ann") != archive(engine, TURN, owner="bob")


@pytest.mark.parametrize("actor", [Actor("ann"), LOCAL_ADMIN, Actor(thread_owner("chat 1"))])
def test_without_an_owner_it_is_the_threads_and_no_ones_else(engine, actor):
    head = archive(engine, TURN, summary="Ann is in Rome.")
    for outside in ({}, {"thread_id": "chat 2"}, {"as_of": head}, {"as_of": START}):
        assert engine.search("sunny Rome", actor=actor, **outside).hits == ()
        assert engine.recall("sunny Rome", actor=actor, **outside).hits == ()
    found = engine.search("sunny Rome", actor=actor, thread_id="chat 1")
    assert sorted(texts(found)) == ["Ann is in Rome.", "Sunny.", "sunny"]
    with pytest.raises(NotFoundError):
        engine.explain("sunny Rome", found.hits[0].id, actor=actor)
    assert engine.explain("sunny Rome", found.hits[0].id, actor=actor, thread_id="chat 1").found
    assert engine.restore("chat 1", actor=actor) == TURN
    assert not list(engine.root.glob("users/*/archive"))


def test_what_was_archived_alone_stays_theirs_when_others_join_the_thread(engine):
    head = archive(engine, TURN[:1], owner="ann")
    archive(engine, TURN[1:], head)
    assert engine.restore("chat 1", actor=Actor("ann")) == TURN
    assert engine.restore("chat 1", actor=Actor("bob")) == TURN[1:]
    assert engine.search("погода", actor=Actor("bob"), thread_id="chat 1").hits == ()


def test_the_transcript_is_markdown_for_people_and_no_file_of_the_index(engine):
    head = archive(engine, [SystemMessage("Be kind.", id="s"), *TURN])
    (file,) = engine.root.glob(f"archive/{slug('chat 1')}/*.md")
    assert file.name == f"2026-05-19-120000-{head[:12]}.md"
    assert file.read_text(encoding="utf-8") == (
        "# Archived 2026-05-19 12:00 UTC\n\n"
        f"Memory commit `{head}`, 5 messages.\n\n"
        "## System\n\nBe kind.\n\n"
        "## Person Anna\n\nКакая погода в Риме?\n\n"
        '## Assistant\n\n*calls* `weather` `{"город": "Рим"}`\n\n'
        "## Tool\n\nsunny\n\n"
        "## Assistant\n\nSunny.\n\n*[image]*\n"
    )
    report = engine.sync()
    assert (report.indexed, report.unchanged) == (0, 0)


def test_rows_chunks_and_commit_are_stored_together_or_not_at_all(engine, monkeypatch):
    def broken(*_, **__):
        raise StorageError("power cut")

    with monkeypatch.context() as patched:
        patched.setattr(message_rows, "archive", broken)
        with pytest.raises(StorageError, match="power cut"):
            archive(engine, TURN)
    assert set(counts(engine).values()) == {0}
    assert list(engine.root.glob("archive/*/*.md")) == []


def test_a_transcript_that_a_crash_prevented_is_written_by_the_next_try(engine, monkeypatch):
    def broken(*_):
        raise StorageError("power cut")

    with monkeypatch.context() as patched:
        patched.setattr(type(engine._notes), "update", broken)
        with pytest.raises(StorageError, match="power cut"):
            archive(engine, TURN)
    assert engine.restore("chat 1") == TURN  # rows come first
    before = counts(engine)
    archive(engine, TURN)
    assert counts(engine) == before
    assert len(list(engine.root.glob("archive/*/*.md"))) == 1


def test_a_store_without_a_folder_writes_no_transcript():
    with make_engine() as engine:
        archive(engine, TURN)
        assert engine.restore("chat 1") == TURN
        assert engine.list_files() == []


def test_an_embedder_that_is_down_costs_no_message(tmp_path):
    embeddings = FakeEmbeddings(fail_with=[ConnectionError("down")] * 9)
    with make_engine(tmp_path, embeddings=embeddings) as engine:
        archive(engine, TURN)
        assert engine.stats().embeddings == 0
        assert engine.restore("chat 1") == TURN
        assert len(engine.search("sunny", thread_id="chat 1").hits) == 2


def test_no_messages_are_no_commit_and_missing_ids_are_made(engine):
    assert archive(engine, [], "") == ""
    assert counts(engine)["commits"] == 0
    archive(engine, [HumanMessage("yes"), HumanMessage("yes")])
    assert [message.content for message in engine.restore("chat 1")] == ["yes", "yes"]


def test_an_unknown_head_is_refused_before_anything_is_stored(engine):
    with pytest.raises(UnknownCommitError):
        archive(engine, TURN, "nonsense")
    with pytest.raises(UnknownCommitError):
        engine.restore("chat 1", head="nonsense")
    assert set(counts(engine).values()) == {0}
    embeddings = FakeEmbeddings()
    with make_engine(embeddings=embeddings) as other, pytest.raises(UnknownCommitError):
        archive(other, TURN, "nonsense")
    assert embeddings.calls == []  # nobody pays for what is refused


def test_what_is_missing_in_the_archive_is_named(engine):
    archive(engine, TURN)
    with pytest.raises(NotFoundError, match="no message 'm9'"):
        engine.restore("chat 1", ["m9", "m2"])


def test_messages_that_share_an_id_or_have_none_are_all_kept(engine):
    said = [
        HumanMessage("zebras eat hay", id="1"),
        HumanMessage("lions eat meat", id="1"),
        HumanMessage("bears eat honey", id=""),
        HumanMessage("foxes eat grapes", id=""),
        HumanMessage("owls eat mice"),
    ]
    head = archive(engine, said)
    assert archive(engine, said) == head
    assert [message.text for message in engine.restore("chat 1")] == [one.text for one in said]
    for one in said:
        assert texts(engine.search(one.text.split()[0], thread_id="chat 1")) == [one.text]


def test_a_message_whose_id_is_summary_does_not_give_way_to_the_summary(engine):
    archive(engine, [HumanMessage("zebras eat hay", id="summary")], summary="About animals.")
    assert texts(engine.search("zebras", thread_id="chat 1")) == ["zebras eat hay"]
    assert texts(engine.search("animals", thread_id="chat 1")) == ["About animals."]


def test_a_conversation_of_any_letters_has_names_that_the_shortest_keys_hold(engine):
    thread = "字" * 255
    archive(engine, [HumanMessage("zebras", id="ы" * 255)], thread=thread, summary="Zebras.")
    found = engine.search("zebras", thread_id=thread).hits
    assert len(found) == 2
    assert all(len(hit.source) <= MAX_MYSQL_KEY_CHARS for hit in found)
