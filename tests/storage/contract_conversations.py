"""What every database must do for conversations: commits and heads, messages, sessions."""

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import insert

from langchain_memengine.errors import UnknownCommitError
from langchain_memengine.storage import (
    commits,
    conversation_schema,
    kept,
    messages,
    schema,
    sessions,
)
from langchain_memengine.storage.change_counters import Counters
from langchain_memengine.storage.messages import ArchivedMessage, StoredMessage
from langchain_memengine.storage.sessions import Session, SessionRecall
from langchain_memengine.types import Commit
from tests.storage.contract import MANY, NOW, counters

LATER = NOW + timedelta(days=1)


def made(name, *parents, thread="t", at=NOW):
    return Commit(name, thread, parents, "fact", at)


def record(database, commit, checkpoint="1", *, now=NOW):
    with database.write() as tx:
        return commits.record(tx, commit, checkpoint_id=checkpoint, now=now)


def heads(database, thread="t"):
    with database.read() as tx:
        return commits.newest_heads(tx, [thread]).get(thread)


class CommitContract:
    """Commits, and which of them are the heads of their threads."""

    def test_a_commit_is_stored_once_with_the_time_it_was_first_made(self, database):
        assert record(database, made("a")) is True
        assert record(database, made("a", at=LATER)) is False
        assert record(database, made("b", "a")) is True
        with database.read() as tx:
            assert commits.by_id(tx, ["a", "b", "x"]) == {"a": made("a"), "b": made("b", "a")}
            assert commits.parents_by_thread(tx, ["t"]) == {"t": {"a": (), "b": ("a",)}}
            assert commits.parents_by_thread(tx, ["u"]) == {}
            assert commits.branch(tx, "t", ["b"]) == {"a", "b"}
            assert commits.branch(tx, "u", ["b"]) == set()

    def test_commits_of_one_checkpoint_are_heads_side_by_side(self, database):
        record(database, made("a"), "1")
        record(database, made("b", "a"), "2")
        record(database, made("c", "a"), "2")
        assert heads(database) == ("b", "c")
        record(database, made("d", "b", "c"), "3")
        assert heads(database) == ("d",)

    def test_a_commit_that_follows_another_of_its_checkpoint_takes_its_place(self, database):
        record(database, made("a"), "1")
        record(database, made("b"), "1")
        record(database, made("c", "a"), "1")
        assert heads(database) == ("b", "c")

    @pytest.mark.parametrize("checkpoint", ["2", None])
    def test_a_commit_of_another_checkpoint_or_none_replaces_the_heads(self, database, checkpoint):
        record(database, made("a"), "1")
        record(database, made("b"), checkpoint)
        record(database, made("c"), None)
        assert heads(database) == ("c",)

    def test_a_commit_that_is_there_becomes_a_head_again(self, database):
        record(database, made("a"), "1")
        record(database, made("b", "a"), "2")
        record(database, made("c", "a"), "3")
        record(database, made("b", "a"), "4")
        assert heads(database) == ("b",)

    def test_the_same_step_again_changes_nothing(self, database):
        record(database, made("a"), "1")
        record(database, made("b", "a"), "2")
        record(database, made("c", "a"), "2")
        before = counters(database)
        record(database, made("b", "a"), "2", now=LATER)
        assert heads(database) == ("b", "c")
        assert counters(database) == before

    def test_each_moved_head_bumps_the_counters(self, database):
        assert counters(database).commits == 0
        record(database, made("a"), "1")
        record(database, made("b"), "1")
        record(database, made("x", thread="u"), "1")
        assert counters(database) == Counters(changes=3, accesses=0, commits=3)
        with database.read() as tx:
            assert sorted(commits.moved_threads(tx, after_seq=0)) == ["t", "u"]
            assert commits.moved_threads(tx, after_seq=2) == ["u"]

    def test_heads_of_a_time(self, database):
        record(database, made("a"), "1")
        record(database, made("x", thread="u"), "1", now=LATER)
        record(database, made("b", "a"), "2", now=LATER)
        with database.read() as tx:
            assert commits.heads_at(tx, NOW - timedelta(seconds=1)) == {}
            assert commits.heads_at(tx, NOW) == {"t": ("a",)}
            assert commits.heads_at(tx, LATER) == {"t": ("b",), "u": ("x",)}
            assert commits.newest_heads(tx, None) == {"t": ("b",), "u": ("x",)}

    @pytest.mark.parametrize("parent", ["nonsense", "x"])
    def test_an_unknown_or_foreign_parent_is_refused_and_nothing_stored(self, database, parent):
        record(database, made("x", thread="u"))
        with pytest.raises(UnknownCommitError) as caught:
            record(database, made("a", parent))
        assert (caught.value.commit_id, caught.value.thread_id) == (parent, "t")
        assert heads(database) is None
        with database.read() as tx:
            assert commits.by_id(tx, ["a"]) == {}

    def test_origin_of_a_head(self, database):
        record(database, made("a"))
        record(database, made("b", at=LATER))
        record(database, made("x", thread="u"))
        with database.read() as tx:
            assert commits.origin(tx, "a+b", None) == ("t", LATER)
            assert commits.origin(tx, "a", "t") == ("t", NOW)
            for head, thread in (("a+x", None), ("a", "u"), ("nonsense", None)):
                with pytest.raises(UnknownCommitError):
                    commits.origin(tx, head, thread)

    def test_a_long_line_of_commits_is_read_in_one_go(self, database):
        line = [
            {
                "store_id": database.store_id,
                "id": str(number),
                "thread_id": "t",
                "parents": str(number - 1) if number else "",
                "kind": "fact",
                "created_at": 0,
            }
            for number in range(MANY)
        ]
        with database.write() as tx:
            tx.connection.execute(insert(schema.commits), line)
        with database.read() as tx:
            assert len(commits.branch(tx, "t", [str(MANY - 1)])) == MANY
            assert len(commits.by_id(tx, [str(number) for number in range(MANY)])) == MANY


def said(message_id, body="hi", *, owner="", thread="t"):
    return StoredMessage(owner, thread, message_id, body)


class MessageContract:
    """Messages in the archive and in histories."""

    def archive(self, database, commit, *stored):
        with database.write() as tx:
            messages.archive(tx, commit, stored, now=NOW)

    def add(self, database, *stored):
        with database.write() as tx:
            messages.add_to_history(tx, stored, now=NOW)

    def history(self, database, owner="", thread="t"):
        with database.read() as tx:
            return messages.history(tx, owner, thread)

    def rows(self, database):
        with database.read() as tx:
            return kept.count(tx, conversation_schema.messages)

    def test_a_message_is_stored_once_and_archived_by_each_branch(self, database):
        self.archive(database, "c1", said("2"), said("1"), said("2"))
        self.archive(database, "c1", said("2"))
        self.archive(database, "c2", said("1"), said("1", "edited"))
        assert self.rows(database) == 3
        with database.read() as tx:
            assert messages.archived(tx, "t", [""]) == [
                ArchivedMessage("c1", "2", "hi"),
                ArchivedMessage("c1", "1", "hi"),
                ArchivedMessage("c2", "1", "hi"),
                ArchivedMessage("c2", "1", "edited"),
            ]
            assert messages.archiving_commits(tx, [said("1").key, said("9").key]) == {
                said("1").key: {"c1", "c2"}
            }

    def test_what_commits_archived_is_read_in_its_order(self, database):
        many = [StoredMessage("ann", "t", str(number), "{}") for number in range(MANY)]
        with database.write() as tx:
            messages.archive(tx, "a", many[::-1], now=NOW)
            messages.archive(tx, "b", many[:1], now=NOW)
            found = messages.of_commits(tx, ["a", "b", "x"])
        assert found == {
            "a": [(message.key, "{}") for message in many[::-1]],
            "b": [(many[0].key, "{}")],
        }

    def test_the_archive_is_read_by_thread_and_owner(self, database):
        self.archive(database, "c1", said("1", owner="ann"))
        self.archive(database, "c2", said("1", thread="u"))
        with database.read() as tx:
            assert messages.archived(tx, "t", ["", "bob"]) == []
            assert len(messages.archived(tx, "t", ["", "ann"])) == 1
            assert len(messages.archived(tx, "u", [""])) == 1

    def test_a_history_keeps_its_order_and_the_first_message_of_an_id(self, database):
        self.add(database, said("b", "1"), said("a", "2"), said("b", "other"))
        self.add(database, said("a", "other"), said("c", "3"))
        self.add(database)
        assert self.history(database) == ["1", "2", "3"]
        assert self.rows(database) == 3

    def test_a_history_of_another_owner_or_thread_is_another(self, database):
        self.add(database, said("1", "mine", owner="ann"))
        self.add(database, said("1", "theirs", owner="bob"))
        assert self.history(database, "ann") == ["mine"]
        assert self.history(database, "ann", "u") == self.history(database) == []

    def test_clearing_leaves_other_histories_and_the_archive(self, database):
        self.add(database, said("1"), said("2"))
        self.add(database, said("1", thread="u"))
        self.archive(database, "c", said("2"))
        with database.write() as tx:
            messages.clear_history(tx, "", "t")
        assert self.history(database) == []
        assert self.history(database, "", "u") == ["hi"]
        assert self.rows(database) == 2
        with database.read() as tx:
            assert len(messages.archived(tx, "t", [""])) == 1

    def test_long_histories(self, database):
        self.add(database, *(said(str(number), str(number)) for number in range(MANY)))
        assert self.history(database) == [str(number) for number in range(MANY)]
        with database.write() as tx:
            messages.clear_history(tx, "", "t")
        assert self.rows(database) == 0

    def test_keys_tell_all_parts_apart(self):
        one = said("1")
        others = [
            replace(one, owner="x"),
            replace(one, thread_id="x"),
            replace(one, message_id="x"),
            replace(one, body="x"),
        ]
        assert len({message.key for message in [one, *others]}) == 5


class SessionContract:
    """Sessions and what they were shown."""

    def test_a_session_and_its_recalls_come_back(self, database):
        session = Session("s", "ann", "t", ("doc:*",), NOW)
        recall = SessionRecall("чай", None, ({"id": "c", "path": "a.md"},), NOW)
        with database.write() as tx:
            sessions.create(tx, session)
            sessions.add_recall(tx, "s", recall)
            sessions.add_recall(tx, "s", replace(recall, head="h", at=LATER))
            sessions.add_recall(tx, "other", recall)
        with database.read() as tx:
            assert sessions.find(tx, "s", "ann") == session
            assert sessions.find(tx, "s", "bob") is None
            assert sessions.find(tx, "x", "ann") is None
            assert sessions.recalls(tx, "s") == [recall, replace(recall, head="h", at=LATER)]

    def test_the_latest_sessions_of_an_owner_come_newest_first(self, database):
        older, newer, twin = (
            Session(name, "ann", "t", (), at)
            for name, at in (("x", NOW), ("a", LATER), ("b", LATER))
        )
        with database.write() as tx:
            for session in (newer, older, twin, Session("s", "bob", "t", (), LATER)):
                sessions.create(tx, session)
        with database.read() as tx:
            assert sessions.latest(tx, "ann", limit=9) == [twin, newer, older]
            assert sessions.latest(tx, "ann", limit=1) == [twin]
            assert sessions.latest(tx, "nobody", limit=9) == []

    def test_a_session_ends_once(self, database):
        with database.write() as tx:
            sessions.create(tx, Session("s", "ann", "t", (), NOW))
            sessions.archive(tx, "s", now=NOW)
            sessions.archive(tx, "s", now=LATER)
        with database.read() as tx:
            assert sessions.find(tx, "s", "ann").archived_at == NOW
